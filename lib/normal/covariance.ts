import { hostZeros } from '../array/host-memory.ts';
import { Matrix } from '../array/matrix.ts';
import { Storage } from '../array/storage.ts';
import type { Encoder } from '../backend.ts';
import { exactly } from '../command/float64.ts';
import type { Scratch } from '../command/scratch.ts';
import { resultTask, step, type Task, type Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { type Real, type RealDtype, smallestNormal, type Values } from '../dtype.ts';
import { DiagonalFactor } from '../factor/diagonal-factor.ts';
import type { Factor } from '../factor/factor.ts';
import { LowRankFactor } from '../factor/low-rank-factor.ts';
import type { Moments64 } from '../probability/box-probability.ts';
import { unitOf } from '../reference/svd.ts';
import { endsPiece, isSlice } from '../work.ts';
import { exactRoot } from './exact.ts';
import type { NormalParameters } from './parameters.ts';

/**
 * The covariance, n x n, times `ratio` (a Student-t's), or 'scale' for its scale. It fails with `ERR_OUT_OF_RANGE`
 * where the type of the distribution does not hold a variance.
 */
export function covarianceTask<D extends RealDtype>(
  parameters: NormalParameters<D>,
  ratio: number | 'scale' = 1,
): Task<Matrix<D>> {
  const { n, factor } = parameters;
  const task = rowsTask(parameters, n, (encoder, out, scratch) => factor.covariance(encoder, out, scratch));
  const { values } = task.written;
  return {
    ...task,
    again: () => smallAgain(values, parameters, n + 1, (exact, ...place) => exact.covariance(...place)),
    after: () => {
      if (ratio !== 'scale' && ratio !== 1) for (let i = 0; i < values.length; i++) values[i] = ratio * values[i]!;
      // No entry is larger than the larger of its two variances.
      requireHeldVariances(values, parameters, n + 1, ratio === 'scale');
    },
  };
}

/**
 * Whether a device may have flushed to 0 what counts in one of n variances, every `stride`th number: sums of products
 * that are less than the least normal number.
 */
export function hasSmall(values: Values, { n, dtype, factor }: NormalParameters, stride: number): boolean {
  if (factor instanceof DiagonalFactor) return false;
  for (let i = 0; i < n; i++) if (values[i * stride]! < leastExact[dtype]) return true;
  return false;
}

/** Computes variances, or with a stride of n + 1 the covariance, again in float64 if {@link hasSmall} says so. */
export function* smallAgain(
  values: Values,
  parameters: NormalParameters,
  stride: number,
  encode: Parameters<typeof inFloat64>[2],
): Tasks<void> {
  if (!hasSmall(values, parameters, stride)) return;
  if (parameters.dtype === 'float32') {
    values.set(yield* inFloat64(parameters, values.length, encode));
    return;
  }
  const { n } = parameters;
  const { products, units } = yield* inUnits(parameters);
  const step = stride === 1 ? n + 1 : 1;
  for (let at = 0; at < values.length; at++) {
    const entry = at * step;
    values[at] = products[entry]! * units[Math.floor(entry / n)]! * units[entry % n]!;
    if (isSlice(at)) yield;
  }
}

/**
 * The covariance (n x n) in float64, each coordinate in a unit in which its standard deviation is about 1, so that no
 * variance vanishes or overflows: entry (i, j) is that of `products` times `units[i] units[j]`, powers of two.
 */
export function* inUnits(
  parameters: NormalParameters,
): Tasks<{ readonly products: Float64Array; readonly units: Float64Array }> {
  const { root, n, width } = yield* exactRoot(parameters);
  const [rows, units, products] = [hostZeros(n * width), new Float64Array(n), hostZeros(n * n)];
  for (let i = 0; i < n; i++) {
    const row = root.subarray(i * width, (i + 1) * width);
    units[i] = unitOf(row, 0);
    for (let k = 0; k < width; k++) rows[i * width + k] = row[k]! / units[i]!;
    if (endsPiece(i, n)) yield;
  }
  if (width > 0)
    yield* exactly(parameters.device, (encoder) =>
      encoder.product(rows, rows, products, n, n, width, false, true, 1, 0),
    );
  return { products, units };
}

/**
 * The mean and the covariance of a normal, in float64, in units of the coordinates where float64 does not hold their
 * variances. They are computed from the factor, and so do not contain the rounding of a covariance in float32. Throws
 * `ERR_OUT_OF_MEMORY`: a diagonal of 10^5 numbers is small, its covariance is not.
 */
export function* exactMoments(parameters: NormalParameters): Tasks<Moments64> {
  const { n } = parameters;
  const mean = new Float64Array(parameters.mean.values);
  const covariance = yield* inFloat64(parameters, n * n, (exact, ...place) => exact.covariance(...place));
  for (let i = 0; i < n; i++) {
    const variance = covariance[i * (n + 1)]!;
    if (variance >= leastExact.float64 && variance < Number.POSITIVE_INFINITY) continue;
    const { products, units } = yield* inUnits(parameters);
    return { mean, covariance: products, units };
  }
  return { mean, covariance };
}

/** `length` numbers that the factor of a normal makes, in float64: it holds products of any two numbers of float32. */
function* inFloat64(
  { device, dtype, factor }: NormalParameters,
  length: number,
  encode: (exact: Factor, encoder: Encoder, out: Real, scratch: Scratch) => void,
): Tasks<Float64Array> {
  const out = hostZeros(length);
  const exact = dtype === 'float64' ? factor : yield* factor.exact();
  yield* exactly(device, (encoder, scratch) => encode(exact, encoder, out, scratch));
  return out;
}

// A sum of products, each of which may be flushed to 0, has all its digits from here on.
const leastExact = { float32: smallestNormal.float32 * 2 ** 24, float64: smallestNormal.float64 * 2 ** 53 };

/**
 * Throws `ERR_OUT_OF_RANGE` at the first of n variances, every `stride`th number, that the type of the distribution
 * does not hold, although it holds the factor. A Student-t's scale has other words.
 */
export function requireHeldVariances(
  values: Values,
  { n, dtype, factor }: NormalParameters,
  stride: number,
  isScale = false,
): void {
  const least = smallestNormal[dtype];
  for (let i = 0; i < n; i++) {
    const variance = values[i * stride]!;
    if (variance >= least && variance < Number.POSITIVE_INFINITY) continue;
    // Of a singular covariance.
    if (variance === 0 && factor.rank < n) continue;
    const way = dtype === 'float32' ? "make the distribution with `dtype: 'float64'`, or " : '';
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `${isScale ? `Entry (${i}, ${i}) of the scale` : `Variance (${i}) of the covariance`} is too ${variance < least ? 'small' : 'large'} for (${dtype}), although its factor is not: ${way}scale the coordinate.`,
    );
  }
}

/** The lower Cholesky factor of the covariance, n x n. If the covariance is singular, its root, n x rank. */
export function* factorMatrix<D extends RealDtype>(parameters: NormalParameters<D>): Tasks<Matrix<D>> {
  const { device, dtype, n, factor } = parameters;
  if (factor instanceof LowRankFactor) {
    const root = yield* factor.exactRoot();
    if (root !== undefined) {
      const values = dtype === 'float32' ? Float32Array.from(root) : root;
      return new Matrix(new Storage(values as unknown as Values<D>, undefined, device), n, n);
    }
  }
  // A root of rank 0 has one column, of zeros.
  const columns = Math.max(1, factor.rank);
  return yield* step(rowsTask(parameters, columns, (encoder, out, scratch) => factor.root(encoder, out, scratch)));
}

function rowsTask<D extends RealDtype>(
  { device, dtype, n }: Omit<NormalParameters<D>, 'factor'>,
  columns: number,
  encode: (encoder: Encoder, out: Real, scratch: Scratch) => void,
): Task<Matrix<D>> {
  return resultTask({ device, dtype }, n * columns, (written) => new Matrix(written, n, columns), encode);
}
