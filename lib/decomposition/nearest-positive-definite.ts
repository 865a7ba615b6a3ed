import { finiteNumbers, squareMatrix } from '../array/inputs.ts';
import { Matrix, type MatrixInput } from '../array/matrix.ts';
import { requireSquare } from '../array/operand.ts';
import { Storage } from '../array/storage.ts';
import type { OpenBackend } from '../backend-handle.ts';
import { type AbortOptions, checkOptions, firstNotFinite, oneOf, orElse, requireBoolean } from '../check.ts';
import { runWith } from '../command/abort.ts';
import { exactDevice, exactly, symmetricEigen } from '../command/float64.ts';
import { runAllSync, type Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { type Real, type RealDtype, smallestNormal, zerosOf } from '../dtype.ts';

/** Options of {@link nearestPositiveDefinite}. */
export interface NearestOptions<D extends RealDtype = RealDtype> {
  /** Where it is computed; by default, and where the device has no float64, in plain TypeScript. */
  readonly device?: OpenBackend | undefined;
  /** Whether the result has ones on its diagonal; false by default. */
  readonly correlation?: boolean | undefined;
  /** Type of the result, `float64` by default: a positive definite matrix of float32 needs larger eigenvalues. */
  readonly dtype?: D | undefined;
}

const steps = 1000;
// The change of a step, relative to the matrix. Higham takes n times the unit roundoff at best, R's nearPD 1e-7.
const converged = 1e-10;
// Beside larger entries rounding leaves fewer digits of a correlation than its least eigenvalue has.
const largestEntry = 1e8;

/**
 * The positive definite matrix (n x n) that is nearest to a matrix in the Frobenius norm. It is computed from the
 * symmetric part, whose negative eigenvalues become 0 (Higham: Computing a nearest symmetric positive semidefinite
 * matrix. Linear Algebra and its Applications 103, 1988). With `correlation`, it is the nearest correlation matrix, by
 * alternating projections with Dykstra's correction (Higham: Computing the nearest correlation matrix. IMA Journal of
 * Numerical Analysis 22, 2002); the matrix's own diagonal then does not matter. The nearest matrix is singular. So that
 * the result has a Cholesky factor, eigenvalues below 1e-8 (float32: 1e-5) of the matrix's largest entry (of 1 for
 * correlations) are raised to that bound, and the diagonal is kept. Rejects with `ERR_SHAPE`, `ERR_NOT_FINITE`,
 * `ERR_OUT_OF_RANGE` (only zeros, a result beyond the type, entries above 1e8 beside correlations, or no convergence in
 * 1,000 steps), `ERR_CLOSED` (the device).
 *
 * ```ts
 * import { nearestPositiveDefinite } from 'covarium';
 *
 * const estimated = [[1, 1, 0], [1, 1, 1], [0, 1, 1]]; // not positive semidefinite
 * const correlation = await nearestPositiveDefinite(estimated, { correlation: true }); // 3 x 3, ones on its diagonal
 * ```
 */
export async function nearestPositiveDefinite<D extends RealDtype = 'float64'>(
  matrix: MatrixInput,
  options: NearestOptions<D> & AbortOptions = {},
): Promise<Matrix<NoInfer<D>>> {
  return runWith(options, (rest: NearestOptions<D>) => nearest(matrix, rest));
}

/** Synchronous twin of {@link nearestPositiveDefinite}. */
export function nearestPositiveDefiniteSync<D extends RealDtype = 'float64'>(
  matrix: MatrixInput,
  options: NearestOptions<D> = {},
): Matrix<NoInfer<D>> {
  return runAllSync(nearest(matrix, options));
}

function* nearest<D extends RealDtype>(matrix: MatrixInput, options: NearestOptions<D>): Tasks<Matrix<D>> {
  checkOptions(options, ['device', 'correlation', 'dtype']);
  const { device } = options;
  exactDevice(device);
  const dtype = oneOf('dtype', orElse<RealDtype>(options.dtype, 'float64'), ['float32', 'float64']) as D;
  const given = squareMatrix('Matrix', matrix);
  const n = requireSquare('Matrix', given);
  const values = finiteNumbers('Matrix', given.data, n);
  const unit = requireBoolean('correlation', orElse(options.correlation, false));
  // The products of eigenvectors overflow beside the largest numbers, and vanish beside the smallest.
  const scale = unit ? 1 : powerNear(values);
  const symmetric = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) symmetric[i * n + j] = values[i * n + j]! / scale / 2 + values[j * n + i]! / scale / 2;
  if (unit) asCorrelations(symmetric, n);
  yield;
  const found = unit ? yield* nearestCorrelation(device, symmetric, n) : yield* projected(device, symmetric, n, 0);
  // Of the matrix, not of the nearest, which may be all zeros; correlations have ones, whatever was given.
  let size = 0;
  for (let at = 0; at < symmetric.length; at++) size = Math.max(size, Math.abs(symmetric[at]!));
  yield;
  if (size === 0 && !unit)
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `\`matrix\` of (${n} x ${n}) zeros has no nearest positive definite matrix.`,
    );
  const least = (dtype === 'float32' ? 1e-5 : 1e-8) * (unit ? 1 : Math.max(size, found[0]!));
  const result = zerosOf(dtype, n * n);
  const entries = yield* raised(device, found, n, least, unit);
  for (let at = 0; at < entries.length; at++) entries[at]! *= scale;
  (result as Real).set(entries);
  if (firstNotFinite(result as Float64Array) < result.length)
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `\`matrix\` has entries that are too large for a nearest positive definite matrix of ${dtype}.`,
    );
  for (let i = 0; i < n; i++)
    if (result[i * (n + 1)]! < smallestNormal[dtype])
      throw new CovariumError(
        'ERR_OUT_OF_RANGE',
        `\`matrix\` has a nearest positive definite matrix whose variance (${i}) is (${entries[i * (n + 1)]}), too small for ${dtype}.`,
      );
  return new Matrix(new Storage(result), n, n);
}

/**
 * Puts ones on the diagonal, as every correlation matrix has: the nearest one is that of the other entries alone, and
 * the search would take its first steps from a negative diagonal, which change nothing, for its end. Throws
 * `ERR_OUT_OF_RANGE` for an entry that is too large.
 */
function asCorrelations(symmetric: Float64Array, n: number): void {
  for (let i = 0; i < n; i++) symmetric[i * (n + 1)] = 1;
  const far = symmetric.findIndex((entry) => Math.abs(entry) > largestEntry);
  if (far < 0) return;
  throw new CovariumError(
    'ERR_OUT_OF_RANGE',
    `\`matrix\` entry (${Math.floor(far / n)}, ${far % n}) is (${symmetric[far]}), beyond (${largestEntry}): no correlation is near. Pass correlations, as \`correlationOf\` gives them.`,
  );
}

/** The power of two next to the largest magnitude; 1 if all numbers are 0. */
function powerNear(values: Float64Array): number {
  let largest = 0;
  for (let at = 0; at < values.length; at++) largest = Math.max(largest, Math.abs(values[at]!));
  return largest === 0 ? 1 : 2 ** Math.max(-1022, Math.floor(Math.log2(largest)));
}

function* nearestCorrelation(
  device: OpenBackend | undefined,
  symmetric: Float64Array,
  n: number,
): Tasks<Float64Array<ArrayBuffer>> {
  let y = new Float64Array(symmetric);
  const correction = new Float64Array(n * n);
  for (let step = 0; step < steps; step++) {
    const before = y;
    const r = new Float64Array(n * n);
    for (let at = 0; at < r.length; at++) r[at] = before[at]! - correction[at]!;
    y = yield* projected(device, r, n, 0);
    yield;
    for (let at = 0; at < r.length; at++) correction[at] = y[at]! - r[at]!;
    yield;
    for (let i = 0; i < n; i++) y[i * (n + 1)] = 1;
    let [change, size] = [0, 0];
    for (let at = 0; at < r.length; at++) {
      change = Math.max(change, Math.abs(y[at]! - before[at]!));
      size = Math.max(size, Math.abs(y[at]!));
    }
    if (change <= converged * size) return y;
    yield;
  }
  throw new CovariumError('ERR_OUT_OF_RANGE', `\`matrix\` has no nearest correlation matrix within (${steps}) steps.`);
}

// V diag(max(values, least)) V'.
function* projected(
  device: OpenBackend | undefined,
  symmetric: Float64Array,
  n: number,
  least: number,
): Tasks<Float64Array<ArrayBuffer>> {
  const [vectors, values] = [new Float64Array(symmetric), new Float64Array(n)];
  yield* symmetricEigen(device, vectors, values, n);
  if (values[0]! >= least) return new Float64Array(symmetric);
  for (let k = 0; k < n; k++) {
    const length = Math.sqrt(Math.max(values[k]!, least));
    for (let i = k * n; i < (k + 1) * n; i++) vectors[i]! *= length;
  }
  yield;
  const result = new Float64Array(n * n);
  yield* exactly(device, (encoder) => encoder.product(vectors, vectors, result, n, n, n, true, false, 1, 0));
  // A library need not sum both triangles alike.
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) result[j * n + i] = result[i * n + j]!;
  return result;
}

// As R's nearPD does it: eigenvalues are raised, then rows and columns are scaled back to the diagonal that was.
function* raised(
  device: OpenBackend | undefined,
  nearest: Float64Array,
  n: number,
  least: number,
  unit: boolean,
): Tasks<Float64Array> {
  const result = yield* projected(device, nearest, n, least);
  const scale = Float64Array.from({ length: n }, (_, i) => {
    const was = unit ? 1 : nearest[i * (n + 1)]!;
    const is = result[i * (n + 1)]!;
    return was > 0 && is > 0 ? Math.sqrt(was / is) : 1;
  });
  yield;
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) result[i * n + j]! *= scale[i]! * scale[j]!;
  yield;
  if (unit) for (let i = 0; i < n; i++) result[i * (n + 1)] = 1;
  return result;
}
