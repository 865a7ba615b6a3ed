import { CovariumError } from '../covarium-error.ts';
import type { Values } from '../dtype.ts';

/** The numbers in float64; throws `ERR_NOT_FINITE` with the entry. */
export function finiteNumbers(name: string, values: Values, columns: number): Float64Array<ArrayBuffer> {
  const at = values.findIndex((value) => !Number.isFinite(value));
  if (at < 0) return Float64Array.from(values);
  const [row, column] = [Math.floor(at / columns), at % columns];
  throw new CovariumError('ERR_NOT_FINITE', `${name} entry (${row}, ${column}) is not finite (${values[at]}).`, {
    row,
    column,
  });
}
