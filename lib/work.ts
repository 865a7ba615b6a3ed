import { refuseAborted } from './check.ts';

/** How long a slice of work holds the event loop, in ms. Timers and signals run between slices. */
export const sliceMs = 10;

/** Runs work to its end. */
export function runToEnd<Result>(work: Work<Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Runs work in slices, with a turn of the event loop between two. Rejects with `ERR_ABORTED`. */
export async function runSliced<Result>(work: Work<Result>, signal: AbortSignal | undefined): Promise<Result> {
  for (;;) {
    refuseAborted(signal);
    const end = performance.now() + sliceMs;
    do {
      const step = work.next();
      if (step.done) return step.value;
    } while (performance.now() < end);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/**
 * Work that can be interrupted. It yields after pieces of well under a millisecond, and between two yields it uses no
 * state that other work could change.
 */
export type Work<Result = void> = Generator<void, Result, void>;
