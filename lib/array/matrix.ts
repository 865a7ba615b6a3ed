import type { Timings } from '../backend.ts';
import {
  type AbortOptions,
  checkOptions,
  describe,
  fromStart,
  noConstructor,
  quoted,
  wholeNumber,
  wrongNumbers,
} from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { type Dtype, dtypeOf, requireDtype, type Values, zerosOf } from '../dtype.ts';
import { runSliced, runToEnd } from '../work.ts';
import { columnMeans, columnQuantiles } from './columns.ts';
import type { MadeOf } from './element-type.ts';
import {
  type ArrayContents,
  type ArrayJson,
  arrayJson,
  clonedContents,
  inspectAs,
  isArrayJson,
  jsonValues,
} from './face.ts';
import {
  type DenseRows,
  elementTypeOf,
  type ForeignTable,
  foreignColumns,
  isStrided,
  rowsOfColumns,
  rowsOfStrided,
} from './foreign.ts';
import { hostValues, requireRoom } from './host-memory.ts';
import { LinearAlgebra } from './linear-algebra.ts';
import { nestedRows } from './nested.ts';
import { Storage } from './storage.ts';
import { Vector, type VectorInput } from './vector.ts';

let storageInside: <D extends Dtype>(matrix: Matrix<D>) => Storage<D>;
let ownContents: PropertyDescriptor;

/**
 * Rows of numbers: an array of arrays, a typed array whose shape is known otherwise, a Matrix, what its `toJSON` gives;
 * or the tables and strided arrays of other libraries, columns by name, and rows that are objects
 * ({@link ForeignTable}).
 */
export type MatrixInput = Matrix | Values | readonly (readonly number[] | Values)[] | ForeignTable | ArrayJson;

/** Shape and type of a matrix made from host values; by default they follow from the values. */
export interface MatrixOptions<D extends Dtype | undefined = Dtype | undefined> {
  /** By default as many rows as the values fill. */
  readonly rows?: number | undefined;
  /** By default the length of the first row, or the number of values divided by `rows`. */
  readonly columns?: number | undefined;
  /**
   * By default the type of the values. If rows have several types, it is the one that comes last in `uint8`, `uint32`,
   * `int32`, `float32`, `float64`. It is `float32` for arrays of numbers, and for columns unless one is a Float64Array.
   * A number that the default type does not hold is `ERR_OUT_OF_RANGE`. If you pass a type, numbers are converted as
   * typed arrays do: 300 as `uint8` is 44, and 1e300 as `float32` is Infinity.
   */
  readonly dtype?: D;
}

// Rows of what is neither a typed array nor an array of rows.
function denseRows(input: unknown, asked: Dtype | undefined): DenseRows | undefined {
  if (isArrayJson(input)) return rowsOfStrided({ shape: input.shape, data: jsonValues(input) }, input.dtype, true);
  const dtype = requireDtype(asked === undefined ? typeOfRows(input) : asked);
  if (isStrided(input)) return rowsOfStrided(input, dtype, asked !== undefined);
  const columns = foreignColumns(input);
  if (columns === undefined) return undefined;
  const dense = rowsOfColumns(columns, dtype);
  if (asked === undefined && dtype === 'float32') {
    const lists = [...columns.values()] as ArrayLike<unknown>[];
    const { columns: width, values } = dense;
    requireRoom(values, (at) => lists[at % width]![Math.floor(at / width)], placeIn(width));
  }
  return dense;
}

const placeIn = (width: number) => (at: number) => `${Math.floor(at / width)}, ${at % width}`;

/** A dense row-major matrix of numbers, rows x columns. It may have 0 rows, but has at least one column. */
export class Matrix<D extends Dtype = Dtype> extends LinearAlgebra<Matrix<D>, Vector<D>> {
  readonly #rows: number;
  readonly #columns: number;
  readonly #storage: Storage<D>;

  static {
    storageInside = (matrix) => matrix.#storage;
    ownContents = inspectAs(Matrix.prototype, 'Matrix');
  }

  /** @internal */
  constructor(storage: Storage<D>, rows: number, columns: number) {
    super();
    if (!(storage instanceof Storage)) throw noConstructor('Matrix', 'Matrix.from(rows)');
    this.#storage = storage;
    this.#rows = rows;
    this.#columns = columns;
    Object.defineProperty(this, 'contents', ownContents);
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
   *
   * ```ts
   * Matrix.from([[1, 2], [3, 4]]);
   * Matrix.from(new Float64Array(6), { columns: 2 });
   * Matrix.from({ height: [1.7, 1.8], weight: [60, 80] }); // columns by name
   * Matrix.from(JSON.parse(JSON.stringify(matrix)));
   * ```
   *
   * Throws `ERR_SHAPE` (ragged rows, a length that doesn't fit the shape), `ERR_INVALID_ARGUMENT` (an entry that is not
   * a number), `ERR_OUT_OF_RANGE`, `ERR_CLOSED`.
   */
  static from<Given extends MatrixInput, D extends Dtype | undefined = undefined>(
    values: Given,
    options: MatrixOptions<D> = {},
  ): Matrix<MadeOf<Given, NoInfer<D>>> {
    return Matrix.#from(values, options) as Matrix<Dtype> as Matrix<MadeOf<Given, NoInfer<D>>>;
  }

  static #from(values: MatrixInput, options: MatrixOptions): Matrix {
    checkOptions(options, ['rows', 'columns', 'dtype']);
    const rows = options.rows === undefined ? undefined : wholeNumber('rows', options.rows);
    const columns = options.columns === undefined ? undefined : wholeNumber('columns', options.columns, 1);
    if (values instanceof Matrix) {
      const copy = hostValues(values.data, options.dtype, true);
      return Matrix.#shaped(copy, rows ?? values.rows, columns ?? values.columns);
    }
    if ((values as { readonly rows?: unknown } | undefined)?.rows instanceof Matrix)
      throw wrongNumbers('values', values, 'its `rows`');
    const foreign = denseRows(clonedContents(values), options.dtype);
    if (foreign !== undefined) {
      const isAsked = (rows ?? foreign.rows) === foreign.rows && (columns ?? foreign.columns) === foreign.columns;
      if (isAsked) return Matrix.#shaped(hostValues(foreign.values, options.dtype), foreign.rows, foreign.columns);
      throw new CovariumError(
        'ERR_SHAPE',
        `\`values\` is (${foreign.rows} x ${foreign.columns}), but (${rows ?? 'any'} x ${columns ?? 'any'}) was asked for.`,
      );
    }
    if (Array.isArray(values)) return fromRows(values, rows, columns, options.dtype);
    if (!ArrayBuffer.isView(values))
      throw wrongNumbers('values', values, 'rows of numbers, a typed array, a Matrix, or a table');
    const host = hostValues(values as Values, options.dtype);
    const width = columns ?? (rows ? host.length / rows : undefined);
    if (width === undefined)
      throw new CovariumError(
        'ERR_SHAPE',
        `\`values\` (${describe(values)}) needs a shape: pass \`columns\` or \`rows\`.`,
      );
    return Matrix.#shaped(host, rows ?? Math.floor(host.length / width), width);
  }

  static #shaped(values: Values, rows: number, columns: number): Matrix {
    if (!Number.isInteger(columns) || columns < 1 || rows * columns !== values.length)
      throw new CovariumError(
        'ERR_SHAPE',
        `\`values\` has (${values.length}) numbers, which do not fill (${rows}) rows of (${columns}).`,
      );
    return new Matrix(new Storage(values), rows, columns);
  }

  /** Type of the entries. */
  get dtype(): D {
    return this.#storage.dtype;
  }

  /** The numbers, row after row: a live view, not a copy. Throws `ERR_CLOSED` once closed. */
  get data(): Values<D> {
    return this.#storage.values;
  }

  /** Rows and columns; other libraries read a strided array by {@link strides} and {@link offset} too. */
  get shape(): [rows: number, columns: number] {
    return [this.#rows, this.#columns];
  }

  /** The steps in {@link data} from one row to the next, and from one column to the next, in elements. */
  get strides(): [row: number, column: number] {
    return [this.#columns, 1];
  }

  /** The index of the first entry in {@link data}. */
  get offset(): number {
    return 0;
  }

  /** Timings of the commit that computed this matrix; undefined for host values. */
  get timings(): Timings | undefined {
    return this.#storage.timings;
  }

  /**
   * Type, shape and numbers as an own property, which structuredClone and postMessage copy and {@link Matrix.from}
   * takes. Throws `ERR_CLOSED` once closed.
   */
  get contents(): ArrayContents<D> {
    return { dtype: this.dtype, shape: this.shape, data: this.data };
  }

  /** True once this or its device was closed, or the memory was transferred to another thread. */
  get closed(): boolean {
    return this.#storage.closed;
  }

  /** The entry at a row and a column, both counted from 0. Throws `ERR_OUT_OF_RANGE` and `ERR_CLOSED`. */
  get(row: number, column: number): number {
    wholeNumber('Row', row, 0, this.rows - 1);
    wholeNumber('Column', column, 0, this.columns - 1);
    return (this.data as Values)[row * this.columns + column]!;
  }

  /** The entry at a row and a column; negative ones count from the end. Throws like {@link get}. */
  at(row: number, column: number): number {
    return this.get(fromStart('Row', row, this.rows), fromStart('Column', column, this.columns));
  }

  /** A copy of one column. Throws `ERR_OUT_OF_RANGE` and `ERR_CLOSED`. */
  column(column: number): Values<D> {
    wholeNumber('Column', column, 0, this.columns - 1);
    const { data, rows, columns, dtype } = this;
    const copy: Values = zerosOf(dtype, rows);
    for (let row = 0; row < rows; row++) copy[row] = (data as Values)[row * columns + column]!;
    return copy as Values<D>;
  }

  /** The rows in turn, as {@link row} gives them. Throws `ERR_CLOSED`. */
  *[Symbol.iterator](): Generator<Values<D>, void, undefined> {
    for (let row = 0; row < this.rows; row++) yield this.row(row);
  }

  /** A live view of one row. Throws `ERR_OUT_OF_RANGE` and `ERR_CLOSED`. */
  row(row: number): Values<D> {
    wholeNumber('Row', row, 0, this.rows - 1);
    return this.data.subarray(row * this.columns, (row + 1) * this.columns) as Values as Values<D>;
  }

  /** A copy as an array of arrays. Throws `ERR_CLOSED`. */
  toArray(): number[][] {
    return nestedRows(this.data, this.rows, this.columns);
  }

  /**
   * The mean of each column of this matrix (m x n), a vector of n in float64. Rejects with `ERR_SHAPE` (no rows),
   * `ERR_CLOSED`.
   *
   * ```ts
   * const draws = await normal.sample(100_000);
   * console.log(await draws.columnMeans(), await draws.columnQuantiles([0.05, 0.5, 0.95]), await draws.covariance());
   * ```
   */
  async columnMeans(options: AbortOptions = {}): Promise<Vector<'float64'>> {
    checkOptions(options, ['signal']);
    return makeVector(await runSliced(columnMeans(this), options.signal));
  }

  /** Synchronous twin of {@link columnMeans}. */
  columnMeansSync(options: Record<string, never> = {}): Vector<'float64'> {
    checkOptions(options, []);
    return makeVector(runToEnd(columnMeans(this)));
  }

  /**
   * The quantiles of each column of this matrix (m x n) in float64, k x n: a row for each of k probabilities,
   * interpolated as NumPy does by default. Rejects with `ERR_SHAPE` (no rows), `ERR_OUT_OF_RANGE` (a probability),
   * `ERR_CLOSED`.
   */
  async columnQuantiles(probabilities: VectorInput, options: AbortOptions = {}): Promise<Matrix<'float64'>> {
    checkOptions(options, ['signal']);
    return this.#quantiles(await runSliced(columnQuantiles(this, probabilities), options.signal));
  }

  /** Synchronous twin of {@link columnQuantiles}. */
  columnQuantilesSync(probabilities: VectorInput, options: Record<string, never> = {}): Matrix<'float64'> {
    checkOptions(options, []);
    return this.#quantiles(runToEnd(columnQuantiles(this, probabilities)));
  }

  #quantiles(values: Float64Array): Matrix<'float64'> {
    return new Matrix(new Storage<'float64'>(values), values.length / this.columns, this.columns);
  }

  /**
   * The matrix for JSON.stringify. {@link Matrix.from} makes a matrix with the same bits from it. Throws `ERR_CLOSED`.
   */
  toJSON(): ArrayJson<D> {
    return arrayJson(this.dtype, this.shape, this.data);
  }

  /** Releases device memory once no commit in flight uses it. Idempotent. */
  close(): void {
    this.#storage.close();
  }

  /** Calls {@link close} at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }
}

function makeVector(values: Float64Array): Vector<'float64'> {
  return new Vector(new Storage<'float64'>(values));
}

/** The storage behind a matrix, for other modules of lib only. */
export function matrixStorage<D extends Dtype>(matrix: Matrix<D>): Storage<D> {
  return storageInside(matrix);
}

function fromRows(
  source: readonly unknown[],
  rows: number | undefined,
  columns: number | undefined,
  asked: Dtype | undefined,
): Matrix {
  const first = source[0];
  if (typeof first === 'number')
    throw new CovariumError(
      'ERR_SHAPE',
      `\`values\` is flat (${describe(source)}): pass rows, as [[1, 0], [0, 1]], or a typed array.`,
    );
  if (source.length > 0) requireRow(first, 0);
  const width = columns ?? (first as ArrayLike<unknown> | undefined)?.length;
  if (!width)
    throw new CovariumError(
      'ERR_SHAPE',
      `\`values\` ${source.length === 0 ? 'has (0) rows' : 'row (0) has (0) entries'}: pass at least one.`,
    );
  if (rows !== undefined && rows !== source.length)
    throw new CovariumError('ERR_SHAPE', `\`rows\` is (${rows}), but \`values\` has (${source.length}) rows.`);
  const count = source.length;
  const dtype = requireDtype(asked === undefined ? typeOfRows(source) : asked);
  const values = zerosOf(dtype, count * width);
  for (let row = 0; row < count; row++) copyRow(source[row], row, width, values);
  // An entry may be a getter that changes the rows.
  if (source.length !== count)
    throw new CovariumError(
      'ERR_SHAPE',
      `\`values\` had (${count}) rows, but (${source.length}) after they were read.`,
    );
  if (asked === undefined && dtype !== 'float64') {
    const given = (at: number) => (source[Math.floor(at / width)] as ArrayLike<unknown>)[at % width];
    requireRoom(values, given, placeIn(width));
  }
  return new Matrix(new Storage(values), count, width);
}

function typeOfRows(rows: unknown): Dtype {
  const own = elementTypeOf(rows);
  return own === 'plain' ? 'float32' : own;
}

function requireRow(entries: unknown, row: number): void {
  if (Array.isArray(entries) || (ArrayBuffer.isView(entries) && dtypeOf(entries))) return;
  throw new CovariumError(
    'ERR_INVALID_ARGUMENT',
    `\`values\` row (${row}) is (${quoted(entries)}): pass an array of numbers.`,
  );
}

function copyRow(entries: unknown, row: number, width: number, values: Values): void {
  requireRow(entries, row);
  const { length } = entries as ArrayLike<unknown>;
  if (length !== width)
    throw new CovariumError(
      'ERR_SHAPE',
      `\`values\` row (${row}) has (${length}) entries, but the matrix has (${width}) columns.`,
    );
  for (let column = 0; column < width; column++) {
    const entry = (entries as ArrayLike<unknown>)[column];
    if (typeof entry !== 'number')
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `\`values\` entry (${row}, ${column}) is (${quoted(entry)}): pass a number.`,
      );
    values[row * width + column] = entry;
  }
}
