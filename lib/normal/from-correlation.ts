import { asMatrix, finiteNumbers, realDtype, vectorInput } from '../array/inputs.ts';
import { Matrix, type MatrixInput } from '../array/matrix.ts';
import { requireLength, requireSquare } from '../array/operand.ts';
import { Storage } from '../array/storage.ts';
import { Vector } from '../array/vector.ts';
import { requireDevice } from '../backend-handle.ts';
import { checkOptions, marked, notFinite } from '../check.ts';
import type { Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { fromCovariance } from './from-covariance.ts';
import { squareInput } from './inputs.ts';
import type { CorrelationOptions } from './options.ts';
import type { NormalParameters } from './parameters.ts';
import { requireRepresented } from './represented.ts';

/**
 * The normal of a mean, a correlation matrix and standard deviations. `square`, `centre` and `sizes` are what an error
 * calls them.
 */
export function* fromCorrelation(
  options: CorrelationOptions,
  square = 'Covariance',
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
  const deviations = finiteNumbers(sizes, given, given.length);
  const { values, n } = squareInput('Correlation', device, correlation, 'float64', undefined);
  requireLength(sizes, deviations.length, n, 'correlation');
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
  if (options.mean !== undefined) {
    const inputs = [options.mean, correlation, standardDeviations];
    const centres = vectorInput(centre, device, options.mean);
    requireRepresented({ asked: options.dtype, chosen: dtype, inputs }, centres, (i) => deviations[i]! ** 2, centre);
  }
  // A diagonal within rounding of one becomes exactly one, so that the variances are those that the caller passed.
  // Without a pause, in which the caller could change these inputs.
  const covariance = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    const own = deviations[i]!;
    for (let j = 0, at = i * n; j < n; j++, at++) covariance[at] = (i === j ? 1 : values[at]!) * own * deviations[j]!;
  }
  const product = new Matrix(new Storage(covariance), n, n);
  return yield* fromCovariance({ ...rest, dtype, covariance: product }, square, centre);
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
 * with ones on the diagonal. Throws `ERR_SHAPE`, `ERR_NOT_FINITE`, and `ERR_NOT_POSITIVE_DEFINITE` for a negative
 * variance, or a variance of 0 whose row has a nonzero covariance.
 */
export function correlationOf(covariance: MatrixInput): Correlation {
  const matrix = asMatrix(
    covariance,
    ArrayBuffer.isView(covariance) ? Math.sqrt(covariance.length) : undefined,
    'Covariance',
  );
  const n = requireSquare('Covariance', matrix);
  const values = finiteNumbers('Covariance', matrix.data, n);
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
    return deviations[i] === 0 || deviations[j] === 0 ? 0 : entry / deviations[i]! / deviations[j]!;
  };
  for (let i = 0, at = 0; i < n; i++) for (let j = 0; j < n; j++, at++) correlation[at] = shareOf(values[at]!, i, j);
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
