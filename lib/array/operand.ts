import type { OpenBackend } from '../backend-handle.ts';
import { describe, marked, named, quoted, wrongArgument } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Dtype, Real, Values } from '../dtype.ts';
import { hostValues, isFixed } from './host-memory.ts';
import { Matrix, matrixStorage } from './matrix.ts';
import type { Storage } from './storage.ts';
import { Vector, vectorStorage } from './vector.ts';
import { Volume, volumeStorage } from './volume.ts';

/** An argument of a command: a matrix, or a vector, which counts as one row. */
export type Operand = Matrix | Vector;

/** Operands by the names of their arguments. */
export interface NamedOperands {
  readonly [name: string]: Operand;
}

/**
 * The numbers of the operands of a command on `device`, all of the first one's type. Throws `ERR_INVALID_ARGUMENT` (not
 * a Matrix or Vector, or of another type), `ERR_UNSUPPORTED_DTYPE`, `ERR_FOREIGN_BUFFER`, `ERR_CLOSED`.
 */
export function valuesIn(operands: NamedOperands, device: OpenBackend): Real[] {
  const all = Object.entries(operands).map(
    ([name, operand]) => [`\`${name}\``, storageOf(`\`${name}\``, operand)] as const,
  );
  const [first, { dtype }] = all[0]!;
  requireSupported(`Type of ${first}`, device, dtype);
  return all.map(([name, storage]) => {
    if (storage.dtype !== dtype)
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `${name} has type (${storage.dtype}), but ${first} has (${dtype}): pass both in one type.`,
      );
    return named(name, () => storage.operandFor(device)) as Real;
  });
}

/** The numbers of an operand of any type, or the typed array itself. Throws like {@link valuesIn}. */
export function anyValuesIn(name: string, operand: Operand | Volume | Values, device: OpenBackend): Values {
  return named(name, () => {
    if (operand instanceof Volume) return volumeStorage(operand).operandFor(device);
    if (!ArrayBuffer.isView(operand)) return storageOf(name, operand).operandFor(device);
    if (isFixed(operand.buffer)) return hostValues(operand, undefined);
    throw new CovariumError('ERR_INVALID_ARGUMENT', `${marked(name)} (${describe(operand)}) is resizable or shared.`);
  });
}

function storageOf(name: string, operand: unknown): Storage {
  if (operand instanceof Matrix) return matrixStorage(operand);
  if (operand instanceof Vector) return vectorStorage(operand);
  throw wrongOperand(name, operand);
}

/** An operand that is neither a Matrix nor a Vector, as an error. */
export function wrongOperand(name: string, operand: unknown): CovariumError {
  return wrongArgument(name, operand, `a Matrix or a Vector${Array.isArray(operand) ? ', as Matrix.from(rows)' : ''}`);
}

/** Throws `ERR_UNSUPPORTED_DTYPE` if the device does not compute in `dtype`. */
export function requireSupported(name: string, device: OpenBackend, dtype: Dtype): void {
  if (!device.dtypes.includes(dtype))
    throw new CovariumError(
      'ERR_UNSUPPORTED_DTYPE',
      `${marked(name)} is (${describe(dtype)}), but device (${device.kind}) computes only in (${device.dtypes.join(', ')}).`,
    );
}

/** The dimension of a square matrix; throws `ERR_SHAPE` if the matrix is not square. */
export function requireSquare(name: string, matrix: Matrix): number {
  if (!(matrix instanceof Matrix)) throw wrongArgument(name, matrix, 'a Matrix');
  if (matrix.rows === matrix.columns) return matrix.rows;
  throw new CovariumError(
    'ERR_SHAPE',
    `${marked(name)} is not square: it has (${matrix.rows}) rows and (${matrix.columns}) columns.`,
  );
}

// An argument, in code marks, needs no article.
function the(other: string): string {
  return other.startsWith('`') ? other : `the ${other}`;
}

/** Throws `ERR_SHAPE` if a number of columns differs from the number that `other` needs. */
export function requireColumns(name: string, columns: number, wanted: number, other: string): void {
  if (columns !== wanted)
    throw new CovariumError(
      'ERR_SHAPE',
      `${marked(name)} has (${columns}) columns, but ${the(other)} has (${wanted}).`,
    );
}

/** Throws `ERR_SHAPE` if a vector's length differs from the number of `what` of `other`. */
export function requireLength(name: string, length: number, wanted: number, other: string, what = 'entries'): void {
  if (length === wanted) return;
  throw new CovariumError(
    'ERR_SHAPE',
    `${marked(name)} has (${length}) entries, but ${the(other)} has (${wanted})${what === 'entries' ? '' : ` ${what}`}.`,
  );
}

/** Throws `ERR_SHAPE` if a number of rows differs from the number of `what` of `other`. */
export function requireRows(name: string, rows: number, wanted: number, other: string, what: 'rows' | 'columns'): void {
  if (rows !== wanted)
    throw new CovariumError(
      'ERR_SHAPE',
      `${marked(name)} has (${rows}) rows, but ${the(other)} has (${wanted}) ${what}.`,
    );
}

/** Throws `ERR_INVALID_ARGUMENT` if two operands share bytes that a command would read and write at once. */
export function requireApart(name: string, values: Values, other: string, others: Values): void {
  const apart =
    values.buffer !== others.buffer ||
    values.byteOffset + values.byteLength <= others.byteOffset ||
    others.byteOffset + others.byteLength <= values.byteOffset;
  if (!apart)
    throw new CovariumError('ERR_INVALID_ARGUMENT', `${marked(name)} (${describe(values)}) overlaps ${the(other)}.`);
}

/** Like {@link requireApart}, but the two may be the same memory: a command reads an element before it writes it. */
export function requireSameOrApart(name: string, values: Values, other: string, others: Values): void {
  const isSame = values.byteOffset === others.byteOffset && values.byteLength === others.byteLength;
  if (!isSame) requireApart(name, values, other, others);
}

/** The number of columns; the length of a vector. */
export function widthOf(operand: Operand): number {
  return operand instanceof Matrix ? operand.columns : operand.length;
}

/** The number of rows; 1 for a vector. */
export function heightOf(operand: Operand): number {
  return operand instanceof Matrix ? operand.rows : 1;
}

/** The number of entries. */
export function lengthOf(operand: Operand): number {
  return widthOf(operand) * heightOf(operand);
}

/** Throws `ERR_SHAPE` if two operands differ in shape. */
export function requireAlike(name: string, b: Operand, other: string, a: Operand): void {
  requireRows(name, heightOf(b), heightOf(a), other, 'rows');
  requireColumns(name, widthOf(b), widthOf(a), other);
}

/** The dimension of a normal's factor; throws `ERR_SHAPE` if the mean or the rows do not fit it. */
export function requireNormal(square: string, factor: Matrix, mean: Operand, name: string, rows: Operand): number {
  const n = requireSquare(square, factor);
  requireLength('Mean', lengthOf(mean), n, square, 'columns');
  requireColumns(name, widthOf(rows), n, square);
  return n;
}

/** Returns `value` if it is a finite number, of at least `least` if given; throws `ERR_OUT_OF_RANGE` otherwise. */
export function finiteNumber(name: string, value: number, least?: number): number {
  if (typeof value === 'number' && Number.isFinite(value) && !(value < least!)) return value;
  const range = least === undefined ? '' : ` of at least ${least}`;
  throw new CovariumError('ERR_OUT_OF_RANGE', `${marked(name)} is (${quoted(value)}), not a finite number${range}.`);
}

/**
 * Returns `value` if it is a number of the type of `beside`, with which a command computes; throws `ERR_OUT_OF_RANGE`
 * otherwise.
 */
export function requireFiniteBeside(name: string, value: number, beside: Real): number {
  finiteNumber(name, value);
  // A device's float32 would be infinite.
  if (beside instanceof Float64Array || Number.isFinite(Math.fround(value))) return value;
  throw new CovariumError('ERR_OUT_OF_RANGE', `${marked(name)} is (${value}), which float32 does not hold.`);
}
