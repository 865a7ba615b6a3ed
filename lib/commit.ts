import { markAsUntransferable } from 'node:worker_threads';
import type { Encoder, Timings } from './backend.ts';
import { CovariumError } from './covarium-error.ts';
import { describe } from './describe.ts';
import type { Values } from './dtype.ts';
import { fromNative } from './native-error.ts';

/** Throws `ERR_ABORTED`, its cause the signal's reason, where `signal` is aborted; `ERR_INVALID_ARGUMENT` where it is no signal. */
export function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal === undefined) return;
  if (!(signal instanceof AbortSignal))
    throw new CovariumError('ERR_INVALID_ARGUMENT', `Signal is not an AbortSignal (${describe(signal)}).`);
  if (signal.aborted) throw aborted(signal);
}

/**
 * Commits without blocking; an abort of `signal` stops the commit soon and rejects with `ERR_ABORTED`. `reachable`,
 * the operands that the caller can reach, can no longer be transferred to another thread: the device has their addresses.
 */
export async function commit(
  encoder: Encoder,
  reachable: readonly Values[],
  signal?: AbortSignal | undefined,
): Promise<Timings> {
  refuseAborted(signal);
  for (const operand of reachable) markAsUntransferable(operand.buffer);
  const cancel = () => encoder.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    return await encoder.commit();
  } catch (error) {
    const failure = fromNative(error);
    throw failure.code === 'ERR_ABORTED' && signal?.aborted ? aborted(signal) : failure;
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}

/** Commits and runs before it returns. */
export function commitSync(encoder: Encoder): Timings {
  try {
    return encoder.commitSync();
  } catch (error) {
    throw fromNative(error);
  }
}

function aborted({ reason }: AbortSignal): CovariumError {
  const why = describe(reason instanceof Error ? reason.message : reason);
  return new CovariumError('ERR_ABORTED', `Signal aborts the work (${why}).`, { cause: reason });
}
