import { aboutRows, type RowsInput, rowsInput, rowsOperand } from '../array/inputs.ts';
import { Matrix } from '../array/matrix.ts';
import type { Storage } from '../array/storage.ts';
import { Vector } from '../array/vector.ts';
import type { Encoder } from '../backend.ts';
import { areFinite } from '../check.ts';
import { Search } from '../command/search.ts';
import { resultTask, type Task, type Tasks } from '../command/task.ts';
import type { Real, RealDtype, Values } from '../dtype.ts';
import type { Factor } from '../factor/factor.ts';
import { RootFactor } from '../factor/root-factor.ts';
import { inPieces } from '../work.ts';
import { measureAgain, smallestSquare, solvedInUnit } from './far-rows.ts';
import type { NormalParameters } from './parameters.ts';

/**
 * constant - d^2 / 2 for each row, where d is its Mahalanobis distance from the mean. A row that is so far out that its
 * numbers overflow is measured again.
 */
export function logDensityTask<D extends RealDtype>(
  parameters: NormalParameters<D>,
  rows: RowsInput,
  constant: number,
): Task<Vector<D>> {
  const { device, dtype, n } = parameters;
  const { values, onHost } = rowsOperand('Input', device, rows, dtype, n);
  const search = new Search();
  const task = halfSquaresTask(parameters, values, constant, (encoder, out) =>
    search.recordFinite(device, encoder, out),
  );
  return { ...task, again: () => farLogDensities(parameters, onHost, constant, task.written.values as Real, search) };
}

/** Measures the rows again whose log densities are not finite: -Infinity if the type does not hold them. */
export function* farLogDensities(
  parameters: NormalParameters,
  rows: () => Values,
  constant: number,
  out: Real,
  search?: Search,
): Tasks<void> {
  if (search?.isDue === false) return;
  const far: number[] = [];
  yield* inPieces(out.length, (from, to) => {
    if (areFinite(out, from, to)) return;
    for (let row = from; row < to; row++)
      if (!Number.isFinite(out[row])) {
        far.push(row);
        out[row] = Number.NEGATIVE_INFINITY;
      }
  });
  if (far.length === 0) return;
  yield* measureAgain(parameters, rows(), far, (row, square, exponent) => {
    out[row] = constant - (square / 2) * 4 ** exponent;
  });
}

/**
 * constant - d^2 / 2 for each row, as the device computes it: infinite or NaN if its numbers overflow. `more` records
 * what the same commit does with them, if all are the device's.
 */
function halfSquaresTask<D extends RealDtype>(
  { device, dtype, n, mean, factor }: NormalParameters<D>,
  rows: Values,
  constant: number,
  more: (encoder: Encoder, out: Real) => void,
): Task<Vector<D>> {
  const wrap = (written: Storage<D>) => new Vector(written);
  const task = resultTask({ device, dtype }, rows.length / n, wrap, (encoder, out, scratch) => {
    const input = scratch.input(rows, dtype);
    encoder.requireFinite(input, n);
    factor.logDensity(encoder, mean.values as Real, input, out, constant, scratch);
    // The host finishes the density on a support.
    if (!(factor instanceof RootFactor)) more(encoder, out);
  });
  return { ...task, explain: (error) => aboutRows('Input', error, rows, n) };
}

/**
 * The constant of a normal's log density, which is {@link normalConstant} - d^2 / 2. If the normal is singular, the
 * density is on the support, of dimension `rank`.
 */
export function normalConstant({ factor }: NormalParameters): number {
  return -(factor.rank * Math.log(2 * Math.PI) + factor.logDeterminant) / 2;
}

/** Differential entropy in nats; for a singular normal on its support. */
export function normalEntropy({ rank, logDeterminant }: Pick<Factor, 'rank' | 'logDeterminant'>): number {
  return (rank * (1 + Math.log(2 * Math.PI)) + logDeterminant) / 2;
}

/** Mahalanobis distances of rows from the mean, whatever their size; never -0. */
export function distances<D extends RealDtype>(parameters: NormalParameters<D>, rows: RowsInput): Task<Vector<D>> {
  const { n, dtype } = parameters;
  return farMeasured(parameters, rows, n * smallestSquare[dtype], true, (values, far) => {
    for (const { row, square, exponent } of far) values[row] = Math.sqrt(square) * 2 ** exponent;
  });
}

/** A row whose squared Mahalanobis distance, square 4^exponent, does not fit the type. */
interface FarRow {
  readonly row: number;
  readonly square: number;
  readonly exponent: number;
}

/**
 * A task whose `finish` gets -d^2 / 2 for each row, or d with `asDistances`, where d is its Mahalanobis distance from
 * the mean. A float32 or a float64 may hold a distance whose square it does not hold. `finish` also gets such rows, in
 * units of their own: those whose square overflows, and those whose square is below `nearest`. A distance that is
 * Infinity is off the support of a singular normal. `finish` has the loop over all rows: a call for each row takes as
 * long as the device does.
 */
export function farMeasured<D extends RealDtype>(
  parameters: NormalParameters<D>,
  rows: RowsInput,
  nearest: number,
  asDistances: boolean,
  finish: (values: Values, far: readonly FarRow[]) => void,
): Task<Vector<D>> {
  const { device, n } = parameters;
  const given = rowsInput('Input', device, rows, n).values;
  const search = new Search();
  let areDistances = false;
  const task = halfSquaresTask(parameters, given, 0, (encoder, out) => {
    const isSearched = search.record(device, encoder, out, Number.NEGATIVE_INFINITY, -nearest / 2);
    areDistances = isSearched && asDistances;
    if (areDistances) encoder.distances(out);
  });
  const { values } = task.written;
  const found: FarRow[] = [];
  return {
    ...task,
    again: () => measureFar(parameters, given, nearest, values, areDistances, search, found),
    after: () => {
      if (asDistances && !areDistances)
        for (let row = 0; row < values.length; row++) values[row] = Math.sqrt(Math.abs(2 * values[row]!));
      finish(values, found);
    },
  };
}

/** Finds the rows whose squares do not fit the type or are below `nearest`. */
function* measureFar(
  parameters: NormalParameters,
  rows: Values,
  nearest: number,
  values: Values,
  areDistances: boolean,
  search: Search,
  found: FarRow[],
): Tasks<void> {
  if (!search.isDue) return;
  const far: number[] = [];
  const beyond = areDistances ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  yield* inPieces(values.length, (from, to) => {
    for (let row = from; row < to; row++) {
      const square = areDistances ? values[row]! * values[row]! : -2 * values[row]!;
      if (square >= nearest && square < Number.POSITIVE_INFINITY) continue;
      far.push(row);
      if (!Number.isFinite(values[row])) values[row] = beyond;
    }
  });
  yield* measureAgain(parameters, rows, far, (row, square, exponent) => found.push({ row, square, exponent }));
}

/** The gradient of the log density at each row: the solution y of covariance y = mean - row. */
export function scoreTask<D extends RealDtype>(parameters: NormalParameters<D>, rows: RowsInput): Task<Matrix<D>> {
  const { device, dtype, n, mean, factor } = parameters;
  const { values, count } = rowsInput('Input', device, rows, n);
  const search = new Search();
  const wrap = (written: Storage<D>) => new Matrix(written, count, n);
  const task = resultTask({ device, dtype }, count * n, wrap, (encoder, out, scratch) => {
    const input = scratch.input(values, dtype);
    encoder.requireFinite(input, n);
    encoder.copy(input, out);
    encoder.scaleColumns(out, scratch.output(dtype, n).fill(-1));
    encoder.addRow(out, mean.values as Real, 1);
    factor.solve(encoder, out, scratch);
    search.recordFinite(device, encoder, out);
  });
  const { values: out } = task.written;
  return {
    ...task,
    explain: (error) => aboutRows('Input', error, values, n),
    again: () => farScores(parameters, values, out, search),
  };
}

// Where a product overflows before the sum does, the row is solved again in a unit of its own.
function* farScores(parameters: NormalParameters, rows: Values, out: Values, search: Search): Tasks<void> {
  if (!search.isDue) return;
  const { n } = parameters;
  const far: number[] = [];
  yield* inPieces(out.length, (from, to) => {
    if (areFinite(out as Real, from, to)) return;
    for (let at = from; at < to; at++)
      if (!Number.isFinite(out[at]) && far.at(-1) !== Math.floor(at / n)) far.push(Math.floor(at / n));
  });
  if (far.length === 0) return;
  const { exponents, solution } = yield* solvedInUnit(parameters, rows, far);
  for (const [i, row] of far.entries()) {
    // In two steps: 2^1024, the unit of a difference that overflows, is infinite.
    const step = 2 ** Math.floor(exponents[i]! / 2);
    const rest = 2 ** (exponents[i]! - Math.floor(exponents[i]! / 2));
    for (let j = 0; j < n; j++) out[row * n + j] = 0 - solution.values[i * n + j]! * step * rest;
  }
  solution.close();
}
