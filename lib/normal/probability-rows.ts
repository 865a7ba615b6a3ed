import { CovariumError } from '../covarium-error.ts';
import type { Device } from '../device.ts';
import { type RowsInput, rowsInput } from '../distribution-input.ts';

/** Rows of `width` probabilities in float64, each strictly between 0 and 1; throws `ERR_OUT_OF_RANGE` with the entry, `ERR_SHAPE`. */
export function probabilityRows(
  device: Device,
  probabilities: RowsInput,
  width: number,
): { readonly values: Float64Array<ArrayBuffer>; readonly count: number } {
  const { values, count } = rowsInput('Input', device, probabilities, width);
  const at = values.findIndex((p) => !(p > 0 && p < 1));
  if (at < 0) return { values: Float64Array.from(values), count };
  const [row, column] = [Math.floor(at / width), at % width];
  throw new CovariumError(
    'ERR_OUT_OF_RANGE',
    `Entry (${row}, ${column}) is (${values[at]}), not a probability between 0 and 1.`,
    { row, column },
  );
}
