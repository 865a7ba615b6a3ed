import { type AbortOptions, checkOptions, refuseAborted, withoutSignal } from '../check.ts';
import { holding } from './hold.ts';
import { run, runAll, type Task, type Tasks } from './task.ts';

/** Runs what `work` makes of all options but the signal, which stops it. */
export async function runWith<Options extends object, Result>(
  options: Options & AbortOptions,
  work: (rest: Options) => Task<Result> | Tasks<Result>,
): Promise<Result> {
  const signal = signalOf(options);
  return holding((isClosed) => {
    const made = work(withoutSignal(options));
    return 'next' in made ? runAll(made, signal, isClosed) : run(made, signal);
  });
}

/** Runs `work`, whose call has no other options than a signal. */
export async function runAlone<Result>(
  options: AbortOptions,
  work: () => Task<Result> | Tasks<Result>,
): Promise<Result> {
  checkOptions(options, ['signal']);
  return runWith(options, work);
}

/** The signal among options of any kind. Throws `ERR_INVALID_ARGUMENT`, and `ERR_ABORTED` if it has aborted. */
export function signalOf(options: AbortOptions): AbortSignal | undefined {
  // What is not an object is refused by the work, which knows its options.
  const signal = typeof options === 'object' && options !== null ? options.signal : undefined;
  refuseAborted(signal);
  return signal;
}
