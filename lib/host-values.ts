import { CovariumError } from './covarium-error.ts';
import { describe } from './describe.ts';
import { type Dtype, dtypeOf, requireDtype, type Values, zerosOf } from './dtype.ts';
import { isDetached } from './storage.ts';

/**
 * A typed array of type `dtype` (by default its own) in memory that a device may read: `values` itself where type and memory allow
 * (and no `copy` is asked for), a copy otherwise. Throws `ERR_INVALID_ARGUMENT`, and `ERR_CLOSED` for a detached array.
 */
export function hostValues(values: Values, dtype: Dtype | undefined, copy = false): Values {
  const wanted = dtype === undefined ? dtypeOf(values) : requireDtype(dtype);
  if (isReadable(values, wanted) && !copy) return values;
  const host = zerosOf(wanted, values.length);
  host.set(values);
  return host;
}

/** A typed array with the numbers of an array, `float32` by default. Throws `ERR_INVALID_ARGUMENT` for an entry that is no number. */
export function copiedNumbers(values: readonly unknown[], dtype: Dtype = 'float32'): Values {
  const copy = zerosOf(requireDtype(dtype), values.length);
  for (let index = 0; index < values.length; index++) {
    const entry = values[index];
    if (typeof entry !== 'number')
      throw new CovariumError('ERR_INVALID_ARGUMENT', `Entry (${index}) is not a number (${describe(entry)}).`);
    copy[index] = entry;
  }
  return copy;
}

/** Whether a device may read `values` as `dtype` where they are. Throws `ERR_INVALID_ARGUMENT`, and `ERR_CLOSED` for a detached array. */
export function isReadable(values: Values, dtype: Dtype): boolean {
  const own = dtypeOf(values);
  if (isDetached(values.buffer))
    throw new CovariumError('ERR_CLOSED', `Memory of the values is detached (${describe(values)}).`);
  return own === dtype && isFixed(values.buffer);
}

/** Whether memory keeps its size and belongs to this thread alone: native code may hold its address. */
export function isFixed(memory: ArrayBufferLike): boolean {
  return memory instanceof ArrayBuffer && (memory as { resizable?: boolean }).resizable !== true;
}
