import { finiteNumbers, realDtype, squareMatrix, vectorInput } from '../array/inputs.ts';
import { Matrix, type MatrixInput } from '../array/matrix.ts';
import { requireLength, requireSquare } from '../array/operand.ts';
import { Storage } from '../array/storage.ts';
import { Vector } from '../array/vector.ts';
import { requireDevice } from '../backend-handle.ts';
import { about, checkOptions, marked, named, notFinite } from '../check.ts';
import type { Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { dtypeOf, type RealDtype, smallestNormal } from '../dtype.ts';
import { requireSymmetric } from '../reference/symmetry.ts';
import { runToEnd } from '../work.ts';
import { fromCovariance } from './from-covariance.ts';
import { meanInput, squareInput, symmetryTolerance } from './inputs.ts';
import type { CorrelationOptions } from './options.ts';
import type { NormalParameters } from './parameters.ts';
import { requireRepresented } from './represented.ts';

/**
 * The normal of a mean, a correlation matrix and standard deviations. `centre` and `sizes` are what an error calls the
 * first and the last.
 */
export function* fromCorrelation(
  options: CorrelationOptions,
  centre = 'Mean',
  sizes = 'Standard deviations',
): Tasks<NormalParameters> {
  checkOptions(options, [
    ...['device', 'mean', 'correlation', 'standardDeviations'],
    ...['dtype', 'symmetryTolerance', 'factor', 'singular', 'jitter'],
  ]);
  const { correlation, standardDeviations, ...rest } = options;
  const device = requireDevice(options.device);
  const dtype = realDtype(device, options.dtype, options.mean, correlation, standardDeviations);
  const given = vectorInput(sizes, device, standardDeviations);
  const deviations = finiteNumbers(sizes, given);
  const { values, n } = squareInput('Correlation', device, correlation, 'float64');
  requireLength(sizes, deviations.length, n, '`correlation`', 'columns');
  requireUnits(values, n, dtype === 'float64' ? 1e-9 : 1e-5);
  const mayBeZero = options.singular === 'pivoted' || options.singular === 'eigen';
  deviations.forEach((deviation, i) => {
    if (deviation > 0 || (deviation === 0 && mayBeZero)) return;
    throw new CovariumError(
      'ERR_NOT_POSITIVE_DEFINITE',
      `${marked(sizes)} entry (${i}) is (${deviation}), not positive.`,
      {
        pivot: i,
      },
    );
  });
  requireHeldVariances(sizes, deviations, dtype);
  if (options.mean !== undefined) {
    const inputs = [options.mean, correlation, standardDeviations];
    const centres = meanInput(device, options.mean, 'float64', undefined, centre);
    requireLength(centre, centres.length, n, '`correlation`', 'columns');
    requireRepresented({ asked: options.dtype, chosen: dtype, inputs }, centres, (i) => deviations[i]! ** 2, centre);
  }
  // A diagonal within rounding of one becomes exactly one, so that the variances are those that the caller passed.
  // Copies, which the caller cannot change in a pause.
  const covariance = new Float64Array(values);
  const mean = options.mean === undefined ? undefined : vectorInput(centre, device, options.mean).slice();
  try {
    // Before the entries are multiplied: an error shows them as the caller wrote them.
    yield* requireSymmetric(covariance, n, symmetryTolerance(dtype, options.symmetryTolerance));
    for (let i = 0; i < n; i++) {
      const own = deviations[i]!;
      for (let j = 0, at = i * n; j < n; j++, at++)
        covariance[at] = (i === j ? 1 : covariance[at]!) * own * deviations[j]!;
    }
    const product = new Matrix(new Storage(covariance), n, n);
    return yield* fromCovariance({ ...rest, mean, dtype, covariance: product }, 'Correlation', centre);
  } catch (error) {
    throw error instanceof CovariumError ? about('Correlation', ofCorrelation(error)) : error;
  }
}

// The pivots of the covariance are those of the correlation, but of another size.
function ofCorrelation(error: CovariumError): CovariumError {
  if (error.code !== 'ERR_NOT_POSITIVE_DEFINITE') return error;
  const message = error.message.replace(/(pivot \(\d+\) is) \(.*?\)/, '$1 not positive');
  return new CovariumError(error.code, message, {
    ...(error.pivot !== undefined && { pivot: error.pivot }),
    cause: error,
  });
}

// Squares that a device takes for 0 or infinity.
function requireHeldVariances(sizes: string, deviations: Float64Array, dtype: RealDtype): void {
  deviations.forEach((deviation, i) => {
    const square = dtype === 'float32' ? Math.fround(deviation * deviation) : deviation * deviation;
    if (deviation === 0 || (square >= smallestNormal[dtype] && square < Number.POSITIVE_INFINITY)) return;
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `${marked(sizes)} entry (${i}) is (${deviation}), whose square (${dtype}) does not hold. Pass it in another unit.`,
      { row: 0, column: i },
    );
  });
}

/** A covariance as a correlation matrix and standard deviations. */
export interface Correlation {
  /** n x n, float64; the correlation of a variable of zero variance with any other is 0. */
  readonly correlation: Matrix<'float64'>;
  /** n, float64. */
  readonly standardDeviations: Vector<'float64'>;
}

/**
 * The correlation matrix and the standard deviations (n) of a covariance (n x n), in float64: c_ij / sqrt(c_ii c_jj),
 * with ones on the diagonal. Throws `ERR_SHAPE`, `ERR_NOT_FINITE`, `ERR_NOT_SYMMETRIC`, and `ERR_NOT_POSITIVE_DEFINITE`
 * for a negative variance, a variance of 0 whose row has a nonzero covariance, or a correlation beyond 1.
 */
export function correlationOf(covariance: MatrixInput): Correlation {
  const matrix = squareMatrix('Covariance', covariance);
  const n = requireSquare('Covariance', matrix);
  const values = finiteNumbers('Covariance', matrix.data, n);
  const tolerance = symmetryTolerance(dtypeOf(matrix.data) === 'float32' ? 'float32' : 'float64');
  named('Covariance', () => runToEnd(requireSymmetric(values, n, tolerance)));
  const deviations = Float64Array.from({ length: n }, (_, i) => {
    const variance = values[i * (n + 1)]!;
    if (variance >= 0) return Math.sqrt(variance);
    throw new CovariumError(
      'ERR_NOT_POSITIVE_DEFINITE',
      `\`covariance\` entry (${i}, ${i}) is (${variance}), a negative variance.`,
      { pivot: i },
    );
  });
  const correlation = new Float64Array(n * n);
  const shareOf = (entry: number, i: number, j: number) => {
    if (i === j) return 1;
    if (entry !== 0 && (deviations[i] === 0 || deviations[j] === 0))
      throw new CovariumError(
        'ERR_NOT_POSITIVE_DEFINITE',
        `\`covariance\` entry (${i}, ${j}) is (${entry}), but one of the two variances is 0.`,
        { pivot: deviations[i] === 0 ? i : j },
      );
    // Divided in two steps: the product of two small deviations underflows.
    // In one order, and of the lower triangle, so that the two entries of a pair are equal.
    const [first, second] = [deviations[Math.max(i, j)]!, deviations[Math.min(i, j)]!];
    const share = first === 0 || second === 0 ? 0 : entry / first / second;
    // Rounding takes the share of two equal variables a last digit beyond 1.
    if (Math.abs(share) <= 1 + tolerance) return Math.max(-1, Math.min(share, 1));
    throw new CovariumError(
      'ERR_NOT_POSITIVE_DEFINITE',
      `\`covariance\` entry (${i}, ${j}) is (${entry}), a correlation of (${share}), which is beyond 1.`,
      { pivot: Math.max(i, j) },
    );
  };
  for (let i = 0, at = 0; i < n; i++)
    for (let j = 0; j < n; j++, at++) correlation[at] = shareOf(values[Math.max(i, j) * n + Math.min(i, j)]!, i, j);
  return {
    correlation: new Matrix(new Storage<'float64'>(correlation), n, n),
    standardDeviations: new Vector(new Storage<'float64'>(deviations)),
  };
}

function requireUnits(correlation: ArrayLike<number>, n: number, tolerance: number): void {
  for (let i = 0; i < n; i++) {
    const entry = correlation[i * (n + 1)]!;
    if (Math.abs(entry - 1) <= tolerance) continue;
    const place = { row: i, column: i };
    if (!Number.isFinite(entry)) throw notFinite('Correlation', `${i}, ${i}`, entry, place);
    throw new CovariumError('ERR_OUT_OF_RANGE', `\`correlation\` entry (${i}, ${i}) is (${entry}), not 1.`);
  }
}
