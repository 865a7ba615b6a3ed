// Not the global one: fake timers of tests (Jest, Vitest) replace that, and a call would never end.
import { setImmediate } from 'node:timers';
import { refuseAborted } from './check.ts';
import { CovariumError } from './covarium-error.ts';

/**
 * How long a slice of work holds the event loop, in ms. Timers and signals run between slices, and so may other
 * callbacks in the same turn.
 */
export const sliceMs = 5;

// When a call last let the event loop turn.
let turned = Number.NEGATIVE_INFINITY;

// Calls that wait for a turn: the first of them last, then those that came later.
let waiting: (() => void)[] = [];
let later: (() => void)[] = [];

// How many of them have a place in the next turn; a place that comes too late in it costs as much as an early one.
let places = 0;
const mostPlaces = 64;

// The next turn of the event loop, until it begins.
let next: { began?: number } = {};

/** Lets the event loop turn. Calls that go on in the same turn share the time of a slice; the others wait again. */
export const turn = (): Promise<void> =>
  new Promise((resolve) => {
    later.push(resolve);
    if (places === mostPlaces) return;
    places++;
    takePlace();
  });

function takePlace(): void {
  const own = next;
  // Each has its own callback, since what a call does once it goes on is over before the next callback.
  setImmediate(() => {
    const now = performance.now();
    if (own.began === undefined) {
      own.began = now;
      turned = now;
      next = {};
    } else if (now - own.began >= sliceMs) return takePlace();
    if (waiting.length === 0) [waiting, later] = [later.reverse(), waiting];
    waiting.pop()!();
    if (waiting.length + later.length < places) places--;
    else takePlace();
  });
}

/** How long no call has let the event loop turn, in ms. */
export const sinceTurn = (): number => performance.now() - turned;

/**
 * True if no call has let the event loop turn for the time of a slice. A call then does so before it settles: a promise
 * alone does not, so that a loop of short calls that are awaited would hold the event loop.
 */
export const isTurnDue = (): boolean => sinceTurn() >= sliceMs;

/** Runs work to its end. */
export function runToEnd<Result>(work: Work<Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** True once the device of a call in flight is closed. */
export type IsClosed = () => boolean;

/** Runs work in slices, with a turn of the event loop between two. Rejects with `ERR_ABORTED`, `ERR_CLOSED`. */
export async function runSliced<Result>(
  work: Work<Result>,
  signal: AbortSignal | undefined,
  isClosed?: IsClosed,
): Promise<Result> {
  refuseAborted(signal);
  const turns = new Turns(signal, isClosed);
  for (;;) {
    const step = work.next();
    if (step.done) {
      if (isTurnDue()) await turn();
      return step.value;
    }
    if (turns.isDue) await turns.take();
  }
}

/** Lets the event loop turn every few milliseconds of a loop that only sometimes waits for the system. */
export class Turns {
  readonly #signal: AbortSignal | undefined;
  readonly #isClosed: IsClosed | undefined;
  #end = performance.now() + sliceMs;

  constructor(signal: AbortSignal | undefined, isClosed?: IsClosed) {
    this.#signal = signal;
    this.#isClosed = isClosed;
  }

  /** Whether a slice has passed since the event loop last turned. */
  get isDue(): boolean {
    return performance.now() >= this.#end;
  }

  /** The event loop has just turned. */
  begin(): void {
    this.#end = performance.now() + sliceMs;
  }

  /**
   * Lets the event loop turn if that is due. Call it after each piece of well under a millisecond. Rejects with
   * `ERR_ABORTED`, `ERR_CLOSED`.
   */
  async take(): Promise<void> {
    if (!this.isDue) return;
    await turn();
    refuseAborted(this.#signal);
    if (this.#isClosed?.()) throw new CovariumError('ERR_CLOSED', 'Device was closed before the call was over.');
    this.begin();
  }
}

const itemsOfSlice = 256;

/** True after every so many items of a loop, where work yields. */
export function isSlice(item: number): boolean {
  return item % itemsOfSlice === itemsOfSlice - 1;
}

const numbersOfPiece = 1 << 16;

/** Rows of n numbers that a loop takes between two places where work yields. */
export function rowsOfPiece(n: number): number {
  return Math.max(1, Math.floor(numbersOfPiece / n));
}

/** True after so many rows of n numbers that a loop's work yields there. */
export function endsPiece(row: number, n: number): boolean {
  return (row + 1) % rowsOfPiece(n) === 0;
}

/** Calls body for rows [from, to) of n numbers, a piece at a time, and yields after each. */
export function* inRows(rows: number, n: number, body: (from: number, to: number) => void): Work {
  const atOnce = rowsOfPiece(n);
  for (let from = 0; from < rows; from += atOnce) {
    body(from, Math.min(rows, from + atOnce));
    yield;
  }
}

const itemsOfPiece = 4096;

/** Calls body for pieces [from, to) of items, and yields after each: its plain loop is faster than a generator's. */
export function* inPieces(items: number, body: (from: number, to: number) => void): Work {
  for (let from = 0; from < items; from += itemsOfPiece) {
    body(from, Math.min(items, from + itemsOfPiece));
    yield;
  }
}

/**
 * Work that can be interrupted. It yields after pieces of well under a millisecond, and between two yields it uses no
 * state that other work could change.
 */
export type Work<Result = void> = Generator<void, Result, void>;
