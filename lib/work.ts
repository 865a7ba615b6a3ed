import { refuseAborted } from './check.ts';

/** How long a slice of work holds the event loop, in ms. Timers and signals run between slices. */
export const sliceMs = 5;

/** Runs work to its end. */
export function runToEnd<Result>(work: Work<Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Runs work in slices, with a turn of the event loop between two. Rejects with `ERR_ABORTED`. */
export async function runSliced<Result>(work: Work<Result>, signal: AbortSignal | undefined): Promise<Result> {
  refuseAborted(signal);
  const slices = new Slices(signal);
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (slices.isOver) await slices.pause();
  }
}

/** The time since the event loop last turned. */
export class Slices {
  readonly #signal: AbortSignal | undefined;
  #end = performance.now() + sliceMs;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /** Begins a slice: the event loop has just turned. */
  begin(): void {
    this.#end = performance.now() + sliceMs;
  }

  /** Lets the event loop turn. Rejects with `ERR_ABORTED`. */
  async pause(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    refuseAborted(this.#signal);
    this.begin();
  }
}

/**
 * Work that can be interrupted. It yields after pieces of well under a millisecond, and between two yields it uses no
 * state that other work could change.
 */
export type Work<Result = void> = Generator<void, Result, void>;
