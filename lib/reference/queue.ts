import { setImmediate } from 'node:timers';
import type { Timings } from '../backend.ts';
import { CovariumError } from '../covarium-error.ts';
import { sliceMs, type Work } from '../work.ts';

/** The commands of one encoder after their commit. */
export interface Commit {
  readonly commands: readonly (() => Work)[];
  readonly encodeMs: number;
  /** The processor that makes a factor among the commands. */
  readonly factor: 'cpu' | undefined;
  /** Set from outside, at any time. */
  cancelled: boolean;
}

/**
 * The queue of a reference device. Commits run in order, on the JavaScript thread, in slices with a turn of the event
 * loop between them, so that timers and signals run.
 */
export class Queue {
  readonly #waiting: Running[] = [];
  #scheduled = false;

  /** Runs a commit after those before it; settles when it has run. `over` is called just before it settles. */
  add(commit: Commit, over: () => void): Promise<Timings> {
    return new Promise((resolve, reject) => {
      const running = new Running(
        commit,
        (timings) => {
          over();
          resolve(timings);
        },
        (failure) => {
          over();
          reject(failure);
        },
      );
      this.#waiting.push(running);
      this.#schedule();
    });
  }

  /** Runs a commit, after all that wait, before it returns. */
  runSync(commit: Commit): Timings {
    this.drain();
    const timings: Timings[] = [];
    const failures: unknown[] = [];
    const running = new Running(
      commit,
      (result) => timings.push(result),
      (failure) => failures.push(failure),
    );
    running.runUntil(Number.POSITIVE_INFINITY);
    if (timings.length === 0) throw failures[0];
    return timings[0]!;
  }

  /** Runs all waiting commits to their end. */
  drain(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      first.runUntil(Number.POSITIVE_INFINITY);
      this.#waiting.shift();
    }
  }

  /** Fails the waiting commits with `ERR_ABORTED`. */
  cancel(): void {
    for (const { commit } of this.#waiting) commit.cancelled = true;
    this.drain();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#scheduled = false;
    this.#endCancelled();
    const end = performance.now() + sliceMs;
    while (this.#waiting.length > 0 && performance.now() < end) {
      if (this.#waiting[0]!.runUntil(end)) this.#waiting.shift();
    }
    if (this.#waiting.length > 0) this.#schedule();
  }

  // A cancelled commit does not wait for its turn.
  #endCancelled(): void {
    for (const running of this.#waiting.filter(({ commit }) => commit.cancelled)) {
      running.runUntil(Number.POSITIVE_INFINITY);
      this.#waiting.splice(this.#waiting.indexOf(running), 1);
    }
  }
}

/** A commit that waits or runs. */
class Running {
  readonly commit: Commit;
  readonly #committed = performance.now();
  readonly #work: Work;
  readonly #resolve: (timings: Timings) => void;
  readonly #reject: (failure: unknown) => void;
  #deviceMs = 0;

  constructor(commit: Commit, resolve: (timings: Timings) => void, reject: (failure: unknown) => void) {
    this.commit = commit;
    this.#work = inOrder(commit);
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Works at least until `end` (of performance.now()); returns whether all is done. */
  runUntil(end: number): boolean {
    const begin = performance.now();
    try {
      for (let now = begin; now < end; now = performance.now()) {
        if (!this.#work.next().done) continue;
        this.#deviceMs += performance.now() - begin;
        const { encodeMs, factor } = this.commit;
        this.#resolve({ encodeMs, deviceMs: this.#deviceMs, wallMs: performance.now() - this.#committed, factor });
        return true;
      }
    } catch (failure) {
      this.#reject(failure);
      return true;
    }
    this.#deviceMs += performance.now() - begin;
    return false;
  }
}

function* inOrder(commit: Commit): Work {
  for (const command of commit.commands) {
    for (const work = command(); ; ) {
      if (commit.cancelled) {
        throw new CovariumError('ERR_ABORTED', `The commit of (${commit.commands.length}) commands is cancelled.`);
      }
      if (work.next().done) break;
      yield;
    }
  }
}
