import { CovariumError } from '../covarium-error.ts';

/** Zeroed memory of `sizeBytes`; throws `ERR_OUT_OF_MEMORY`. */
export function allocate(sizeBytes: number): ArrayBuffer {
  try {
    return new ArrayBuffer(sizeBytes);
  } catch (cause) {
    throw new CovariumError('ERR_OUT_OF_MEMORY', `Memory of (${sizeBytes}) bytes is not available.`, { cause });
  }
}

/** Zeroed working space of `length` numbers; throws `ERR_OUT_OF_MEMORY`. */
export function workspace(length: number): Float64Array<ArrayBuffer> {
  return new Float64Array(allocate(length * Float64Array.BYTES_PER_ELEMENT));
}
