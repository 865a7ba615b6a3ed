import workerThreads from 'node:worker_threads';
import { fromNative } from '../addon/error.ts';
import type { Encoder, Timings } from '../backend.ts';
import { aborted, refuseAborted } from '../check.ts';
import type { Values } from '../dtype.ts';

/**
 * Keeps `memory` on this thread while native code has its address. External memory, ours and that of other addons, is
 * untransferable from the start, and must not be marked again: from Node 24.15 on a mark sets a detach key, and whoever
 * detaches such memory without the key (Node itself at exit) ends the process. Node 20 has no such key and can't tell.
 */
function keepOnThisThread(memory: ArrayBufferLike): void {
  const { markAsUntransferable, isMarkedAsUntransferable }: Threads = workerThreads;
  if (!isMarkedAsUntransferable?.(memory)) markAsUntransferable(memory);
}

interface Threads {
  markAsUntransferable(memory: ArrayBufferLike): void;
  /** Since Node 21. */
  isMarkedAsUntransferable?(memory: ArrayBufferLike): boolean;
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
  for (const operand of reachable) keepOnThisThread(operand.buffer);
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
