import { loadAddon } from '../addon/native.ts';
import { refuseBeyondMemory } from '../array/host-memory.ts';
import { bytesOf, type Real, type RealDtype, zerosOf } from '../dtype.ts';

const leastBytes = 8 << 20;

/** Zeros for a whole table, in large pages where the system has them. Throws `ERR_OUT_OF_MEMORY`. */
export function resultMemory(dtype: RealDtype, length: number): Real {
  const bytes = length * bytesOf(dtype);
  refuseBeyondMemory(bytes);
  const values = zerosOf(dtype, length) as Real;
  if (bytes >= leastBytes) loadAddon().addon?.useLargePages?.(values.buffer as ArrayBuffer);
  return values;
}
