import type { Storage } from '../array/storage.ts';
import type { Encoder, Timings } from '../backend.ts';
import type { OpenBackend } from '../backend-handle.ts';
import { decomposed } from '../command/float64.ts';
import type { Scratch } from '../command/scratch.ts';
import type { Tasks } from '../command/task.ts';
import { lowerEchelon } from '../decomposition/echelon.ts';
import { dtypeOf, type Real } from '../dtype.ts';
import { norm } from '../reference/svd.ts';
import { advanced } from '../stream/counter.ts';
import type { Work } from '../work.ts';
import type { Factor } from './factor.ts';
import { type Allocate, forRowBlocks, inMemory, kept, rowsAtOnce } from './parts.ts';

type Part = 'root' | 'rows' | 'lower' | 'inverse' | 'deviations' | 'inverses';
type Parts = { readonly [Each in Part]: Storage };

/** The numbers of a {@link RootFactor}, in float64. */
interface RootNumbers {
  readonly parts: { readonly [Each in Part]: Float64Array<ArrayBuffer> };
  readonly logDeterminant: number;
}

/**
 * A root A (n x rank) of a singular covariance. With S the standard deviations, A = S Q' L', where Q (rank x n) has
 * orthonormal rows and L is lower triangular. For an x on the support, the shortest w with A w = x solves L' w =
 * Q S^-1 x. Measuring each variable in its own standard deviation gives small and large variables the same weight. Rank
 * 0 is stored as a column of zeros.
 */
export class RootFactor implements Factor {
  readonly n: number;
  readonly rank: number;
  readonly logDeterminant: number;
  readonly #parts: Parts;

  /** @internal Use {@link RootFactor.of}. */
  private constructor(storages: Parts, n: number, rank: number, logDeterminant: number) {
    this.#parts = storages;
    this.n = n;
    this.rank = rank;
    this.logDeterminant = logDeterminant;
  }

  /** Makes the factor from the result of {@link rootNumbers}. */
  static of(allocate: Allocate, { parts, logDeterminant }: RootNumbers, rank: number): RootFactor {
    return new RootFactor(kept(parts, allocate), parts.deviations.length, rank, logDeterminant);
  }

  get width(): number {
    return Math.max(1, this.rank);
  }

  get timings(): Timings | undefined {
    return this.#parts.root.timings;
  }

  /** Standard deviations of the coordinates, n; some may be 0. */
  get deviations(): Real {
    return this.#values('deviations');
  }

  /** All storage; the timings of the first are those of the commit. */
  get storages(): readonly Storage[] {
    return Object.values(this.#parts);
  }

  sample(encoder: Encoder, mean: Real, out: Real, counter: Uint32Array, scratch: Scratch): void {
    const { n, width } = this;
    const atOnce = Math.min(out.length / n, rowsAtOnce(n, width));
    const normals = scratch.zeros(dtypeOf(out), Math.max(2, atOnce) * width);
    forRowBlocks(out, n, atOnce, (block, count, first) => {
      encoder.fillNormal(normals.subarray(0, count * width), advanced(counter, first * width));
      // The product of one row sums in another order than that of several, and a draw has the same bits in any block.
      const several = count > 1 ? block : scratch.output(dtypeOf(out), 2 * n);
      this.transform(encoder, mean, normals.subarray(0, (several.length / n) * width), several);
      if (count === 1) encoder.copy(several.subarray(0, n), block);
    });
  }

  transform(encoder: Encoder, mean: Real, input: Real, out: Real): void {
    const { n, width } = this;
    encoder.product(input, this.#values('root'), out, out.length / n, n, width, false, true, 1, 0);
    encoder.addRow(out, mean, 1);
  }

  logDensity(encoder: Encoder, mean: Real, rows: Real, out: Real, constant: number, scratch: Scratch): void {
    const { n, width } = this;
    const count = out.length;
    const dtype = dtypeOf(rows);
    const left = scratch.output(dtype, rows.length);
    const w = scratch.output(dtype, count * width);
    encoder.copy(rows, left);
    encoder.addRow(left, mean, -1);
    encoder.scaleColumns(left, this.#values('inverses'));
    encoder.product(left, this.#values('rows'), w, count, width, n, false, true, 1, 0);
    encoder.product(w, this.#values('rows'), left, count, n, width, false, false, -1, 1);
    encoder.triangularSolve(this.#values('lower'), w, width, true);
    encoder.squaredNorms(w, out, width);
    const deviations = this.#values('deviations');
    scratch.after(() => {
      for (let r = 0; r < count; r++) {
        const at = (values: Real) => values.subarray(r * n, (r + 1) * n);
        const square = out[r]!;
        const isOn = isOnSupport({ row: at(rows), mean, left: at(left), deviations, distance: Math.sqrt(square) });
        out[r] = isOn ? constant - square / 2 : Number.NEGATIVE_INFINITY;
      }
    });
  }

  // By the pseudo-inverse P' P of A A'.
  solve(encoder: Encoder, rows: Real, scratch: Scratch): void {
    const { n, width } = this;
    const count = rows.length / n;
    const w = scratch.output(dtypeOf(rows), count * width);
    encoder.product(rows, this.#values('inverse'), w, count, width, n, false, true, 1, 0);
    encoder.product(w, this.#values('inverse'), rows, count, n, width, false, false, 1, 0);
  }

  variances(encoder: Encoder, out: Real): void {
    encoder.squaredNorms(this.#values('root'), out, this.width);
  }

  covariance(encoder: Encoder, out: Real): void {
    const { n, width } = this;
    encoder.product(this.#values('root'), this.#values('root'), out, n, n, width, false, true, 1, 0);
  }

  root(encoder: Encoder, out: Real): void {
    encoder.copy(this.#values('root'), out);
  }

  *exact(): Work<RootFactor> {
    const numbers = Object.entries(this.#parts).map(([part, { values }]) => [part, new Float64Array(values)] as const);
    const parts = Object.fromEntries(numbers) as RootNumbers['parts'];
    const copy = RootFactor.of(inMemory, { parts, logDeterminant: this.logDeterminant }, this.rank);
    yield;
    return copy;
  }

  close(): void {
    for (const storage of this.storages) storage.close();
  }

  #values(part: keyof Parts): Real {
    return this.#parts[part].values as Real;
  }
}

/** The numbers for a root (n x rank) whose columns, fewer than n, are independent. */
export function* rootNumbers(device: OpenBackend, root: Float64Array, n: number, rank: number): Tasks<RootNumbers> {
  if (rank === 0) {
    const [zeros, one] = [() => new Float64Array(n), new Float64Array([1])];
    const parts = { root: zeros(), rows: zeros(), inverse: zeros(), deviations: zeros(), inverses: zeros() };
    return { parts: { ...parts, lower: one }, logDeterminant: 0 };
  }
  const deviations = Float64Array.from({ length: n }, (_, i) => norm(root.subarray(i * rank, (i + 1) * rank)));
  const inverses = deviations.map((deviation) => (deviation === 0 ? 0 : 1 / deviation));
  const scaled = new Float64Array(rank * n);
  for (let i = 0; i < n; i++) for (let k = 0; k < rank; k++) scaled[k * n + i] = root[i * rank + k]! * inverses[i]!;
  const rows = new Float64Array(rank * n);
  yield* decomposed(device, (encoder) => encoder.lq(scaled, rows, rank, n));
  const lower = leftSquare(scaled, rank, n);
  const { inverse, logDeterminant } = yield* inverseOf(device, root, deviations);
  const parts = { root: new Float64Array(root), rows, lower, inverse, deviations, inverses };
  return { parts, logDeterminant };
}

/**
 * A matrix P (rank x n) with P' P the pseudo-inverse of A A', and log det(A' A). Variables may be in any units: an
 * echelon E of A is right in each variable to rounding of its own deviation. With the widest variables first, so is the
 * L of E' = L Q, and P = (L L')^-1 E'. (Q itself would not be: each of its rows is right to rounding of 1.)
 */
function* inverseOf(
  device: OpenBackend,
  root: Float64Array,
  deviations: Float64Array,
): Tasks<{ readonly inverse: Float64Array<ArrayBuffer>; readonly logDeterminant: number }> {
  const n = deviations.length;
  const rank = root.length / n;
  const order = [...deviations.keys()].sort((i, j) => deviations[j]! - deviations[i]!);
  const sorted = new Float64Array(n * rank);
  order.forEach((variable, i) => {
    sorted.set(root.subarray(variable * rank, (variable + 1) * rank), i * rank);
  });
  yield* lowerEchelon(device, sorted, n, rank, 0);
  const numbers = sorted.slice();
  const [across, lower] = [new Float64Array(rank * n), new Float64Array(rank * rank)];
  yield* decomposed(device, (encoder) => {
    encoder.transpose(sorted, across, n, rank);
    encoder.lq(across, new Float64Array(0), rank, n);
    // The first rows of the transpose of (L 0) are L'.
    encoder.transpose(across, numbers, rank, n);
    encoder.transpose(numbers.subarray(0, rank * rank), lower, rank, rank);
    encoder.choleskySolve(lower, sorted, rank);
  });
  const inverse = new Float64Array(rank * n);
  order.forEach((variable, i) => {
    for (let k = 0; k < rank; k++) inverse[k * n + variable] = sorted[i * rank + k]!;
  });
  let logDeterminant = 0;
  for (let k = 0; k < rank; k++) logDeterminant += 2 * Math.log(lower[k * (rank + 1)]!);
  return { inverse, logDeterminant };
}

function leftSquare(rows: Float64Array, count: number, n: number): Float64Array<ArrayBuffer> {
  const square = new Float64Array(count * count);
  for (let i = 0; i < count; i++) square.set(rows.subarray(i * n, i * n + count), i * count);
  return square;
}

/**
 * A row, and its remainder, in standard deviations, after its part in the span of a singular normal's root is
 * subtracted.
 */
interface SupportQuestion {
  readonly row: Real;
  readonly mean: Real;
  readonly left: Real;
  /** Standard deviations of the variables; 0 if one does not vary. */
  readonly deviations: Real;
  /** Mahalanobis distance of the subtracted part. */
  readonly distance: number;
}

/**
 * True if a row is on the support of a singular normal, up to rounding. The remainder of each variable must be at most
 * t (1 + distance) of its standard deviation, with t = 1e3 2^-23 in float32 and 1e6 2^-52 in float64 (SciPy's factors),
 * plus n roundings of the numbers themselves if these are large compared with the deviations. A variable that does not
 * vary must equal its mean, up to four roundings.
 */
function isOnSupport({ row, mean, left, deviations, distance }: SupportQuestion): boolean {
  const n = row.length;
  const [eps, factor] = row.BYTES_PER_ELEMENT === 4 ? [2 ** -23, 1e3] : [2 ** -52, 1e6];
  let rounding = 0;
  for (let i = 0; i < n; i++) {
    const size = Math.abs(row[i]!) + Math.abs(mean[i]!);
    if (deviations[i] === 0) {
      if (Math.abs(row[i]! - mean[i]!) > 4 * eps * size) return false;
    } else rounding = Math.max(rounding, size / deviations[i]!);
  }
  const most = factor * eps * (1 + distance) + n * eps * rounding;
  for (let i = 0; i < n; i++) if (Math.abs(left[i]!) > most) return false;
  return true;
}
