import { hostZeros } from '../array/host-memory.ts';
import { asMatrix, type Rows, realDtype, rowsInput } from '../array/inputs.ts';
import { Matrix, type MatrixInput } from '../array/matrix.ts';
import type { Encoder } from '../backend.ts';
import { requireDevice } from '../backend-handle.ts';
import { about, checkOptions, orElse, wholeNumber } from '../check.ts';
import { exactDevice, exactly } from '../command/float64.ts';
import { factorOn } from '../command/options.ts';
import type { Scratch } from '../command/scratch.ts';
import { step, type Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Device } from '../device.ts';
import { dtypeOf, type RealDtype, smallestNormal, type Values } from '../dtype.ts';
import { LowerFactor } from '../factor/lower-factor.ts';
import { accumulating } from '../moments/accumulate.ts';
import { withDrop } from '../moments/block.ts';
import type { CentralSums } from '../moments/central-sums.ts';
import { estimating } from '../moments/estimate.ts';
import { sumsOf } from '../moments/moments.ts';
import { requireShrinkage } from '../moments/shrinkage.ts';
import { fixedMean, weightedRows } from '../moments/weighted-rows.ts';
import { factorCovariance, fromCovariance, singularOption } from './from-covariance.ts';
import type { FitOptions, FromMomentsOptions } from './options.ts';
import { factoredNormal, type NormalParameters, type NormalTask } from './parameters.ts';
import { requireRepresented } from './represented.ts';
import { singularColumn, singularRows, unheldColumn } from './singular-rows.ts';
import { withRank } from './with-rank.ts';

const momentOptions = ['device', 'dtype', 'factor', 'ddof', 'mean', 'shrinkage', 'singular', 'jitter'];
const rowOptions = ['rows', 'weights', 'frequencies', 'missing'];

/**
 * The normal of rows. A plain fit takes one commit on the device; a fit with other options first computes the moments
 * of the rows.
 */
export function* fit(options: FitOptions): Tasks<NormalParameters> {
  try {
    return yield* fitted(options);
  } catch (error) {
    throw error instanceof CovariumError ? withDrop(error) : error;
  }
}

function* fitted(options: FitOptions): Tasks<NormalParameters> {
  checkOptions(options, [...momentOptions, ...rowOptions]);
  const { device, rows, ddof, factor, weights, frequencies, missing, mean, shrinkage, singular, jitter } = options;
  const dtype = realDtype(requireDevice(device), options.dtype, rows, options.mean);
  const isOfRowsAlone = weights === undefined && frequencies === undefined && missing === undefined;
  const isShrunkAlone = isOfRowsAlone && mean === undefined && singular === undefined && jitter === undefined;
  const isPlain = isShrunkAlone && shrinkage === undefined;
  const plainly = () => step(fitPlainly({ device, rows, ddof, dtype, factor }));
  if (isPlain && dtype === 'float64') return yield* plainly();
  const { values, count, n } = observations(device, rows);
  // Numbers of another type would lose digits as float32 before the mean is subtracted, and far from 0 all of them.
  if (isPlain && dtypeOf(values) === 'float32') return yield* plainly();
  if (isPlain) plainDdof(ddof, count, n);
  if (isShrunkAlone && (dtypeOf(values) === 'float64' || dtypeOf(values) === 'float32')) {
    const shrunk = yield* fitShrunk(options, dtype, values, n);
    if (shrunk !== undefined) return shrunk;
  }
  const exact = exactDevice(device);
  const explain = (error: CovariumError) => singularRows(values, n, dtype, error);
  const unheld = (column: number) => unheldColumn(values, n, 'float64', column);
  const own = { device, ddof, dtype, factor, mean, shrinkage, singular, jitter, explain, unheld };
  const asked = { ...own, typed: options.dtype, inputs: [rows, mean], name: 'rows' };
  requireAsked(asked, n);
  const weighted = weightedRows(values, n, { weights, frequencies, missing });
  const sums = yield* accumulating(exact, weighted, { higher: shrinkage === 'ledoit-wolf' });
  if (sums.count === 0 && count > 0) throw new CovariumError('ERR_SHAPE', noRows(weights, frequencies));
  return yield* fromSums(sums, asked);
}

function noRows(weights: unknown, frequencies: unknown): string {
  const [name] = Object.entries({ weights, frequencies }).find(([, value]) => value !== undefined) ?? [];
  return name === undefined
    ? '`rows` has a missing number in each row: none is left.'
    : `\`${name}\` leaves (0) rows: pass some above 0.`;
}

/** The normal with these moments. */
export function* fromMoments(options: FromMomentsOptions): Tasks<NormalParameters> {
  checkOptions(options, [...momentOptions, 'moments']);
  const { moments, ...asked } = options;
  const sums = sumsOf('moments', moments);
  const dtype = realDtype(requireDevice(asked.device), asked.dtype, asked.mean);
  requireAsked(asked, sums.n);
  // Rows that are added between two slices replace the sums of the moments, and do not change these.
  const explain = (error: CovariumError) => singularColumn('moments', error);
  const own = { typed: asked.dtype, inputs: [asked.mean], name: 'moments', explain };
  return yield* fromSums(sums, { ...asked, dtype, ...own });
}

type Asked = Omit<FromMomentsOptions, 'moments'>;

// Refuses what can be refused before the long work.
function requireAsked(asked: Asked, n: number): void {
  const { factor, mean, shrinkage } = asked;
  factorOn(factor);
  fixedMean(mean, n);
  singularOption(asked);
  if (shrinkage !== undefined) requireShrinkage(shrinkage);
}

function* fromSums(
  sums: CentralSums,
  asked: Asked & {
    readonly dtype: RealDtype;
    readonly typed: RealDtype | undefined;
    readonly inputs: readonly unknown[];
    /** The argument that has the numbers. */
    readonly name: string;
    /** What an error of the factor says of it. */
    readonly explain: (error: CovariumError) => CovariumError;
    /** The error of a column whose squares float64 does not hold. */
    readonly unheld?: (column: number) => CovariumError | undefined;
  },
): Tasks<NormalParameters> {
  const { device, dtype, factor, ddof, shrinkage, singular, jitter, name, explain } = asked;
  const { n, count } = sums;
  const fixed = fixedMean(asked.mean, n);
  const { mean, covariance, intensity } = yield* estimating(sums, { ddof, mean: fixed, shrinkage });
  yield;
  // With an estimated mean, the rank of a covariance is at most count - 1, even if rounding makes its last pivots
  // positive.
  const needed = fixed === undefined ? n + 1 : n;
  const isAnyAccepted = singularOption(asked) !== 'error' || (jitter ?? false) !== false;
  if (intensity === 0 && count < needed && !isAnyAccepted) {
    const share = shrinkage === 'ledoit-wolf' ? 'whose Ledoit-Wolf shrinkage comes out as (0)' : 'without shrinkage';
    throw new CovariumError(
      'ERR_SHAPE',
      `\`${name}\` has (${count}) rows with a weight, but a normal of dimension (${n}) ${share} needs at least (${needed}).`,
    );
  }
  // What accepts a singular covariance would take a variance that underflows for that of a constant column, and what
  // refuses it would name the covariance, which the caller has not passed.
  for (let i = 0; i < n; i++) {
    const error = covariance[i * (n + 1)]! < smallestNormal.float64 ? asked.unheld?.(i) : undefined;
    if (error !== undefined) throw error;
  }
  if (jitter !== undefined && jitter !== false && covariance.every((entry) => entry === 0))
    throw new CovariumError(
      'ERR_NOT_POSITIVE_DEFINITE',
      `\`${name}\` has the same numbers in all rows, and \`jitter\` adds a share of their largest variance (0): pass \`singular\`.`,
      { pivot: 0 },
    );
  const type = { asked: asked.typed, chosen: dtype, inputs: asked.inputs };
  requireRepresented(type, mean, (i) => covariance[i * (n + 1)]!, 'Mean');
  const estimate = { device, mean, covariance: Matrix.from(covariance, { columns: n }), dtype, factor };
  if (isAnyAccepted) return yield* fromCovariance({ ...estimate, singular, jitter }, undefined, undefined, true);
  return yield* step({ ...withRank(factorCovariance(estimate)), explain });
}

/** Observations, as rows. Throws `ERR_SHAPE` for a flat array too: whether it is a row or a column, it does not say. */
function observations(device: Device, rows: MatrixInput): Rows {
  if (Array.isArray(rows) && typeof rows[0] === 'number') asMatrix(rows, undefined, 'Data');
  return rowsInput('Data', requireDevice(device), rows);
}

function fitPlainly(options: Pick<FitOptions, 'device' | 'rows' | 'ddof' | 'dtype' | 'factor'>): NormalTask {
  const device = requireDevice(options.device);
  const dtype = realDtype(device, options.dtype);
  const where = factorOn(options.factor);
  const { values, count, n } = observations(options.device, options.rows);
  const ddof = plainDdof(options.ddof, count, n);
  const task = factoredNormal({ device, dtype, n }, LowerFactor, (encoder, factor, mean, scratch) => {
    const rows = scratch.input(values, dtype);
    encoder.requireFinite(rows, n);
    encoder.meanAndCovariance(rows, mean, factor, ddof);
    encoder.cholesky(factor, n, where);
  });
  const explain = (error: CovariumError) =>
    error.code === 'ERR_NOT_FINITE' ? about('Data', error) : singularRows(values, n, dtype, error);
  return { ...withRank(task), explain };
}

/**
 * A fit with a given shrinkage or none, and no other options, by the device's mean and covariance in float64. Undefined
 * for what the way by moments does or refuses: Ledoit and Wolf's share, too few rows, a ddof or numbers that are too
 * large.
 */
function* fitShrunk(
  { device, factor, ddof = 1, shrinkage = 0, rows: given, dtype: typed }: FitOptions,
  dtype: RealDtype,
  values: Values,
  n: number,
): Tasks<NormalParameters | undefined> {
  const count = values.length / n;
  const isSimple = typeof shrinkage === 'number' && shrinkage >= 0 && shrinkage <= 1 && (shrinkage > 0 || count > n);
  if (!(isSimple && Number.isInteger(ddof) && ddof >= 0 && ddof < count)) return undefined;
  factorOn(factor);
  const [mean, covariance] = [new Float64Array(n), hostZeros(n * n)];
  const encode = (encoder: Encoder, scratch: Scratch) => {
    const rows = scratch.input(values, 'float64');
    encoder.requireFinite(rows, n);
    encoder.meanAndCovariance(rows, mean, covariance, ddof);
  };
  yield* exactly(device, encode, 'Data');
  let trace = 0;
  for (let i = 0; i < n; i++) trace += covariance[i * (n + 1)]!;
  if (!Number.isFinite(trace)) return undefined;
  for (let at = 0; at < covariance.length; at++) covariance[at]! *= 1 - shrinkage;
  for (let i = 0; i < n; i++) covariance[i * (n + 1)]! += (shrinkage * trace) / n;
  yield;
  requireRepresented({ asked: typed, chosen: dtype, inputs: [given] }, mean, (i) => covariance[i * (n + 1)]!, 'Mean');
  const matrix = Matrix.from(covariance, { columns: n });
  const made = factorCovariance({ device, mean, covariance: matrix, dtype, factor });
  return yield* step({ ...withRank(made), explain: (error) => singularRows(values, n, dtype, error) });
}

/** The ddof of a plain fit; throws if there are too few rows. */
function plainDdof(ddof: number | undefined, count: number, n: number): number {
  // The rank of a covariance is at most count - 1, even if rounding makes its last pivots positive.
  if (count < n + 1)
    throw new CovariumError(
      'ERR_SHAPE',
      `\`rows\` has (${count}) rows, but a normal of dimension (${n}) needs at least (${n + 1}).`,
    );
  return wholeNumber('ddof', orElse(ddof, 1), 0, count - 1);
}
