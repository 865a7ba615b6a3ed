import { requireAttached } from '../array/host-memory.ts';
import { type RowsInput, rowsInput } from '../array/inputs.ts';
import { Matrix } from '../array/matrix.ts';
import { Storage } from '../array/storage.ts';
import type { Vector } from '../array/vector.ts';
import { runSync, type Task } from '../command/task.ts';
import type { Real, RealDtype, Values } from '../dtype.ts';
import type { Factor } from '../factor/factor.ts';
import { RootFactor } from '../factor/root-factor.ts';
import { logDensityTask } from '../normal/density.ts';
import type { NormalParameters } from '../normal/parameters.ts';

/** A normal, a copy of its mean, and the normal with the same factor about 0, which measures rows that are far out. */
export interface CentredNormal<D extends RealDtype = RealDtype> extends NormalParameters<D> {
  readonly location: Float64Array;
  readonly centred: NormalParameters<D>;
}

/** Allocates device memory for the zero mean; close `centred.mean` to release it. */
export function centredNormal<D extends RealDtype>(normal: NormalParameters<D>): CentredNormal<D> {
  const origin = Storage.inside(normal.device, normal.dtype, normal.n);
  origin.values.fill(0);
  return { ...normal, location: new Float64Array(normal.mean.values), centred: { ...normal, mean: origin } };
}

/** Mahalanobis distances of rows from the centre, whatever their size. */
export function distances<D extends RealDtype>(parameters: CentredNormal<D>, rows: RowsInput): Task<Vector<D>> {
  return mapDistances(parameters, rows, (square, exponent) => Math.sqrt(square) * 2 ** exponent);
}

/**
 * map(square, exponent) for each row, whose squared Mahalanobis distance from the centre is square 4^exponent. The
 * heavy tails of a Student-t reach far: a float32 may hold a distance whose square overflows. Such rows are few; they
 * are measured again in a smaller unit.
 */
export function mapDistances<D extends RealDtype>(
  parameters: CentredNormal<D>,
  rows: RowsInput,
  map: (square: number, exponent: number) => number,
): Task<Vector<D>> {
  const given = rowsInput('Input', parameters.device, rows, parameters.n);
  const task = logDensityTask(parameters, given.values, 0);
  return {
    ...task,
    after: () => {
      const { values } = task.written;
      const far: number[] = [];
      for (let row = 0; row < values.length; row++) {
        if (Number.isFinite(values[row])) values[row] = map(-2 * values[row]!, 0);
        else far.push(row);
      }
      if (far.length > 0) mapFar(parameters, given.values, far, map, values);
    },
  };
}

// The largest entry becomes 2^-unit: 1, then 2^-64 in case the scale itself is minute.
const units = [0, 64];
// Brings the largest entry to 2^20 standard deviations: that far out, only the direction of a row decides whether it
// lies on the support of a singular scale.
const unitsOfSingular = [-20];

function mapFar(
  { location, centred }: CentredNormal,
  rows: Values,
  far: readonly number[],
  map: (square: number, exponent: number) => number,
  out: Values,
): void {
  const { n, factor } = centred;
  let left = far;
  for (const unit of factor instanceof RootFactor ? unitsOfSingular : units) {
    const { scaled, exponents } = inUnit({ factor, location, rows, chosen: left, unit });
    const halves = runSync(logDensityTask(centred, new Matrix(new Storage(scaled), left.length, n), 0)).data;
    const beyond: number[] = [];
    for (const [i, row] of left.entries()) {
      if (!Number.isFinite(halves[i])) beyond.push(row);
      else out[row] = map(-2 * halves[i]!, exponents[i]!);
    }
    left = beyond;
  }
  // Rows off the support of a singular scale.
  for (const row of left) out[row] = map(Number.POSITIVE_INFINITY, 0);
}

/** Rows that are far out. */
export interface FarRows {
  readonly factor: Factor;
  readonly location: Float64Array;
  readonly rows: Values;
  readonly chosen: readonly number[];
  /** One of {@link units}; 0 by default. */
  readonly unit?: number;
}

/**
 * The differences of the chosen rows from the location, each as a row of `scaled` times 2^exponent. Throws
 * `ERR_CLOSED`.
 */
export function inUnit({ factor, location, rows, chosen, unit = 0 }: FarRows): {
  readonly scaled: Float64Array<ArrayBuffer>;
  readonly exponents: readonly number[];
} {
  requireAttached('Rows', rows);
  const { n } = factor;
  const deviations = factor instanceof RootFactor ? factor.deviations : undefined;
  const scaled = new Float64Array(chosen.length * n);
  const exponents = chosen.map((row, i) =>
    scaleRow(rows.subarray(row * n, row * n + n), location, scaled.subarray(i * n, i * n + n), unit, deviations),
  );
  return { scaled, exponents };
}

/**
 * Writes (row - centre) 2^-exponent to `out`, with no rounding but that of the difference, and returns the exponent.
 * The largest entry, in standard deviations if `deviations` are given, becomes 2^-unit.
 */
function scaleRow(row: Values, centre: Values, out: Float64Array, unit: number, deviations: Real | undefined): number {
  let largest = Number.NEGATIVE_INFINITY;
  for (let j = 0; j < out.length; j++) {
    // Halved, because the difference of two doubles may overflow.
    out[j] = row[j]! / 2 - centre[j]! / 2;
    const deviation = deviations === undefined ? 1 : deviations[j]!;
    if (deviation > 0) largest = Math.max(largest, Math.log2(Math.abs(out[j]!)) - Math.log2(deviation));
  }
  // Only coordinates without variance differ from the centre: any unit shows that.
  const exponent = largest === Number.NEGATIVE_INFINITY ? 0 : Math.floor(largest) + unit;
  // In two steps, because 2^-exponent may be subnormal.
  const step = 2 ** -Math.floor(exponent / 2);
  const rest = 2 ** -(exponent - Math.floor(exponent / 2));
  for (let j = 0; j < out.length; j++) out[j] = out[j]! * step * rest;
  return exponent + 1;
}
