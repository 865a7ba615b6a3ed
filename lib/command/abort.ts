import { type AbortOptions, checkOptions, listingSignal, refuseAborted } from '../check.ts';
import { run, runAll, type Task, type Tasks } from './task.ts';

/** Runs what `work` makes of all options but the signal, which stops it. */
export async function runWith<Options extends object, Result>(
  options: Options & AbortOptions,
  work: (rest: Options) => Task<Result> | Tasks<Result>,
): Promise<Result> {
  const signal = signalOf(options);
  try {
    const made = work(withoutSignal(options));
    return await ('next' in made ? runAll(made, signal) : run(made, signal));
  } catch (error) {
    throw listingSignal(error);
  }
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
  // What is no object is refused by the work, which knows its options.
  const signal = typeof options === 'object' && options !== null ? options.signal : undefined;
  refuseAborted(signal);
  return signal;
}

/** What `work` makes of all options but the signal. */
export function workOf<Options extends object, Made>(
  options: Options & AbortOptions,
  work: (rest: Options) => Made,
): Made {
  try {
    return work(withoutSignal(options));
  } catch (error) {
    throw listingSignal(error);
  }
}

function withoutSignal<Options extends object>(options: Options & AbortOptions): Options {
  if (typeof options !== 'object' || options === null || !('signal' in options)) return options;
  const rest: Record<string, unknown> = {};
  for (const name in options) if (name !== 'signal') rest[name] = (options as Record<string, unknown>)[name];
  return rest as Options;
}
