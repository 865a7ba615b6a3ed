import type { Timings } from '../backend.ts';
import { checkOptions, describe, wholeNumber } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { type Dtype, dtypeOf, requireDtype, type Values, zerosOf } from '../dtype.ts';
import { hostValues } from './host-memory.ts';
import { LinearAlgebra } from './linear-algebra.ts';
import { Storage } from './storage.ts';
import type { Vector } from './vector.ts';

let storageInside: (matrix: Matrix) => Storage;

/** Rows of numbers: an array of arrays, a typed array whose shape is known otherwise, or a Matrix. */
export type MatrixInput = Matrix | Values | readonly (readonly number[] | Values)[];

/** Shape and type of a matrix made from host values; what is omitted follows from the values. */
export interface MatrixOptions {
  /** By default as many as the values fill. */
  readonly rows?: number | undefined;
  /** By default the length of the first row, or what the number of rows leaves. */
  readonly columns?: number | undefined;
  /** By default the type of the values, `float32` for arrays of arrays. */
  readonly dtype?: Dtype | undefined;
}

/** A dense row-major matrix of numbers, rows x columns. It may have no rows; it has at least one column. */
export class Matrix extends LinearAlgebra<Matrix, Vector> {
  readonly #rows: number;
  readonly #columns: number;
  readonly #storage: Storage;

  static {
    storageInside = (matrix) => matrix.#storage;
  }

  /** @internal */
  constructor(storage: Storage, rows: number, columns: number) {
    super();
    this.#storage = storage;
    this.#rows = rows;
    this.#columns = columns;
  }

  /** Number of rows, from 0. */
  get rows(): number {
    return this.#rows;
  }

  /** Number of columns, from 1. */
  get columns(): number {
    return this.#columns;
  }

  /**
   * A matrix of host values. A typed array of type `dtype` is wrapped, not copied; anything else is copied.
   * Throws `ERR_SHAPE` (ragged rows, a length that doesn't fit the shape), `ERR_INVALID_ARGUMENT` (an entry that is no
   * number), `ERR_OUT_OF_RANGE`, `ERR_CLOSED`.
   */
  static from(values: MatrixInput, options: MatrixOptions = {}): Matrix {
    checkOptions(options, ['rows', 'columns', 'dtype']);
    const rows = options.rows === undefined ? undefined : wholeNumber('Number of rows', options.rows);
    const columns = options.columns === undefined ? undefined : wholeNumber('Number of columns', options.columns, 1);
    if (values instanceof Matrix) {
      const copy = hostValues(values.data, options.dtype, true);
      return Matrix.#shaped(copy, rows ?? values.rows, columns ?? values.columns);
    }
    if (Array.isArray(values)) return fromRows(values, rows, columns, options.dtype ?? 'float32');
    const host = hostValues(values as Values, options.dtype);
    const width = columns ?? (rows ? host.length / rows : undefined);
    if (width === undefined)
      throw new CovariumError(
        'ERR_SHAPE',
        `A typed array (${describe(values)}) needs a number of columns, or of rows.`,
      );
    return Matrix.#shaped(host, rows ?? Math.floor(host.length / width), width);
  }

  static #shaped(values: Values, rows: number, columns: number): Matrix {
    if (!Number.isInteger(columns) || columns < 1 || rows * columns !== values.length)
      throw new CovariumError('ERR_SHAPE', `Shape is (${rows}) x (${columns}), but the values are (${values.length}).`);
    return new Matrix(new Storage(values), rows, columns);
  }

  /** Type of the entries. */
  get dtype(): Dtype {
    return this.#storage.dtype;
  }

  /** The numbers, row after row: a live view, not a copy. Throws `ERR_CLOSED` once closed. */
  get data(): Values {
    return this.#storage.values;
  }

  /** Of the commit that computed this matrix; undefined for host values. */
  get timings(): Timings | undefined {
    return this.#storage.timings;
  }

  /** Whether the numbers are gone: {@link close} was called, or their device is closed. */
  get closed(): boolean {
    return this.#storage.closed;
  }

  /** The entry of a row and a column, both from 0. Throws `ERR_OUT_OF_RANGE` and `ERR_CLOSED`. */
  get(row: number, column: number): number {
    wholeNumber('Row', row, 0, this.rows - 1);
    wholeNumber('Column', column, 0, this.columns - 1);
    return this.data[row * this.columns + column]!;
  }

  /** A live view of one row. Throws `ERR_OUT_OF_RANGE` and `ERR_CLOSED`. */
  row(row: number): Values {
    wholeNumber('Row', row, 0, this.rows - 1);
    return this.data.subarray(row * this.columns, (row + 1) * this.columns);
  }

  /** A copy as an array of arrays. Throws `ERR_CLOSED`. */
  toArray(): number[][] {
    const { data, rows, columns } = this;
    const list: number[][] = [];
    for (let row = 0, at = 0; row < rows; ++row) {
      const entries: number[] = [];
      for (let column = 0; column < columns; ++column) entries.push(data[at++]!);
      list.push(entries);
    }
    return list;
  }

  /** Gives device memory back, once no commit in flight uses it. Idempotent. */
  close(): void {
    this.#storage.close();
  }

  /** {@link close}, at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/** The storage behind a matrix. For the rest of lib, not for users. */
export function matrixStorage(matrix: Matrix): Storage {
  return storageInside(matrix);
}

function fromRows(
  source: readonly unknown[],
  rows: number | undefined,
  columns: number | undefined,
  dtype: Dtype,
): Matrix {
  const first = source[0] as { length?: unknown } | undefined;
  const width = columns ?? first?.length;
  if (typeof width !== 'number' || width < 1)
    throw new CovariumError(
      'ERR_SHAPE',
      `Rows (${describe(source)}) do not say how many columns there are (${describe(width)}).`,
    );
  if (rows !== undefined && rows !== source.length)
    throw new CovariumError('ERR_SHAPE', `Shape has (${rows}) rows, but the values have (${source.length}).`);
  const count = source.length;
  const values = zerosOf(requireDtype(dtype), count * width);
  for (let row = 0; row < count; row++) copyRow(source[row], row, width, values);
  // An entry may be a getter, which changes them.
  if (source.length !== count)
    throw new CovariumError('ERR_SHAPE', `Rows were (${count}), and are (${source.length}) after they were read.`);
  return new Matrix(new Storage(values), count, width);
}

function copyRow(entries: unknown, row: number, width: number, values: Values): void {
  const isTyped = ArrayBuffer.isView(entries);
  if (isTyped) dtypeOf(entries);
  else if (!Array.isArray(entries))
    throw new CovariumError('ERR_INVALID_ARGUMENT', `Row (${row}) is not an array of numbers (${describe(entries)}).`);
  const { length } = entries as ArrayLike<unknown>;
  if (length !== width)
    throw new CovariumError(
      'ERR_SHAPE',
      `Row (${row}) has (${length}) entries, but the matrix has (${width}) columns.`,
    );
  for (let column = 0; column < width; column++) {
    const entry = (entries as ArrayLike<unknown>)[column];
    if (typeof entry !== 'number')
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Entry (${row}, ${column}) is not a number (${describe(entry)}).`,
      );
    values[row * width + column] = entry;
  }
}
