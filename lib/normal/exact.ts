import { hostZeros } from '../array/host-memory.ts';
import { Storage } from '../array/storage.ts';
import type { OpenBackend } from '../backend-handle.ts';
import { exactDevice, exactly } from '../command/float64.ts';
import { commandNumbers } from '../command/scratch.ts';
import type { Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { LowRankFactor } from '../factor/low-rank-factor.ts';
import { LowerFactor } from '../factor/lower-factor.ts';
import type { Work } from '../work.ts';
import type { NormalParameters } from './parameters.ts';

/** The mean (n) and a root A (n x width) of the covariance A A', in float64, row after row. */
export interface ExactRoot {
  readonly mean: Float64Array<ArrayBuffer>;
  readonly root: Float64Array;
  readonly n: number;
  readonly width: number;
  /**
   * The share of a row below which numbers are rounding, not a direction. It is 0 for a regular normal, whose rows are
   * all independent, however small.
   */
  readonly tolerance: number;
}

const numbersAtOnce = 1 << 16;

/**
 * Memory of one device for roots in float64 that are read until {@link close}: that of the last call is there again,
 * where new pages would take longer than the numbers.
 */
export class RootMemory {
  readonly #device: OpenBackend;
  readonly #made: Storage<'float64'>[] = [];

  constructor(device: OpenBackend | undefined) {
    this.#device = exactDevice(device);
  }

  /** Numbers that a command writes before another reads them. */
  output(length: number): Float64Array {
    const storage = Storage.inside(this.#device, 'float64', length);
    this.#made.push(storage);
    return storage.values;
  }

  /** A copy of the factor. Throws `ERR_CLOSED` if the factor was closed meanwhile. */
  *copyOf(factor: LowerFactor): Work<Float64Array> {
    const copy = this.output(factor.lower.length);
    for (let at = 0; at < copy.length; at += numbersAtOnce) {
      copy.set(factor.lower.subarray(at, at + numbersAtOnce), at);
      yield;
    }
    return copy;
  }

  /** Throws `ERR_CLOSED` if the device was closed, and what was read meanwhile is nothing. */
  requireOpen(): void {
    for (const storage of this.#made) void storage.values;
  }

  close(): void {
    for (const storage of this.#made) storage.close();
  }
}

/**
 * The root of a normal in float64. Numbers computed from the root by orthogonal transformations stay positive definite;
 * a covariance, whose condition number is the square, might not. Where the caller says that it reads the root before it
 * yields again, the root may be the factor's own memory; with `memory`, a copy there. Throws `ERR_OUT_OF_MEMORY`.
 */
export function* exactRoot(
  { device, dtype, n, mean, factor }: NormalParameters,
  isReadAtOnce = false,
  memory?: RootMemory,
): Tasks<ExactRoot> {
  const width = factor.rank;
  const centre = new Float64Array(mean.values);
  if (memory !== undefined && factor instanceof LowerFactor && (dtype === 'float32' || !isReadAtOnce))
    return { mean: centre, root: yield* memory.copyOf(factor), n, width, tolerance: 0 };
  const exact = dtype === 'float64' ? factor : yield* factor.exact();
  let root: Float64Array;
  if (exact instanceof LowerFactor) {
    root = exact.lower as Float64Array;
    if (!isReadAtOnce && exact === factor) root = yield* copied(device, root);
  } else {
    const made = exact instanceof LowRankFactor ? yield* exact.exactRoot() : undefined;
    root = made ?? hostZeros(n * width);
    if (made === undefined && width > 0)
      yield* exactly(device, (encoder, scratch) => exact.root(encoder, root, scratch));
  }
  const roundoff = dtype === 'float32' ? 2 ** -23 : 2 ** -52;
  return { mean: centre, root, n, width, tolerance: width === n ? 0 : 8 * n * roundoff };
}

/** A copy of numbers of the device, which may be closed meanwhile. */
export function* copied(device: OpenBackend | undefined, numbers: Float64Array): Tasks<Float64Array> {
  if (numbers.length < commandNumbers) return numbers.slice();
  const copy = hostZeros(numbers.length);
  yield* exactly(device, (encoder) => encoder.copy(numbers, copy));
  return copy;
}

/**
 * Throws `ERR_NOT_POSITIVE_DEFINITE` for a singular normal: it has no density relative to a normal with another
 * support.
 */
export function requireRegular({ n, factor }: NormalParameters): void {
  if (factor.rank < n)
    throw new CovariumError(
      'ERR_NOT_POSITIVE_DEFINITE',
      `A divergence needs regular normals, but this one has rank (${factor.rank}) in dimension (${n}).`,
      { pivot: factor.rank },
    );
}

/** True if two normals have exactly the same numbers. Their distance is then exactly 0, without rounding. */
export function isSameRoot(a: ExactRoot, b: ExactRoot): boolean {
  return isEqual(a.mean, b.mean) && isEqual(a.root, b.root);
}

function isEqual(a: Float64Array, b: Float64Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}
