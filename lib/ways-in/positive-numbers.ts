import { CovariumError } from '../covarium-error.ts';
import type { Device } from '../device.ts';
import { vectorInput } from '../distribution-input.ts';
import { hostZeros } from '../storage.ts';
import type { VectorInput } from '../vector.ts';

/** n positive finite numbers in float64; throws `ERR_NOT_FINITE` with the entry, `ERR_NOT_POSITIVE_DEFINITE` with the pivot. */
export function positiveNumbers(name: string, device: Device, input: VectorInput): Float64Array<ArrayBuffer> {
  const values = Float64Array.from(vectorInput(name, device, input));
  values.forEach((value, i) => {
    if (!Number.isFinite(value))
      throw new CovariumError('ERR_NOT_FINITE', `${name} entry (${i}) is not finite (${value}).`, {
        row: 0,
        column: i,
      });
    if (value <= 0)
      throw new CovariumError('ERR_NOT_POSITIVE_DEFINITE', `${name} entry (${i}) is not positive (${value}).`, {
        pivot: i,
      });
  });
  return values;
}

/** The same of a number for all n; throws `ERR_OUT_OF_MEMORY` also. */
export function positiveNumbersOf(
  name: string,
  device: Device,
  input: VectorInput | number,
  n: number,
): Float64Array<ArrayBuffer> {
  return positiveNumbers(name, device, typeof input === 'number' ? hostZeros(n).fill(input) : input);
}
