import { asMatrix, finiteNumbers } from '../array/inputs.ts';
import { Matrix, type MatrixInput } from '../array/matrix.ts';
import { requireSquare } from '../array/operand.ts';
import { Storage } from '../array/storage.ts';
import { checkOptions } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { type RealDtype, requireDtype, zerosOf } from '../dtype.ts';
import { eigenDecomposition } from './eigen-decomposition.ts';

/** What {@link nearestPositiveDefinite} takes. */
export interface NearestOptions {
  /** Whether the result has ones on its diagonal; false by default. */
  readonly correlation?: boolean | undefined;
  /** Type of the result, `float64` by default: a positive definite matrix of float32 needs larger eigenvalues. */
  readonly dtype?: RealDtype | undefined;
}

const steps = 1000;
// The change of a step, relative to the matrix. Higham takes n times the unit roundoff at best, R's nearPD 1e-7.
const converged = 1e-10;

/**
 * The positive definite matrix (n x n) nearest to a matrix by the Frobenius norm of their difference: of its symmetric
 * part, with negative eigenvalues put to zero (Higham: Computing a nearest symmetric positive semidefinite matrix.
 * Linear Algebra and its Applications 103, 1988). With `correlation`, the nearest correlation matrix, by alternating
 * projections with Dykstra's correction (Higham: Computing the nearest correlation matrix. IMA Journal of Numerical
 * Analysis 22, 2002). The nearest is singular; so that there is a Cholesky factor, eigenvalues below 1e-8 (float32:
 * 1e-5) of the matrix's largest entry are raised to it, and the diagonal is kept. Computed on the host: for n in the
 * hundreds. Throws `ERR_SHAPE`, `ERR_NOT_FINITE`, `ERR_OUT_OF_RANGE` (only zeros, or no convergence in 1,000 steps).
 */
export function nearestPositiveDefinite(matrix: MatrixInput, options: NearestOptions = {}): Matrix {
  checkOptions(options, ['correlation', 'dtype']);
  const dtype = requireDtype(options.dtype ?? 'float64');
  const given = asMatrix(matrix, ArrayBuffer.isView(matrix) ? Math.sqrt(matrix.length) : undefined);
  const n = requireSquare('Matrix', given);
  const values = finiteNumbers('Matrix', given.data, n);
  const symmetric = values.map((entry, at) => (entry + values[(at % n) * n + Math.floor(at / n)]!) / 2);
  const nearest = options.correlation === true ? nearestCorrelation(symmetric, n) : projected(symmetric, n, 0);
  // Of the matrix, not of the nearest, which may be all zeros.
  const size = symmetric.reduce((most, entry) => Math.max(most, Math.abs(entry)), 0);
  if (size === 0 && options.correlation !== true)
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `Matrix of (${n} x ${n}) zeros has no nearest positive definite matrix.`,
    );
  const least = (dtype === 'float32' ? 1e-5 : 1e-8) * Math.max(size, nearest[0]!);
  const result = zerosOf(dtype, n * n);
  result.set(raised(nearest, n, least, options.correlation === true));
  return new Matrix(new Storage(result), n, n);
}

function nearestCorrelation(symmetric: Float64Array, n: number): Float64Array<ArrayBuffer> {
  let y = Float64Array.from(symmetric);
  let correction = new Float64Array(n * n);
  for (let step = 0; step < steps; step++) {
    const before = y;
    const r = y.map((entry, at) => entry - correction[at]!);
    const x = projected(r, n, 0);
    correction = x.map((entry, at) => entry - r[at]!);
    y = x.map((entry, at) => (at % (n + 1) === 0 ? 1 : entry));
    let [change, size] = [0, 0];
    for (let at = 0; at < y.length; at++) {
      change = Math.max(change, Math.abs(y[at]! - before[at]!));
      size = Math.max(size, Math.abs(y[at]!));
    }
    if (change <= converged * size) return y;
  }
  throw new CovariumError('ERR_OUT_OF_RANGE', `Matrix has no nearest correlation matrix within (${steps}) steps.`);
}

// V diag(max(values, least)) V'.
function projected(symmetric: Float64Array, n: number, least: number): Float64Array<ArrayBuffer> {
  const { values, vectors } = eigenDecomposition(symmetric, n);
  const result = new Float64Array(n * n);
  for (let k = 0; k < n; k++) {
    const value = Math.max(values[k]!, least);
    if (value === 0) continue;
    for (let i = 0; i < n; i++)
      for (let j = 0; j <= i; j++) result[i * n + j]! += value * vectors[k * n + i]! * vectors[k * n + j]!;
  }
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) result[j * n + i] = result[i * n + j]!;
  return result;
}

// As R's nearPD does it: eigenvalues are raised, then rows and columns are scaled back to the diagonal that was.
function raised(nearest: Float64Array, n: number, least: number, unit: boolean): Float64Array {
  const result = projected(nearest, n, least);
  const scale = Float64Array.from({ length: n }, (_, i) => {
    const was = unit ? 1 : nearest[i * (n + 1)]!;
    const is = result[i * (n + 1)]!;
    return was > 0 && is > 0 ? Math.sqrt(was / is) : 1;
  });
  for (let at = 0; at < result.length; at++) result[at]! *= scale[Math.floor(at / n)]! * scale[at % n]!;
  if (unit) for (let i = 0; i < n; i++) result[i * (n + 1)] = 1;
  return result;
}
