// Numbers as other libraries and plain objects have them, recognised by their shape: nothing is imported.
import * as types from 'node:util/types';
import { describe, listed, quoted } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { type Dtype, dtypes, knownDtypeOf, type Values, zerosOf } from '../dtype.ts';
import { requireRoom } from './host-memory.ts';

/**
 * A strided array: rows and columns, or one dimension. ndarray, stdlib and numpy-ts have this shape, and so do Matrix
 * and Vector.
 */
export interface StridedArray<V extends Values | readonly number[] = Values | readonly number[]> {
  /** The numbers; there may be other numbers between them. */
  readonly data: V;
  /** Rows and columns, or the length. */
  readonly shape: readonly number[];
  /** The step from one entry to the next along each dimension, in elements; row-major by default. */
  readonly strides?: readonly number[] | undefined;
  /** The strides, under the name that ndarray uses. */
  readonly stride?: readonly number[] | undefined;
  /** The index of the first entry in `data`; 0 by default. */
  readonly offset?: number | undefined;
}

/** Columns by name, all of the same length, in the order of the keys. A null is a missing number and becomes NaN. */
export interface ColumnObject<C extends Values | readonly (number | null)[] = Values | readonly (number | null)[]> {
  readonly [name: string]: C;
}

/** A row as an object: its keys are the columns, the same in each row. A null is a missing number and becomes NaN. */
export interface RowObject {
  readonly [name: string]: number | null;
}

/**
 * A {@link RowObject} whose type is an interface without an index signature, so that its values are checked only when
 * they are read. It is not an array.
 */
export type DeclaredRow = object & { readonly [Symbol.iterator]?: never };

/** A table of Apache Arrow for JavaScript, or of flechette. */
export interface ArrowTable {
  /** Names of the columns. */
  readonly schema: { readonly fields: readonly { readonly name: string }[] };
  /** A column by name. */
  readonly getChild: (name: never) => unknown;
}

/** A table of Arquero. */
export interface ArqueroTable {
  /** Names of the columns. */
  readonly columnNames: () => readonly string[];
  /** The numbers of a column. */
  readonly array: (name: never) => unknown;
}

/** Tables and arrays of other libraries, and plain objects of numbers. */
export type ForeignTable =
  | StridedArray
  | ColumnObject
  | readonly RowObject[]
  | readonly DeclaredRow[]
  | ArrowTable
  | ArqueroTable;

/** Numbers, row after row. */
export interface DenseRows {
  readonly values: Values;
  readonly rows: number;
  readonly columns: number;
}

interface AnyObject {
  readonly [name: string]: unknown;
}

/** The columns of a table, by name; undefined for anything but a table. */
export function foreignColumns(input: unknown): ReadonlyMap<string, unknown> | undefined {
  if (typeof input !== 'object' || input === null || ArrayBuffer.isView(input)) return undefined;
  const table = input as AnyObject & Partial<ArrowTable & ArqueroTable>;
  if (typeof table.columnNames === 'function' && typeof table.array === 'function')
    return columnsNamed(table.columnNames(), (name) => table.array!(name as never));
  if (typeof table.getChild === 'function' && Array.isArray(table.schema?.fields))
    return arrowColumns(table.schema.fields, (name) => arrowColumn(table.getChild!(name as never)));
  if (Array.isArray(input)) {
    const first: unknown = input[0];
    return isPlainObject(first) ? columnsOfRows(first, input) : undefined;
  }
  if (!isPlainObject(input)) return undefined;
  const entries = Object.entries(input);
  // All that an object literal has is meant as columns, and rowsOfColumns() names the one that is none. An object with
  // methods is of another library, whose message says which of them gives numbers.
  const areColumns = isLiteral(input)
    ? entries.every(([, column]) => typeof column !== 'function')
    : entries.every(([, column]) => isList(column));
  return entries.length > 0 && areColumns ? new Map(entries) : undefined;
}

function isLiteral(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** The names of a table's columns; undefined for anything but a table. */
export function foreignNames(input: unknown): readonly string[] | undefined {
  if (Array.isArray(input)) return isPlainObject(input[0]) ? Object.keys(input[0]) : undefined;
  const columns = foreignColumns(input);
  return columns && [...columns.keys()];
}

function columnsNamed(names: unknown, column: (name: string) => unknown): ReadonlyMap<string, unknown> {
  if (Array.isArray(names) && [...names].every((name) => typeof name === 'string'))
    return new Map(names.map((name) => [name, column(name)]));
  throw new CovariumError(
    'ERR_INVALID_ARGUMENT',
    `\`values\` has columns (${describe(names)}): pass a table whose columns have names.`,
  );
}

// The numbers that Arrow, and so apache-arrow and flechette, gives to types of time. Columns of these give days,
// milliseconds or BigInts, whatever their unit, and float32 rounds a date in milliseconds to minutes.
const times: ReadonlyMap<unknown, string> = new Map([
  [8, 'Date'],
  [9, 'Time'],
  [10, 'Timestamp'],
  [11, 'Interval'],
  [18, 'Duration'],
]);
// Arrow's number of the type of booleans, which are 0 and 1 in files too.
const boolean = 6;

// Stands in the place of a column until rowsOfColumns() throws its message. elementTypeOf() does not throw it, because
// its callers do not know the argument's name.
class RefusedColumn {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

function arrowColumns(fields: readonly unknown[], column: (name: string) => unknown): ReadonlyMap<string, unknown> {
  const typeOf = new Map<unknown, unknown>();
  const repeated = new Set<unknown>();
  for (const field of fields) {
    const { name, type } = Object(field) as AnyObject;
    if (typeOf.has(name)) repeated.add(name);
    typeOf.set(name, type);
  }
  return columnsNamed([...typeOf.keys()], (name) => {
    const shown = describe(name);
    // getChild() gives only the first of them.
    if (repeated.has(name))
      return new RefusedColumn(`has two columns that are named (${shown}): pass a table whose names differ.`);
    const { typeId, dictionary } = Object(typeOf.get(name)) as AnyObject;
    const { typeId: valueType } = Object(dictionary) as AnyObject;
    const time = times.get(typeId) ?? times.get(valueType);
    if (time !== undefined)
      return new RefusedColumn(
        `column (${shown}) has type (${time}), which is not read as numbers: leave it out, or pass numbers in its place.`,
      );
    const entries = column(name);
    if (!(typeId === boolean || valueType === boolean) || !Array.isArray(entries)) return entries;
    return entries.map((entry: unknown) => (typeof entry === 'boolean' ? Number(entry) : entry));
  });
}

// rowsOfColumns() refuses what is not a column, and names it.
function arrowColumn(column: unknown): unknown {
  const { toArray, nullCount, length, get, at } = Object(column) as { readonly [name: string]: unknown };
  const entry = get ?? at;
  const hasEntries = typeof entry === 'function' && (length as number) >>> 0 === length;
  // The array of a column with nulls has anything in their place.
  if (!nullCount) {
    const array: unknown = typeof toArray === 'function' ? toArray.call(column) : column;
    if (!hasEntries || !isStored(array, length as number, (row) => entry.call(column, row))) return array;
  } else if (!hasEntries) return column;
  return Array.from({ length: length as number }, (_, row) => entry.call(column, row));
}

/**
 * Whether the array of a column has what its numbers are stored as in their place: apache-arrow gives the bits of half
 * precision as whole numbers of 16 bits, which differ from all numbers but 0, and each decimal as four of 32. Those of
 * 64 bits are refused as they are.
 */
function isStored(array: unknown, length: number, entry: (row: number) => unknown): boolean {
  if (!ArrayBuffer.isView(array) || types.isBigInt64Array(array) || types.isBigUint64Array(array)) return false;
  const numbers = array as Values;
  if (numbers.length !== length) return true;
  const row = numbers.findIndex((number) => number !== 0);
  return row >= 0 && !Object.is(entry(row), numbers[row]);
}

function isPlainObject(value: unknown): value is AnyObject {
  return Object.prototype.toString.call(value) === '[object Object]' && !ArrayBuffer.isView(value);
}

function columnsOfRows(first: object, rows: readonly unknown[]): ReadonlyMap<string, unknown> {
  const names = Object.keys(first);
  const columns = names.map((): unknown[] => new Array(rows.length));
  for (let row = 0; row < rows.length; row++) {
    const object = rows[row];
    if (!(isPlainObject(object) && hasKeys(object, names)))
      throw new CovariumError(
        'ERR_SHAPE',
        `\`values\` row (${row}) does not have the keys of the first row (${names.join(', ')}): it is (${isPlainObject(object) ? Object.keys(object).join(', ') : describe(object)}).`,
      );
    for (let column = 0; column < names.length; column++) columns[column]![row] = object[names[column]!];
  }
  return new Map(names.map((name, column) => [name, columns[column]!]));
}

// Rows are made alike nearly always: then their keys are in the same order, and need not be looked up.
function hasKeys(object: AnyObject, names: readonly string[]): boolean {
  const keys = Object.keys(object);
  if (keys.length !== names.length) return false;
  for (let i = 0; i < keys.length; i++) if (keys[i] !== names[i] && !Object.hasOwn(object, names[i]!)) return false;
  return true;
}

/** Whether a value is a strided array. */
export function isStrided(input: unknown): input is StridedArray {
  if (typeof input !== 'object' || input === null || Array.isArray(input) || ArrayBuffer.isView(input)) return false;
  const { data, shape } = input as Partial<StridedArray>;
  return isList(shape) && isList(data);
}

function isList(value: unknown): boolean {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !types.isDataView(value));
}

/** float64 where a column is that, float32 where all are that, else `plain`. */
function typeOfColumns(columns: ReadonlyMap<string, unknown>): Dtype | 'plain' {
  const names = [...columns.values()].map((column) => Object.prototype.toString.call(column));
  if (names.includes('[object Float64Array]')) return 'float64';
  return names.every((name) => name === '[object Float32Array]') ? 'float32' : 'plain';
}

/** The element type of an input, `plain` of arrays of numbers; of rows of several types the widest. */
export function elementTypeOf(input: unknown): Dtype | 'plain' {
  if (ArrayBuffer.isView(input)) return knownDtypeOf(input) ?? 'plain';
  if (!Array.isArray(input)) {
    const { dtype } = (input ?? {}) as { readonly dtype?: unknown };
    if (dtypes.includes(dtype as Dtype)) return dtype as Dtype;
    if (isStrided(input)) return elementTypeOf(input.data);
    const columns = foreignColumns(input);
    return columns === undefined ? 'plain' : typeOfColumns(columns);
  }
  let widest: Dtype | 'plain' | undefined;
  for (const row of input) {
    // Numbers, or holes of an array that may be as long as it likes.
    if (typeof row !== 'object') break;
    const own = knownDtypeOf(row) ?? 'plain';
    if (own === 'float64') return own;
    if (widest === undefined || widths.indexOf(own) > widths.indexOf(widest)) widest = own;
  }
  return widest ?? 'plain';
}

// Types of rows: numbers of an array, which become float32, may be fractions, so they are wider than whole ones.
const widths: readonly (Dtype | 'plain')[] = ['uint8', 'uint32', 'int32', 'plain', 'float32', 'float64'];

/** Columns as rows of `dtype`; throws `ERR_SHAPE`, and `ERR_INVALID_ARGUMENT` with column and row of no number. */
export function rowsOfColumns(columns: ReadonlyMap<string, unknown>, dtype: Dtype): DenseRows {
  const lists = [...columns] as [string, ArrayLike<unknown>][];
  for (const [name, list] of lists) {
    if (list instanceof RefusedColumn) throw new CovariumError('ERR_INVALID_ARGUMENT', `\`values\` ${list.message}`);
    if (!isList(list))
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `\`values\` column (${describe(name)}) is (${quoted(list)}): pass columns of numbers.`,
      );
  }
  const [firstName, first] = lists[0] ?? ['', []];
  if (lists.length === 0) throw new CovariumError('ERR_SHAPE', '`values` has (0) columns: pass a table with columns.');
  const rows = first.length;
  const width = lists.length;
  const values = zerosOf(dtype, rows * width);
  for (const [column, [name, list]] of lists.entries()) {
    if (list.length !== rows)
      throw new CovariumError(
        'ERR_SHAPE',
        `\`values\` column (${describe(name)}) has (${list.length}) entries, but (${describe(firstName)}) has (${rows}).`,
      );
    for (let row = 0; row < rows; row++) {
      const entry = list[row];
      // What is missing is null in JSON and in Arrow's columns.
      const number = entry === null && dtype.startsWith('float') ? Number.NaN : entry;
      if (typeof number !== 'number')
        throw new CovariumError(
          'ERR_INVALID_ARGUMENT',
          `\`values\` column (${describe(name)}) has (${quoted(entry)}) in row (${row}): pass numbers only.`,
          { row, column },
        );
      values[row * width + column] = number;
    }
  }
  return { values, rows, columns: width };
}

/**
 * A strided array as rows of `dtype`: `data` itself where nothing lies between its rows. Throws `ERR_SHAPE` where its
 * numbers lie outside of `data`, `ERR_INVALID_ARGUMENT`, and `ERR_OUT_OF_RANGE` for a number that `dtype` does not hold
 * unless the caller has asked for that type.
 */
export function rowsOfStrided(
  { data, shape, strides, stride, offset = 0 }: StridedArray,
  dtype: Dtype,
  isAsked: boolean,
): DenseRows {
  // Getters may have changed them since.
  if (!isList(shape) || !isList(data))
    throw new CovariumError(
      'ERR_SHAPE',
      `\`values\` has shape (${quoted(shape)}) and data (${quoted(data)}): pass arrays.`,
    );
  const [rows, columns] = shape.length === 1 ? [1, shape[0]!] : [shape[0]!, shape[1]!];
  const steps = strides ?? stride ?? (shape.length === 1 ? [1] : [columns, 1]);
  if (!isList(steps))
    throw new CovariumError('ERR_SHAPE', `\`values.strides\` is (${quoted(steps)}): pass an array of whole numbers.`);
  const isWhole = [...shape, ...steps, offset].every(Number.isSafeInteger) && rows >= 0 && columns >= 0;
  if (shape.length < 1 || shape.length > 2 || steps.length !== shape.length || !isWhole)
    throw new CovariumError(
      'ERR_SHAPE',
      `\`values\` has shape (${listed(shape)}), strides (${listed(steps)}) and offset (${quoted(offset)}): pass whole numbers of one or two dimensions.`,
    );
  const [down, across] = shape.length === 1 ? [0, steps[0]!] : [steps[0]!, steps[1]!];
  const ends = [0, down * Math.max(0, rows - 1)].flatMap((at) => [at, at + across * Math.max(0, columns - 1)]);
  if (rows * columns > 0 && (offset + Math.min(...ends) < 0 || offset + Math.max(...ends) >= data.length))
    throw new CovariumError(
      'ERR_SHAPE',
      `\`values\` of shape (${listed(shape)}) reaches beyond its data, which are (${data.length}) numbers.`,
    );
  const isDense = across === 1 && (down === columns || rows <= 1);
  if (isDense && ArrayBuffer.isView(data) && elementTypeOf(data) === dtype)
    return { values: data.subarray(offset, offset + rows * columns), rows, columns };
  const values = zerosOf(dtype, rows * columns);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const entry: unknown = data[offset + row * down + column * across];
      if (typeof entry !== 'number')
        throw new CovariumError(
          'ERR_INVALID_ARGUMENT',
          `\`values\` entry (${shape.length === 1 ? column : `${row}, ${column}`}) is (${quoted(entry)}): pass a number.`,
        );
      values[row * columns + column] = entry;
    }
  if (!isAsked && columns > 0) {
    const [rowOf, columnOf] = [(at: number) => Math.floor(at / columns), (at: number) => at % columns];
    const place = (at: number) => (shape.length === 1 ? `${at}` : `${rowOf(at)}, ${columnOf(at)}`);
    requireRoom(values, (at) => data[offset + rowOf(at) * down + columnOf(at) * across], place);
  }
  return { values, rows, columns };
}
