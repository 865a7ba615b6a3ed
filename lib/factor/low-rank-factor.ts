import { hostZeros } from '../array/host-memory.ts';
import type { Storage } from '../array/storage.ts';
import type { Encoder, Timings } from '../backend.ts';
import type { OpenBackend } from '../backend-handle.ts';
import { exactly } from '../command/float64.ts';
import type { Scratch } from '../command/scratch.ts';
import type { Tasks } from '../command/task.ts';
import { logDeterminantOfGram } from '../decomposition/graded-gram.ts';
import { lowRankRoot } from '../decomposition/low-rank-root.ts';
import { lqDecomposition, solveLower } from '../decomposition/lq-decomposition.ts';
import { dtypeOf, type Real } from '../dtype.ts';
import { inRows, type Work } from '../work.ts';
import type { Factor } from './factor.ts';
import { type Allocate, forRowBlocks, inMemory, kept, norms, rowsAtOnce } from './parts.ts';

// Variances that are 2^-8 of others lose as much to rounding as other commands do.
const lostBits = 8;

type Parts = { readonly [Part in 'factor' | 'deviations' | 'inverses' | 'rows' | 'forth' | 'back']: Storage };

/**
 * The covariance F F' + D, with D diagonal and F n x k, in at most 4 n (k + 1) numbers. Let S = D^(1/2), and factor
 * (S^-1 F)' = L Q with Q Q' = 1, where Q is k x n. The covariance is then S (1 + Q' L' L Q) S. With the Cholesky factor
 * C of 1 + L' L, its root is S (1 + Q' (C - 1) Q), and the inverse of the root is (1 - Q' Q + Q' C^-1 Q) S^-1. The root
 * is n x n: a draw takes n normals, as with a dense root, and a distance is a sum of squares in which nothing is
 * subtracted (as it is in Woodbury's formula, which this replaces).
 */
export class LowRankFactor implements Factor {
  readonly n: number;
  readonly logDeterminant: number;
  readonly #parts: Parts;
  readonly #spread: number;

  /** `spread`: how many bits the largest standard deviation has before the smallest entry of S. */
  private constructor(storages: Parts, logDeterminant: number, spread: number) {
    this.#parts = storages;
    this.n = storages.deviations.values.length;
    this.logDeterminant = logDeterminant;
    this.#spread = spread;
  }

  /** Computes the factor of F (n x k) and the n positive entries of D; the result allocates its storage. */
  static *of(
    factor: Float64Array<ArrayBuffer>,
    diagonal: Float64Array<ArrayBuffer>,
  ): Work<(allocate: Allocate) => LowRankFactor> {
    const n = diagonal.length;
    const k = factor.length / n;
    const deviations = diagonal.map(Math.sqrt);
    const inverses = deviations.map((deviation) => 1 / deviation);
    const scaled = new Float64Array(k * n);
    for (let i = 0; i < n; i++) for (let j = 0; j < k; j++) scaled[j * n + i] = factor[i * k + j]! * inverses[i]!;
    const { lower, rows: inOrder } = yield* lqDecomposition(scaled, k, n);
    // 1 + L' L = [L', 1] [L', 1]': the LQ factorisation of [L', 1] gives its Cholesky factor without forming squares.
    const beside = new Float64Array(2 * k * k);
    for (let i = 0; i < k; i++) {
      for (let j = i; j < k; j++) beside[2 * i * k + j] = lower[j * k + i]!;
      beside[2 * i * k + k + i] = 1;
    }
    const { lower: root, order } = yield* lqDecomposition(beside, k, 2 * k);
    // The root is that of another order, in which the rows of Q follow it.
    const rows = new Float64Array(k * n);
    for (const [i, from] of order.entries()) rows.set(inOrder.subarray(from * n, (from + 1) * n), i * n);
    let logDeterminant = 0;
    for (const deviation of deviations) logDeterminant += 2 * Math.log(deviation);
    const ofRows = new Float64Array(n * k);
    for (let i = 0; i < n; i++) for (let j = 0; j < k; j++) ofRows[i * k + j] = scaled[j * n + i]!;
    logDeterminant += yield* logDeterminantOfGram(ofRows, n, k);
    // A row z times the root's transpose is z + (z Q') [(C - 1)' Q]; times the inverse's, z (1 - Q' Q) + (z Q') [C^-T
    // Q].
    const forth = new Float64Array(k * n);
    for (let i = 0; i < k; i++)
      for (let j = i; j < k; j++) {
        yield;
        const entry = root[j * k + i]! - (i === j ? 1 : 0);
        for (let at = 0; at < n; at++) forth[i * n + at]! += entry * rows[j * n + at]!;
      }
    const back = new Float64Array(rows);
    yield* solveLower(root, back, k, n, true);
    const spread = spreadOf(factor, deviations);
    const numbers = { factor, deviations, inverses, rows, forth, back };
    return (allocate) => new LowRankFactor(kept(numbers, allocate), logDeterminant, spread);
  }

  get width(): number {
    return this.n;
  }

  get rank(): number {
    return this.n;
  }

  get timings(): Timings | undefined {
    return this.#parts.factor.timings;
  }

  /** All storage; the timings of the first are those of the commit. */
  get storages(): readonly Storage[] {
    return Object.values(this.#parts);
  }

  sample(encoder: Encoder, mean: Real, out: Real, counter: Uint32Array, scratch: Scratch): void {
    encoder.fillNormal(out, counter);
    this.#place(encoder, mean, out, scratch);
  }

  transform(encoder: Encoder, mean: Real, input: Real, out: Real, scratch: Scratch): void {
    encoder.copy(input, out);
    this.#place(encoder, mean, out, scratch);
  }

  logDensity(encoder: Encoder, mean: Real, rows: Real, out: Real, constant: number, scratch: Scratch): void {
    const w = scratch.output(dtypeOf(rows), rows.length);
    encoder.copy(rows, w);
    encoder.addRow(w, mean, -1);
    encoder.scaleColumns(w, this.#values('inverses'));
    this.#shrink(encoder, w, 'rows', 'back', scratch);
    norms(encoder, w, out, this.n, constant, scratch);
  }

  solve(encoder: Encoder, rows: Real, scratch: Scratch): void {
    encoder.scaleColumns(rows, this.#values('inverses'));
    this.#shrink(encoder, rows, 'rows', 'back', scratch);
    this.#shrink(encoder, rows, 'back', 'rows', scratch);
    encoder.scaleColumns(rows, this.#values('inverses'));
  }

  variances(encoder: Encoder, out: Real, scratch: Scratch): void {
    const factor = this.#values('factor');
    const deviations = this.#values('deviations');
    const diagonal = scratch.copy(deviations, dtypeOf(out));
    encoder.scaleColumns(diagonal, deviations);
    encoder.squaredNorms(factor, out, factor.length / this.n);
    encoder.sum(out, diagonal, out);
  }

  covariance(encoder: Encoder, out: Real, scratch: Scratch): void {
    encodeCovariance(encoder, this.#values('factor'), this.#values('deviations'), out, scratch);
  }

  root(encoder: Encoder, out: Real, scratch: Scratch): void {
    this.covariance(encoder, out, scratch);
    encoder.cholesky(out, this.n, 'auto');
  }

  /**
   * {@link root} in float64, where the covariance that it is a factor of would lose digits of the smallest variances;
   * undefined elsewhere. Long work.
   */
  *exactRoot(): Work<Float64Array<ArrayBuffer> | undefined> {
    if (!losesDigits(this.#spread)) return undefined;
    return yield* lowRankRoot(this.#values('factor'), this.#values('deviations'));
  }

  /**
   * The lower Cholesky factor (m x m) of the covariance of m coordinates, in float64, from their rows of F and D alone:
   * nothing here has n x n numbers. Throws `ERR_OUT_OF_MEMORY`.
   */
  *rootAt(device: OpenBackend, places: readonly number[]): Tasks<Float64Array<ArrayBuffer>> {
    const m = places.length;
    const { k } = this.#size;
    const root = hostZeros(m * m);
    const [factor, deviations] = [new Float64Array(m * k), new Float64Array(m)];
    yield* inRows(m, k + 1, (from, to) => {
      const [allFactors, allDeviations] = [this.#values('factor'), this.#values('deviations')];
      for (let row = from; row < to; row++) {
        const place = places[row]!;
        for (let j = 0; j < k; j++) factor[row * k + j] = allFactors[place * k + j]!;
        deviations[row] = allDeviations[place]!;
      }
    });
    if (losesDigits(spreadOf(factor, deviations))) return yield* lowRankRoot(factor, deviations);
    yield* exactly(device, (encoder, scratch) => {
      encodeCovariance(encoder, factor, deviations, root, scratch);
      encoder.cholesky(root, m, 'auto');
    });
    return root;
  }

  /**
   * Copies of F (n x k) and of the square roots of D (n), in float64; undefined where a combination of F and D would
   * lose digits of the smallest variances, and {@link exactRoot} does not.
   */
  parts(): { readonly factor: Float64Array; readonly deviations: Float64Array } | undefined {
    if (losesDigits(this.#spread)) return undefined;
    return {
      factor: new Float64Array(this.#values('factor')),
      deviations: new Float64Array(this.#values('deviations')),
    };
  }

  *exact(): Work<LowRankFactor> {
    const diagonal = Float64Array.from(this.#values('deviations'), (deviation) => deviation * deviation);
    const make = yield* LowRankFactor.of(new Float64Array(this.#values('factor')), diagonal);
    return make(inMemory);
  }

  close(): void {
    for (const storage of this.storages) storage.close();
  }

  #place(encoder: Encoder, mean: Real, rows: Real, scratch: Scratch): void {
    const { n, k } = this.#size;
    this.#inBlocks(rows, 1, scratch, (block, count, [t]) => {
      // The product of one row sums in another order than that of several, and a draw has the same bits in any block.
      const isAlone = count === 1;
      const x = isAlone ? scratch.zeros(dtypeOf(rows), 2 * n) : block;
      const along = isAlone ? scratch.output(dtypeOf(rows), 2 * k) : t!;
      const many = isAlone ? 2 : count;
      if (isAlone) encoder.copy(block, x.subarray(0, n));
      // Each row x becomes x + (x Q') [(C - 1)' Q].
      encoder.product(x, this.#values('rows'), along, many, k, n, false, true, 1, 0);
      encoder.product(along, this.#values('forth'), x, many, n, k, false, false, 1, 1);
      if (isAlone) encoder.copy(x.subarray(0, n), block);
    });
    encoder.scaleColumns(rows, this.#values('deviations'));
    encoder.addRow(rows, mean, 1);
  }

  // Each row x becomes x (1 - Q' Q) + (x left') right. The part of x along Q may be longer than the result by the
  // spread, and each time that it is subtracted leaves a share of eps. C's part is added last.
  #shrink(encoder: Encoder, rows: Real, left: 'rows' | 'back', right: 'rows' | 'back', scratch: Scratch): void {
    const { n, k } = this.#size;
    const q = this.#values('rows');
    const bits = rows.BYTES_PER_ELEMENT === 4 ? 23 : 52;
    const times = Math.max(2, 1 + Math.ceil(this.#spread / bits));
    this.#inBlocks(rows, 2, scratch, (block, count, [t, u]) => {
      encoder.product(block, this.#values(left), t!, count, k, n, false, true, 1, 0);
      for (let time = 0; time < times; time++) {
        encoder.product(block, q, u!, count, k, n, false, true, 1, 0);
        encoder.product(u!, q, block, count, n, k, false, false, -1, 1);
      }
      encoder.product(t!, this.#values(right), block, count, n, k, false, false, 1, 1);
    });
  }

  /** Calls body for blocks of rows, with `arrays` arrays of k more numbers for each row. */
  #inBlocks(
    rows: Real,
    arrays: number,
    scratch: Scratch,
    body: (block: Real, count: number, beside: readonly Real[]) => void,
  ): void {
    const { n, k } = this.#size;
    const atOnce = Math.min(rows.length / n, rowsAtOnce(n, k));
    const beside = Array.from({ length: arrays }, () => scratch.output(dtypeOf(rows), atOnce * k));
    forRowBlocks(rows, n, atOnce, (block, count) => {
      const shortened = beside.map((each) => each.subarray(0, count * k));
      body(block, count, shortened);
    });
  }

  get #size(): { readonly n: number; readonly k: number } {
    return { n: this.n, k: this.#values('rows').length / this.n };
  }

  #values(part: keyof Parts): Real {
    return this.#parts[part].values as Real;
  }
}

/** How many bits the largest standard deviation of F F' + S^2 has before the smallest entry of S. */
function spreadOf(factor: Real, deviations: Real): number {
  const k = factor.length / deviations.length;
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (let i = 0; i < deviations.length; i++) {
    least = Math.min(least, deviations[i]!);
    most = Math.max(most, Math.hypot(deviations[i]!, ...factor.subarray(i * k, (i + 1) * k)));
  }
  return Math.log2(most) - Math.log2(least);
}

/** Whether a covariance of this spread loses digits of its smallest variances. */
function losesDigits(spread: number): boolean {
  return 2 * spread > lostBits;
}

/** out (n x n) = F F' + S^2, for F (n x k) and the n entries of the diagonal S. */
function encodeCovariance(encoder: Encoder, factor: Real, deviations: Real, out: Real, scratch: Scratch): void {
  const n = deviations.length;
  const diagonal = scratch.zeros(dtypeOf(out), n * n);
  deviations.forEach((deviation, i) => {
    diagonal[i * (n + 1)] = deviation * deviation;
  });
  encoder.copy(diagonal, out);
  encoder.product(factor, factor, out, n, n, factor.length / n, false, true, 1, 1);
}
