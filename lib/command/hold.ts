import type { OpenBackend } from '../backend-handle.ts';
import { CovariumError } from '../covarium-error.ts';
import { type IsClosed, isTurnDue, turn } from '../work.ts';

// What the call that begins just now has opened.
let opened: Kept[] | undefined;

/** Memory of a distribution, which is released once it is closed and no asynchronous call in flight holds it. */
export class Kept {
  readonly device: OpenBackend;
  readonly #release: () => void;
  #calls = 0;
  #closed = false;

  constructor(device: OpenBackend, release: () => void) {
    this.device = device;
    this.#release = release;
  }

  /** Lets the call that {@link holding} begins hold the memory until it is over. */
  hold(): void {
    if (opened === undefined) return;
    this.#calls++;
    opened.push(this);
  }

  /** Ends the hold of one call. */
  leave(): void {
    if (--this.#calls === 0 && this.#closed) this.#release();
  }

  close(): void {
    this.#closed = true;
    if (this.#calls === 0) this.#release();
  }
}

/**
 * Runs a call of several commits, which holds what it opens before it first waits, and stops once its device is closed.
 * Where its device was closed meanwhile, the error says so: what the call then met first may be any memory.
 */
export async function holding<Result>(begin: (isClosed: IsClosed) => Promise<Result>): Promise<Result> {
  const before = opened;
  const own: Kept[] = [];
  opened = own;
  try {
    const pending = begin(() => own.some(({ device }) => device.closed));
    opened = before;
    return await pending;
  } catch (error) {
    const closed = own.find(({ device }) => device.closed);
    if (closed === undefined || !(error instanceof CovariumError) || error.code !== 'ERR_CLOSED') throw error;
    throw new CovariumError('ERR_CLOSED', `Device (${closed.device.name}) was closed before the call was over.`, {
      cause: error,
    });
  } finally {
    // Where it threw before it waited; later, another call may be beginning.
    if (opened === own) opened = before;
    for (const each of own) each.leave();
    if (isTurnDue()) await turn();
  }
}
