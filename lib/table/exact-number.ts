import { CovariumError } from '../covarium-error.ts';

/** A number, or a 64-bit integer that a number holds exactly; throws `ERR_OUT_OF_RANGE` for another. */
export function toNumber(value: number | bigint, path: string, column: string, row: number): number {
  if (typeof value === 'number') return value;
  const number = Number(value);
  if (BigInt(number) === value) return number;
  const message = `Row (${row}), column (${column}) of file (${path}) has an integer that float64 does not hold (${value}).`;
  throw new CovariumError('ERR_OUT_OF_RANGE', message, { path, row });
}
