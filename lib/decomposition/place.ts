// Where an operation of a matrix computes, and what it commits.
import type { LinearAlgebraOptions } from '../array/linear-algebra.ts';
import { Matrix, matrixStorage } from '../array/matrix.ts';
import { heightOf, lengthOf, type Operand, requireSupported, wrongOperand } from '../array/operand.ts';
import { Storage } from '../array/storage.ts';
import { Vector, vectorStorage } from '../array/vector.ts';
import type { Encoder } from '../backend.ts';
import { type OpenBackend, requireDevice } from '../backend-handle.ts';
import { about, checkOptions, firstNotFinite, named, requireBoolean } from '../check.ts';
import { decompositionsOf } from '../command/float64.ts';
import type { Scratch } from '../command/scratch.ts';
import { type Tasks, taskOf } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Real, RealDtype } from '../dtype.ts';

/** The device on which an operation computes, and its input. */
export interface Place {
  readonly device: OpenBackend;
  readonly dtype: RealDtype;
  /** For the host to read. A function, because an object literal with a getter takes V8 half a microsecond. */
  readonly values: () => Real;
  /** For a command on the device. */
  readonly operand: Real;
  /** Whether the result stays on the device. */
  readonly onDevice: boolean;
}

export function placeOf(
  matrix: Matrix,
  options: LinearAlgebraOptions,
  b?: Operand,
  names: readonly string[] = [],
): Place {
  checkOptions(options, ['device', 'onDevice', ...names]);
  const storage = matrixStorage(matrix);
  const other = b === undefined ? undefined : b instanceof Matrix ? matrixStorage(b) : vectorStorage(b);
  const device = options.device ?? storage.home ?? other?.home;
  if (device === undefined)
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `\`device\` is missing (${device}): a matrix of ${matrix.rows} x ${matrix.columns} host values has none of its own. Pass \`{ device }\`.`,
    );
  requireDevice(device);
  requireSupported('Type of `matrix`', device, storage.dtype);
  return {
    device,
    dtype: storage.dtype as RealDtype,
    operand: named('Matrix', () => storage.operandFor(device)) as Real,
    values: () => storage.valuesFor(device) as Real,
    onDevice: options.onDevice !== undefined && requireBoolean('`onDevice`', options.onDevice),
  };
}

/** Before a device is looked for, which b may have. */
export function requireOperand(b: unknown): Operand {
  if (b instanceof Matrix || b instanceof Vector) return b;
  throw wrongOperand('`b`', b);
}

/** The numbers of b, in the type of A. */
export function rightSide(
  { device, dtype }: Place,
  b: Operand,
): Pick<Place, 'values' | 'operand'> & { columns: number } {
  const storage = b instanceof Matrix ? matrixStorage(b) : vectorStorage(b);
  if (storage.dtype !== dtype)
    throw new CovariumError('ERR_INVALID_ARGUMENT', `\`b\` has type (${storage.dtype}), but the matrix (${dtype}).`);
  return {
    operand: named('`b`', () => storage.operandFor(device)) as Real,
    values: () => storage.valuesFor(device) as Real,
    columns: b instanceof Matrix ? b.columns : 1,
  };
}

export const rowsOf = (b: Operand): number => (b instanceof Vector ? lengthOf(b) : heightOf(b));

/** A matrix or a vector, like b. */
export const shapedAs = (b: Operand, storage: Storage, rows: number, columns: number): Operand =>
  b instanceof Vector ? new Vector(storage) : new Matrix(storage, rows, columns);

/** One commit that writes `lengths` numbers. By default on the reference device if the device lacks decompositions. */
export function* committed(
  place: Place,
  lengths: readonly number[],
  encode: (encoder: Encoder, out: readonly Real[], scratch: Scratch) => void,
  runsOn: OpenBackend = decompositionsOf(place.device),
): Tasks<readonly Storage[]> {
  const { device, dtype, onDevice } = place;
  const written: Storage[] = [];
  try {
    const allot = onDevice ? Storage.away : Storage.forResult;
    for (const length of lengths) written.push(allot(device, dtype, length));
  } catch (error) {
    for (const storage of written) storage.close();
    throw error;
  }
  const out = written.map((storage) => storage.operandFor(device) as Real);
  yield taskOf({
    device: runsOn,
    encode: (encoder, scratch) => encode(encoder, out, scratch),
    result: undefined,
    written: written[0]!,
    fresh: written,
    explain: (error) => about(isOfOther(place, error) ? '`b`' : 'Matrix', error),
  });
  for (const storage of written) storage.timings = written[0]!.timings;
  return written;
}

// A command says which entry is not finite, but not of which operand: of the right side if the matrix is finite.
function isOfOther(place: Place, { code }: CovariumError): boolean {
  if (code !== 'ERR_NOT_FINITE') return false;
  const values = place.values();
  return firstNotFinite(values) === values.length;
}
