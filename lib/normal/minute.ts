import type { Encoder } from '../backend.ts';
import type { Scratch } from '../command/scratch.ts';
import { dtypeOf, type Real, type RealDtype, smallestNormal, zerosOf } from '../dtype.ts';

/** A covariance or a precision, and the same with each row and column divided by its unit. */
interface InUnits {
  readonly given: Real;
  readonly square: Real;
  /** A power of two near the root of each diagonal entry. */
  readonly units: Real;
}

/** The least diagonal entry beside which nothing that matters is subnormal: devices take that for 0. */
export function leastPlain(dtype: RealDtype): number {
  return smallestNormal[dtype] * (dtype === 'float32' ? 2 ** 23 : 2 ** 52);
}

function isMinute(values: Real, n: number): boolean {
  const least = leastPlain(dtypeOf(values) as RealDtype);
  for (let at = 0; at < values.length; at += n + 1) if (values[at]! < least && values[at]! > 0) return true;
  return false;
}

/**
 * An n x n matrix in its units if a diagonal entry is below {@link leastPlain}, else undefined. Both are copies: the
 * caller may change their numbers before a device has read them.
 */
export function inUnitsIfMinute(given: Real, n: number): InUnits | undefined {
  if (!isMinute(given, n)) return undefined;
  const units = zerosOf(dtypeOf(given) as RealDtype, n);
  for (let i = 0; i < n; i++) {
    const size = given[i * (n + 1)]!;
    units[i] = size > 0 && Number.isFinite(size) ? 2 ** Math.round(Math.log2(size) / 2) : 1;
  }
  // The host keeps subnormal numbers.
  const square = given.slice();
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) square[i * n + j] = square[i * n + j]! / units[i]! / units[j]!;
  return { given: given.slice(), square, units };
}

/** Records that the rows of a factor (n x n) of a matrix in units are multiplied by them. */
export function multiplyRows(encoder: Encoder, factor: Real, units: Real, scratch: Scratch): void {
  const n = units.length;
  const dtype = dtypeOf(units);
  const columns = scratch.output(dtype, n * n);
  encoder.transpose(factor, columns, n, n);
  encoder.scaleColumns(columns, scratch.copy(units, dtype));
  encoder.transpose(columns, factor, n, n);
}
