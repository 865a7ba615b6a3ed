import { requireAttached } from '../array/host-memory.ts';
import type { Storage } from '../array/storage.ts';
import { resultTask, step, type Task, type Tasks } from '../command/task.ts';
import type { Real, RealDtype, Values } from '../dtype.ts';
import { RootFactor } from '../factor/root-factor.ts';
import type { NormalParameters } from './parameters.ts';

/**
 * A squared distance below n times this number may lack a part of it: each of its n terms is 0 on a device if it is
 * below the smallest normal number.
 */
export const smallestSquare: Readonly<Record<RealDtype, number>> = {
  float32: 2 ** (24 - 126),
  float64: 2 ** (53 - 1022),
};

// The largest entry becomes 2^-unit: 1, or something else if the numbers of the factor are minute or huge.
const units = { float32: [0, 64, -64], float64: [0, 512, -512] } as const;
// Brings the largest entry to 2^20 standard deviations: that far out, only the direction of a row decides whether it
// lies on the support of a singular covariance.
const unitsOfSingular = [-20];

// Numbers that one commit measures again: few enough that the host scales them in well under a millisecond.
const numbersAtOnce = 4096;

/**
 * Calls `found` with the squared distance, square 4^exponent, of the `chosen` rows that can be measured in units of
 * their own. The others are off the support of a singular normal, or at the mean.
 */
export function* measureAgain(
  parameters: NormalParameters,
  rows: Values,
  chosen: readonly number[],
  found: (row: number, square: number, exponent: number) => void,
): Tasks<void> {
  const { n, dtype, factor } = parameters;
  const together = Math.ceil(numbersAtOnce / n);
  for (let first = 0; first < chosen.length; first += together) {
    let left = chosen.slice(first, first + together);
    for (const unit of factor instanceof RootFactor ? unitsOfSingular : units[dtype]) {
      const { scaled, exponents } = inUnit(parameters, rows, left, unit);
      const halves = halvesOf(parameters, scaled);
      yield halves;
      const squares = halves.result.values;
      const beyond: number[] = [];
      for (const [i, row] of left.entries()) {
        const square = -2 * squares[i]!;
        if (Number.isFinite(square) && square > 0) found(row, square, exponents[i]!);
        if (!(square >= n * smallestSquare[dtype] && square < Number.POSITIVE_INFINITY)) beyond.push(row);
      }
      halves.result.close();
      left = beyond;
      if (left.length === 0) break;
    }
  }
}

/** -d^2 / 2 for each row, where d is its Mahalanobis distance from 0. */
function halvesOf({ device, dtype, n, factor }: NormalParameters, rows: Float64Array): Task<Storage> {
  const wrap = (written: Storage) => written;
  return resultTask({ device, dtype }, rows.length / n, wrap, (encoder, out, scratch) => {
    factor.logDensity(encoder, scratch.zeros(dtype, n), scratch.copy(rows, dtype), out, 0, scratch);
  });
}

/**
 * The differences of the chosen rows from the mean, each as a row of `scaled` times 2^exponent: the largest entry, in
 * standard deviations if the normal is singular, becomes 2^-unit. Throws `ERR_CLOSED`.
 */
export function inUnit(
  { dtype, n, mean, factor }: NormalParameters,
  rows: Values,
  chosen: readonly number[],
  unit = 0,
): { readonly scaled: Float64Array<ArrayBuffer>; readonly exponents: readonly number[] } {
  requireAttached('Rows', rows);
  const centre = mean.values;
  // Rounded as on the device.
  const rounded = dtype === 'float32' ? Math.fround : Number;
  const deviations = factor instanceof RootFactor ? factor.deviations : undefined;
  const scaled = new Float64Array(chosen.length * n);
  const exponents = chosen.map((row, i) => {
    const difference = scaled.subarray(i * n, i * n + n);
    // Halved, because the difference of two doubles may overflow.
    for (let j = 0; j < n; j++) difference[j] = rounded(rows[row * n + j]!) / 2 - centre[j]! / 2;
    return scaleRow(difference, unit, deviations) + 1;
  });
  return { scaled, exponents };
}

/** The rows of {@link inUnit}, and the solutions y of covariance y = row: storage that the caller closes. */
export function* solvedInUnit(
  parameters: NormalParameters,
  rows: Values,
  chosen: readonly number[],
): Tasks<ReturnType<typeof inUnit> & { readonly solution: Storage }> {
  const { device, dtype, factor } = parameters;
  const { scaled, exponents } = inUnit(parameters, rows, chosen);
  const wrap = (written: Storage) => written;
  const solution = yield* step(
    resultTask({ device, dtype }, scaled.length, wrap, (encoder, numbers, scratch) => {
      encoder.copy(scratch.copy(scaled, dtype), numbers);
      factor.solve(encoder, numbers, scratch);
    }),
  );
  return { scaled, exponents, solution };
}

/** Multiplies a row by 2^-exponent, without rounding, and returns the exponent. */
function scaleRow(row: Float64Array, unit: number, deviations: Real | undefined): number {
  let largest = Number.NEGATIVE_INFINITY;
  for (let j = 0; j < row.length; j++) {
    const deviation = deviations === undefined ? 1 : deviations[j]!;
    if (deviation > 0) largest = Math.max(largest, Math.log2(Math.abs(row[j]!)) - Math.log2(deviation));
  }
  // Only coordinates without variance differ from the mean: any unit shows that.
  const exponent = largest === Number.NEGATIVE_INFINITY ? 0 : Math.floor(largest) + unit;
  // In two steps, because 2^-exponent may be subnormal.
  const step = 2 ** -Math.floor(exponent / 2);
  const rest = 2 ** -(exponent - Math.floor(exponent / 2));
  for (let j = 0; j < row.length; j++) row[j] = row[j]! * step * rest;
  return exponent;
}
