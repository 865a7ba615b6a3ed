import { CovariumError, isError } from '../covarium-error.ts';

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

interface Transferable {
  transfer?(length: number): ArrayBuffer;
}

/**
 * Detaches `memory`, so that its views become empty. Node 20 has no ArrayBuffer.prototype.transfer; posting a message
 * does the same there. Memory that is marked untransferable stays attached on Node 20 and from 24.15 on, until it is
 * collected.
 */
export function detach(memory: ArrayBuffer & Transferable): void {
  try {
    if (memory.transfer === undefined) structuredClone(null, { transfer: [memory] });
    else memory.transfer(0);
  } catch (error) {
    if (!(isError(error) && error.name === 'TypeError')) throw error; // the mark's detach key
  }
}
