import { Storage } from '../array/storage.ts';
import type { Encoder } from '../backend.ts';
import type { OpenBackend } from '../backend-handle.ts';
import { step, type Tasks, taskOf } from '../command/task.ts';
import { type Real, type RealDtype, type Values, zerosOf } from '../dtype.ts';

/** Brackets of numbers, for each of n columns. */
export interface Limits {
  /** Where a bracket begins and ends, both included: brackets x n numbers each. One that ends before holds nothing. */
  readonly lower: ArrayLike<number>;
  readonly upper: ArrayLike<number>;
}

/**
 * Counts what lies below some brackets and within, over rows that come in commits, and keeps so many of those within.
 * The numbers stay in the device's memory, which selects among them.
 */
export class Tally {
  /** So far, of each bracket and column: 2^53 and more, where a device counts to 2^32. */
  readonly below: Float64Array;
  readonly within: Float64Array;
  /** Numbers that are kept of each bracket and column. */
  readonly capacity: number;
  readonly #device: OpenBackend;
  readonly #n: number;
  readonly #limits: Real;
  readonly #counts: Uint32Array;
  readonly #kept: Storage;

  /** Throws `ERR_OUT_OF_MEMORY`. */
  constructor(device: OpenBackend, dtype: RealDtype, n: number, { lower, upper }: Limits, capacity: number) {
    const slots = lower.length;
    this.#device = device;
    this.#n = n;
    this.#limits = zerosOf(dtype, 2 * slots) as Real;
    this.#limits.set(lower);
    this.#limits.set(upper, slots);
    this.#counts = new Uint32Array(2 * slots);
    this.below = new Float64Array(slots);
    this.within = new Float64Array(slots);
    this.capacity = capacity;
    this.#kept = Storage.away(device, dtype, slots * capacity);
  }

  /** Records the count of these rows. */
  encode(encoder: Encoder, device: OpenBackend, rows: Real): void {
    if (this.below.length === 0) return;
    encoder.countBetween(rows, this.#limits, this.#kept.operandFor(device) as Real, this.#counts, this.#n);
  }

  /** After each commit, of fewer than 2^31 rows: the device counts on from what is kept. */
  take(): void {
    const slots = this.below.length;
    for (let slot = 0; slot < slots; slot++) {
      const before = Math.min(this.within[slot]!, this.capacity);
      this.within[slot]! += this.#counts[slots + slot]! - before;
      this.below[slot]! += this.#counts[slot]!;
      this.#counts[slot] = 0;
      this.#counts[slots + slot] = Math.min(this.within[slot]!, this.capacity);
    }
  }

  /**
   * The numbers of these ranks (from 0, ascending) among those kept of each bracket and column; 0 if there is none of
   * that rank.
   */
  *select(ranks: Uint32Array<ArrayBuffer>): Tasks<Values> {
    const slots = ranks.length;
    const device = this.#device;
    const found = new Storage(zerosOf(this.#kept.dtype, slots));
    if (slots === 0 || this.capacity === 0) return found.values;
    const lengths = Uint32Array.from(this.within, (within) => Math.min(within, this.capacity));
    const [kept, out] = [this.#kept.operandFor(device) as Real, found.values as Real];
    const encode = (encoder: Encoder) => encoder.selectRanks(kept, lengths, ranks, out);
    return yield* step(taskOf({ device, encode, result: out, written: found }));
  }

  close(): void {
    this.#kept.close();
  }
}
