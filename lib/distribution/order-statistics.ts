import type { Tasks } from '../command/task.ts';
import type { RealDtype } from '../dtype.ts';
import type { Limits, Tally } from './tally.ts';

/** How the draws of each of n coordinates are distributed: as centre + scale x, with the same x for all. */
export interface Marginals {
  readonly centre: Float64Array;
  /** 0 where a coordinate does not vary. */
  readonly scale: Float64Array;
  /** The quantile of x, for 0 < p < 1. */
  readonly quantile: (p: number) => number;
}

/** The search for the number of a rank (from 0, ascending) among a column of draws. */
interface Search {
  readonly rank: number;
  /** Where the number lies, both included, as far as is known. */
  least: number;
  most: number;
  /** Where it is looked for next. */
  lower: number;
  upper: number;
  found: number | undefined;
}

type Ranks = Uint32Array<ArrayBuffer>;

// More are drawn anew, in smaller brackets.
const mostKept = 1 << 26;

/**
 * The numbers of some ranks in each coordinate of `count` draws, found exactly in passes over the draws: each counts
 * what lies below brackets, and keeps what lies within. The marginals say where a rank lies, so that one pass nearly
 * always does. Where draws round to few numbers, as 1e6 + 0.01 z in float32, it takes some passes.
 */
export class OrderStatistics {
  /** Numbers to be kept of each bracket and column. */
  readonly capacity: number;
  readonly #dtype: RealDtype;
  /** Ranks x n. */
  readonly #searches: Search[];

  /** Without ranks, the marginals are not looked at. */
  constructor(dtype: RealDtype, count: number, ranks: readonly number[], { centre, scale, quantile }: Marginals) {
    const n = centre.length;
    const infinity = Number.POSITIVE_INFINITY;
    this.#dtype = dtype;
    let widest = 0;
    this.#searches = ranks.flatMap((rank) => {
      const shares = sharesAround(rank, count);
      widest = Math.max(widest, Math.min(1, shares[1]) - Math.max(0, shares[0]));
      const [low, high] = shares.map((p) => (p <= 0 ? -infinity : p >= 1 ? infinity : quantile(p))) as [number, number];
      return Array.from({ length: n }, (_, j) => {
        // A coordinate that does not vary is its centre, whatever z is.
        const at = (z: number) => roundTo(dtype, scale[j] === 0 ? centre[j]! : centre[j]! + scale[j]! * z);
        return { rank, least: -infinity, most: infinity, lower: at(low), upper: at(high), found: undefined };
      });
    });
    const wanted = Math.ceil(count * widest + deviations * Math.sqrt(count * widest) + fewest);
    const room = Math.floor(mostKept / Math.max(1, this.#searches.length));
    this.capacity = ranks.length === 0 ? 0 : Math.min(count, wanted, Math.max(fewest, room));
  }

  get isDone(): boolean {
    return this.#searches.every(({ found }) => found !== undefined);
  }

  /** The brackets of the next pass, ranks x n; nothing lies within that of a number that is found. */
  limits(): Limits {
    const nowhere = { lower: 0, upper: -1 };
    const all = this.#searches.map((search) => (search.found === undefined ? search : nowhere));
    return { lower: all.map(({ lower }) => lower), upper: all.map(({ upper }) => upper) };
  }

  /** Takes what a pass has counted and kept. */
  *learn(pass: Tally): Tasks<void> {
    const none = 0xffffffff;
    const [first, last] = [0, 1].map(() => new Uint32Array(this.#searches.length).fill(none)) as [Ranks, Ranks];
    let isWhole = true;
    for (const [slot, search] of this.#searches.entries()) {
      const [below, within] = [pass.below[slot]!, pass.within[slot]!];
      if (!this.#isBetween(search, below, within)) continue;
      const kept = Math.min(within, pass.capacity);
      if (kept === within) {
        first[slot] = search.rank - below;
        continue;
      }
      // There was no room for all: those kept are a sample of those within.
      isWhole = false;
      const place = ((search.rank - below) / within) * kept;
      const margin = deviations * Math.sqrt(kept);
      first[slot] = Math.max(0, Math.floor(place - margin));
      last[slot] = Math.min(kept - 1, Math.floor(place + margin));
    }
    const lower = yield* pass.select(first);
    const upper = isWhole ? lower : yield* pass.select(last);
    for (const [slot, search] of this.#searches.entries()) {
      if (first[slot] === none) continue;
      // Zeros of either sign are one number.
      if (last[slot] === none) search.found = lower[slot] === 0 ? 0 : lower[slot]!;
      else this.#narrow(search, lower[slot]!, upper[slot]!);
    }
  }

  /** The number of each rank, ranks x n. */
  get numbers(): Float64Array<ArrayBuffer> {
    return Float64Array.from(this.#searches, ({ found }) => found!);
  }

  /** Whether the number is among those within the bracket; else it is found, or is looked for elsewhere. */
  #isBetween(search: Search, below: number, within: number): boolean {
    const { lower, upper, rank, found } = search;
    if (found !== undefined) return false;
    if (rank >= below && rank < below + within) {
      if (lower !== upper) return true;
      search.found = lower;
    } else {
      if (rank < below) search.most = neighbour(this.#dtype, lower, -1);
      else search.least = neighbour(this.#dtype, upper, 1);
      [search.lower, search.upper] = [search.least, search.most];
    }
    return false;
  }

  /** Looks between two numbers of the bracket next. */
  #narrow(search: Search, from: number, to: number): void {
    const { lower, upper } = search;
    [search.least, search.most] = [lower, upper];
    [search.lower, search.upper] = [from, to];
    if (from === lower && to === upper) search.upper = middle(this.#dtype, lower, upper);
  }
}

/** The rank of the smallest number that at least a share p of `count` do not exceed. */
export function rankOf(p: number, count: number): number {
  return Math.max(0, Math.min(count - 1, Math.ceil(p * count) - 1));
}

/** The smallest number of the type above `value`: what exceeds `value` is at least this. */
export function nextAbove(dtype: RealDtype, value: number): number {
  const near = roundTo(dtype, value);
  return near > value ? near : neighbour(dtype, near, 1);
}

// A rank is off by more standard deviations than these once in 10^11 times, also where few draws lie beyond it.
const deviations = 7;
const fewest = 64;

// The shares of the distribution between which the number of a rank lies, all but surely.
function sharesAround(rank: number, count: number): [low: number, high: number] {
  const p = (rank + 0.5) / count;
  const margin = (deviations * Math.sqrt(count * p * (1 - p)) + fewest) / count;
  return [p - margin, p + margin];
}

const float32 = new Float32Array(1);
const bits32 = new Int32Array(float32.buffer);
const float64 = new Float64Array(1);
const bits64 = new BigInt64Array(float64.buffer);
const least64 = -(2n ** 63n);

function roundTo(dtype: RealDtype, value: number): number {
  return dtype === 'float32' ? Math.fround(value) : value;
}

// The place of a number among all of its type: in their order, and one apart.
function placeOf(dtype: RealDtype, value: number): bigint {
  if (dtype === 'float32') {
    float32[0] = value;
    return bits32[0]! >= 0 ? BigInt(bits32[0]!) : -(2n ** 31n) - BigInt(bits32[0]!);
  }
  float64[0] = value;
  return bits64[0]! >= 0n ? bits64[0]! : least64 - bits64[0]!;
}

function numberAt(dtype: RealDtype, place: bigint): number {
  if (dtype === 'float32') {
    bits32[0] = Number(place >= 0n ? place : -(2n ** 31n) - place);
    return float32[0]!;
  }
  bits64[0] = place >= 0n ? place : least64 - place;
  return float64[0]!;
}

function neighbour(dtype: RealDtype, value: number, by: 1 | -1): number {
  if (value === by * Number.POSITIVE_INFINITY) return value;
  return numberAt(dtype, placeOf(dtype, value) + BigInt(by));
}

function middle(dtype: RealDtype, lower: number, upper: number): number {
  const [from, to] = [placeOf(dtype, lower), placeOf(dtype, upper)];
  return numberAt(dtype, from + (to - from) / 2n);
}
