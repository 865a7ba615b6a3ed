import { totalmem } from 'node:os';
import { describe, marked, quoted } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { bytesOf, type Dtype, dtypeOf, requireDtype, type Values, zerosOf } from '../dtype.ts';

// The engine's own properties, which an array's, or those of its prototype, may hide.
const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;
const ownProperty = (name: string) => Object.getOwnPropertyDescriptor(typedArray, name)!.get!;
const [bufferGetter, lengthGetter] = [ownProperty('buffer'), ownProperty('length')];
const bufferOf = (values: Values): unknown => bufferGetter.call(values);
const lengthOf = (values: Values): unknown => lengthGetter.call(values);

/**
 * The numbers as type `dtype` (by default their own) in memory that a device may read: `values` itself if its type and
 * memory allow it and `copy` is false, otherwise a copy. Throws `ERR_INVALID_ARGUMENT`, and `ERR_CLOSED` for an array
 * that is detached, or beyond its resized memory.
 */
export function hostValues(values: Values, dtype: Dtype | undefined, copy = false): Values {
  const wanted = dtype === undefined ? dtypeOf(values) : requireDtype(dtype);
  if (isReadable(values, wanted) && !copy) return values;
  const host = zerosOf(wanted, values.length);
  host.set(values);
  return host;
}

/**
 * Throws `ERR_OUT_OF_RANGE` where a finite number has become infinite, or another whole number, in a type for which
 * nobody has asked. `given` is the number at an index, and `place` what an error calls it.
 */
export function requireRoom(held: Values, given: (index: number) => unknown, place: (index: number) => string): void {
  requireHeldBy(held, given, (index) => `\`values\` entry (${place(index)})`, " Pass `dtype: 'float64'`.");
}

/** Like {@link requireRoom}, in the caller's words: `words` name an entry, `help` says what to do. */
export function requireHeldBy(
  held: Values,
  given: (index: number) => unknown,
  words: (index: number) => string,
  help = '',
): void {
  const dtype = dtypeOf(held);
  const isReal = dtype === 'float32' || dtype === 'float64';
  for (let index = 0; index < held.length; index++) {
    if (isReal && Number.isFinite(held[index])) continue;
    const entry = given(index);
    if (isReal ? !Number.isFinite(entry) : held[index] === entry) continue;
    throw new CovariumError('ERR_OUT_OF_RANGE', `${words(index)} is (${entry}), which ${dtype} does not hold.${help}`);
  }
}

/**
 * A typed array with the numbers of an array, `float32` by default. Throws `ERR_INVALID_ARGUMENT` for an entry that is
 * not a number, and by default `ERR_OUT_OF_RANGE` for one that float32 does not hold.
 */
export function copiedNumbers(values: readonly unknown[], asked?: Dtype): Values {
  const copy = zerosOf(asked === undefined ? 'float32' : requireDtype(asked), values.length);
  for (let index = 0; index < values.length; index++) {
    const entry = values[index];
    if (typeof entry !== 'number')
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `\`values\` entry (${index}) is (${quoted(entry)}): pass a number.`,
      );
    copy[index] = entry;
  }
  if (asked === undefined) requireRoom(copy, (index) => values[index], String);
  return copy;
}

/**
 * True if a device may read `values` in place as `dtype`. Throws `ERR_INVALID_ARGUMENT`, and `ERR_CLOSED` for an array
 * that is detached, or beyond its resized memory.
 */
export function isReadable(values: Values, dtype: Dtype): boolean {
  const own = dtypeOf(values);
  // Read once: V8 takes 30 ns to find it.
  const { buffer } = values;
  if (buffer !== bufferOf(values) || values.length !== lengthOf(values))
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `\`values\` (${describe(values)}) has another \`length\` or \`buffer\` than its memory: pass one as it was made.`,
    );
  if (isDetached(buffer))
    throw new CovariumError('ERR_CLOSED', `\`values\` is detached (${describe(values)}): its memory was transferred.`);
  if (isBeyond(values))
    throw new CovariumError(
      'ERR_CLOSED',
      `\`values\` (${describe(values)}) is beyond its memory: its buffer was resized to (${buffer.byteLength}) bytes.`,
    );
  return own === dtype && isFixed(buffer);
}

// A view whose resizable buffer was made too small has 0 elements, and methods of arrays refuse it.
function isBeyond(values: Values): boolean {
  if (values.length > 0) return false;
  try {
    values.fill(0);
    return false;
  } catch {
    return true;
  }
}

/** True if the memory has a fixed size and belongs to this thread alone, so that native code may hold its address. */
export function isFixed(memory: ArrayBufferLike): boolean {
  // Jest's typed arrays are of another realm's ArrayBuffer.
  return (
    (memory instanceof ArrayBuffer || Object.prototype.toString.call(memory) === '[object ArrayBuffer]') &&
    (memory as { resizable?: boolean }).resizable !== true
  );
}

/** Zeros of float64 in ordinary memory; throws `ERR_TOO_LARGE` and `ERR_OUT_OF_MEMORY`. */
export function hostZeros(length: number): Float64Array<ArrayBuffer> {
  refuseBeyondMemory(length * bytesOf('float64'));
  return zerosOf('float64', length) as Float64Array<ArrayBuffer>;
}

/** True if the memory was transferred to another thread. */
export function isDetached(memory: ArrayBufferLike): boolean {
  if (memory.byteLength > 0) return false;
  try {
    new Uint8Array(memory);
    return false;
  } catch {
    return true;
  }
}

/** Throws `ERR_CLOSED` if the caller's numbers have gone since the call that reads them in pieces. */
export function requireAttached(name: string, values: Values): void {
  if (values.length === 0 && isDetached(values.buffer))
    throw new CovariumError(
      'ERR_CLOSED',
      `${marked(name)} was closed or transferred while it was read (0 bytes left).`,
    );
}

// Linux grants more memory than the machine has and kills the process that uses it, so the size is compared first.
export function refuseBeyondMemory(sizeBytes: number): void {
  if (!(sizeBytes <= Number.MAX_SAFE_INTEGER))
    throw new CovariumError('ERR_TOO_LARGE', `Memory asked for (${sizeBytes} bytes) is beyond 2^53 bytes.`);
  if (sizeBytes < 1 << 28) return;
  const limit = process.constrainedMemory?.() || Number.POSITIVE_INFINITY;
  const machineBytes = Math.min(totalmem(), limit);
  if (sizeBytes > machineBytes)
    throw new CovariumError(
      'ERR_OUT_OF_MEMORY',
      `Memory asked for (${sizeBytes} bytes) is more than this machine has (${machineBytes}).`,
    );
}
