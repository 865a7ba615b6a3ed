import type { Matrix } from '../array/matrix.ts';
import {
  finiteNumber,
  heightOf,
  type NamedOperands,
  type Operand,
  requireAlike,
  requireApart,
  requireColumns,
  requireFiniteBeside,
  requireLength,
  requireNormal,
  requireRows,
  requireSameOrApart,
  requireSquare,
  widthOf,
} from '../array/operand.ts';
import type { Vector } from '../array/vector.ts';
import type { Encoder, Timings } from '../backend.ts';
import { OpenBackend } from '../backend-handle.ts';
import {
  checkOptions,
  describe,
  inspectFields,
  noConstructor,
  notCloneable,
  orElse,
  requireBoolean,
  wholeNumber,
  wrongArgument,
} from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Real, Values } from '../dtype.ts';
import { type Kernel, type Launch, recordedLaunch } from '../kernel/kernel.ts';
import { firstElement, normalCounter } from '../stream/counter.ts';
import type {
  DensityOptions,
  FactorOptions,
  NormalElements,
  ProductOptions,
  RowElements,
  TriangleOptions,
} from './options.ts';
import { factorOn } from './options.ts';
import { Recording } from './recording.ts';

const noOptions = Object.freeze({});

/**
 * Records commands, then commits them once: they run in order, after earlier commits. Each method checks its operands'
 * device, type (`ERR_INVALID_ARGUMENT`, `ERR_UNSUPPORTED_DTYPE`, `ERR_FOREIGN_BUFFER`, `ERR_CLOSED`) and shapes
 * (`ERR_SHAPE`) at once; values are checked when the commands run, and an invalid value fails the commit. After a
 * failed commit, the contents of what its commands write are not specified. A "factor" is lower triangular; its upper
 * triangle is never read. A vector of n counts as one row of n. Methods that record a command return the command
 * buffer.
 *
 * ```ts
 * import { Matrix, openDevice } from 'covarium';
 *
 * const a = Matrix.from([[4, 2], [2, 3]]);
 * await openDevice().commandBuffer().cholesky(a).commit();
 * console.log(a.toArray()); // about [[2, 0], [1, 1.41421]]
 * ```
 */
export class CommandBuffer {
  /** @internal A copy of it would not compute. The first field: the device's own refusal has other words. */
  readonly cloning: symbol = notCloneable('CommandBuffer', 'make one in each thread');
  /** The device that runs the commands. */
  readonly device: OpenBackend;
  readonly #recording: Recording;

  static {
    inspectFields(CommandBuffer.prototype, 'CommandBuffer');
  }

  /** @internal */
  constructor(device: OpenBackend) {
    if (!(device instanceof OpenBackend)) throw noConstructor('CommandBuffer', 'device.commandBuffer()');
    this.device = device;
    this.#recording = new Recording(device);
  }

  /** out[i] = element first + i of the standard normal stream. */
  fillNormal(out: Operand, elements: NormalElements = noOptions): this {
    checkOptions(elements, ['seed', 'stream', 'first'], 'elements');
    const { seed = 0, stream = 0, first = 0 } = elements;
    const [target] = this.#all({ out });
    const counter = normalCounter(seed, stream, firstElement(first, target!.length, 1, 'first'));
    return this.#record((encoder) => encoder.fillNormal(target!, counter));
  }

  /** Fails the commit with `ERR_NOT_FINITE` at the first entry of a (any shape, row by row) that is NaN or infinite. */
  requireFinite(a: Operand): this {
    return this.#record((encoder) => encoder.requireFinite(this.#one({ a }), Math.max(1, widthOf(a))));
  }

  /**
   * Fails the commit with `ERR_NOT_SYMMETRIC` at the first pair of entries of a (n x n) that differ by more than the
   * relative `tolerance` (0 by default), and with `ERR_NOT_FINITE`. Throws `ERR_OUT_OF_RANGE` for a tolerance that is
   * negative or not finite.
   */
  requireSymmetric(a: Matrix, tolerance = 0): this {
    const n = requireSquare('`a`', a);
    return this.#record((encoder) =>
      encoder.requireSymmetric(this.#one({ a }), n, finiteNumber('Tolerance', tolerance, 0)),
    );
  }

  /**
   * a (n x n) becomes its lower Cholesky factor; only the lower triangle is read. Fails with
   * `ERR_NOT_POSITIVE_DEFINITE`. Throws `ERR_UNSUPPORTED` for a factor on the GPU if the device has none.
   */
  cholesky(a: Matrix, options: FactorOptions = noOptions): this {
    checkOptions(options, ['factor']);
    const where = factorOn(options.factor);
    const n = requireSquare('`a`', a);
    return this.#record((encoder) => encoder.cholesky(this.#one({ a }), n, where));
  }

  /** Sets the entries of a (n x n) above the diagonal to 0. */
  zeroUpper(a: Matrix): this {
    const n = requireSquare('`a`', a);
    return this.#record((encoder) => encoder.zeroUpper(this.#one({ a }), n));
  }

  /** Transposes a (n x n) along its other diagonal, in place: a_ij <-> a_(n-1-j)(n-1-i). */
  antitranspose(a: Matrix): this {
    const n = requireSquare('`a`', a);
    return this.#record((encoder) => encoder.antitranspose(this.#one({ a }), n));
  }

  /** to = from, of the same shape. */
  copy(from: Operand, to: Operand): this {
    const [source, target] = this.#all({ from, to });
    requireAlike('`to`', to, '`from`', from);
    requireApart('`to`', target!, '`from`', source!);
    return this.#record((encoder) => encoder.copy(source!, target!));
  }

  /** out = a + b, all of the same shape; out may be a or b. */
  sum(a: Operand, b: Operand, out: Operand): this {
    const [left, right, target] = this.#all({ a, b, out });
    requireAlike('`b`', b, '`a`', a);
    requireAlike('`out`', out, '`a`', a);
    requireSameOrApart('`out`', target!, '`a`', left!);
    requireSameOrApart('`out`', target!, '`b`', right!);
    return this.#record((encoder) => encoder.sum(left!, right!, target!));
  }

  /**
   * Adds scale * row (a vector of n) to each row of rows (count x n). Throws `ERR_OUT_OF_RANGE` for a scale that the
   * type does not hold.
   */
  addRow(rows: Operand, row: Operand, scale = 1): this {
    const [all, one] = this.#all({ rows, row });
    requireLength('`row`', one!.length, widthOf(rows), '`rows`', 'columns');
    requireApart('`row`', one!, '`rows`', all!);
    requireFiniteBeside('`scale`', scale, all!);
    return this.#record((encoder) => one!.length > 0 && encoder.addRow(all!, one!, scale));
  }

  /** Multiplies each row of rows (count x n) by row (a vector of n), element by element. */
  scaleColumns(rows: Operand, row: Operand): this {
    const [all, one] = this.#all({ rows, row });
    requireLength('`row`', one!.length, widthOf(rows), '`rows`', 'columns');
    requireApart('`row`', one!, '`rows`', all!);
    return this.#record((encoder) => one!.length > 0 && encoder.scaleColumns(all!, one!));
  }

  /**
   * c = alpha op(a) op(b) + beta c, where op(a) is m x k, op(b) k x n, c m x n, and op transposes if the options say
   * so. An alpha of 0 reads neither a nor b, a beta of 0 does not read c. Throws `ERR_OUT_OF_RANGE` for an alpha or a
   * beta that the type does not hold.
   */
  product(a: Matrix, b: Matrix, c: Matrix, options: ProductOptions = noOptions): this {
    checkOptions(options, ['transposeA', 'transposeB', 'alpha', 'beta']);
    const { transposeA = false, transposeB = false, alpha = 1, beta = 0 } = options;
    requireBoolean('transposeA', transposeA);
    requireBoolean('transposeB', transposeB);
    const [left, other, target] = this.#all({ a, b, c });
    const [m, k] = transposeA ? [widthOf(a), heightOf(a)] : [heightOf(a), widthOf(a)];
    const [right, n] = transposeB ? [widthOf(b), heightOf(b)] : [heightOf(b), widthOf(b)];
    requireRows(transposeB ? 'Transposed `b`' : '`b`', right, k, transposeA ? 'transposed `a`' : '`a`', 'columns');
    requireRows('`c`', heightOf(c), m, transposeA ? 'transposed `a`' : '`a`', 'rows');
    requireColumns('`c`', widthOf(c), n, transposeB ? 'transposed `b`' : '`b`');
    requireApart('`c`', target!, '`a`', left!);
    requireApart('`c`', target!, '`b`', other!);
    requireFiniteBeside('Alpha', alpha, target!);
    requireFiniteBeside('Beta', beta, target!);
    return this.#record((encoder) =>
      encoder.product(left!, other!, target!, m, n, k, transposeA, transposeB, alpha, beta),
    );
  }

  /** Each row x of rows (count x n) becomes factor x, or factor' x if `transposed`. */
  triangularProduct(factor: Matrix, rows: Operand, options: TriangleOptions = noOptions): this {
    const [triangle, all] = this.#triangle(factor, rows, options);
    return this.#record((encoder) =>
      encoder.triangularProduct(triangle!, all!, factor.rows, orElse(options.transposed, false)),
    );
  }

  /** Each row x of rows (count x n) becomes the solution y of factor y = x, or factor' y = x if `transposed`. */
  triangularSolve(factor: Matrix, rows: Operand, options: TriangleOptions = noOptions): this {
    const [triangle, all] = this.#triangle(factor, rows, options);
    return this.#record((encoder) =>
      encoder.triangularSolve(triangle!, all!, factor.rows, orElse(options.transposed, false)),
    );
  }

  /**
   * Each row x of rows (count x n) becomes the solution y of factor factor' y = x. If it is the factor of a covariance,
   * y = covariance^-1 x.
   */
  choleskySolve(factor: Matrix, rows: Operand): this {
    const [triangle, all] = this.#triangle(factor, rows, noOptions);
    return this.#record((encoder) => encoder.choleskySolve(triangle!, all!, factor.rows));
  }

  /** out[r] = sum of squares of row r. */
  squaredNorms(rows: Operand, out: Vector): this {
    const [all, target] = this.#all({ rows, out });
    wholeNumber('Number of columns of `rows`', widthOf(rows), 1);
    requireLength('`out`', target!.length, heightOf(rows), '`rows`', 'rows');
    requireApart('`out`', target!, '`rows`', all!);
    return this.#record((encoder) => encoder.squaredNorms(all!, target!, widthOf(rows)));
  }

  /**
   * Row r of out (count x n) = mean + factor z, or mean + factor^-1 z if `inverse`; z is elements [(firstRow + r) n,
   * (firstRow + r + 1) n) of the normal stream.
   */
  sample(factor: Matrix, mean: Operand, out: Operand, options: RowElements = noOptions): this {
    checkOptions(options, ['seed', 'stream', 'firstRow', 'inverse']);
    const [triangle, centre, target] = this.#all({ factor, mean, out });
    const n = requireNormal('`factor`', factor, mean, '`out`', out);
    const { seed = 0, stream = 0, firstRow = 0, inverse = false } = options;
    requireBoolean('inverse', inverse);
    const counter = normalCounter(seed, stream, firstElement(firstRow, heightOf(out), n));
    requireApart('`out`', target!, '`factor`', triangle!);
    requireApart('`out`', target!, '`mean`', centre!);
    return this.#record((encoder) => encoder.sample(triangle!, centre!, target!, inverse, counter));
  }

  /**
   * out[r] = constant - |w|^2 / 2, where factor w = row r - mean, or w = factor (row r - mean) if `inverse`. Throws
   * `ERR_OUT_OF_RANGE` for a constant that the type does not hold.
   */
  logDensity(factor: Matrix, mean: Operand, rows: Operand, out: Vector, options: DensityOptions = noOptions): this {
    checkOptions(options, ['constant', 'inverse']);
    const [triangle, centre, all, target] = this.#all({ factor, mean, rows, out });
    requireNormal('`factor`', factor, mean, '`rows`', rows);
    requireLength('`out`', target!.length, heightOf(rows), '`rows`', 'rows');
    for (const [name, source] of Object.entries({ factor: triangle!, mean: centre!, rows: all! }))
      requireApart('`out`', target!, `\`${name}\``, source);
    const constant = requireFiniteBeside('Constant', orElse(options.constant, 0), target!);
    const inverse = requireBoolean('inverse', orElse(options.inverse, false));
    return this.#record((encoder) => encoder.logDensity(triangle!, centre!, all!, target!, inverse, constant));
  }

  /**
   * Column means (n) and covariance (n x n) of rows (count x n). The divisor of the covariance is count - ddof (ddof is
   * 1 by default).
   */
  meanAndCovariance(
    rows: Matrix,
    mean: Operand,
    covariance: Matrix,
    options: { ddof?: number | undefined } = noOptions,
  ): this {
    checkOptions(options, ['ddof']);
    const [all, centre, spread] = this.#all({ rows, mean, covariance });
    requireNormal('`covariance`', covariance, mean, '`rows`', rows);
    wholeNumber('Number of rows of `rows`', heightOf(rows), 1);
    const ddof = wholeNumber('ddof', orElse(options.ddof, 1), 0, heightOf(rows) - 1);
    requireApart('`mean`', centre!, '`rows`', all!);
    requireApart('`covariance`', spread!, '`rows`', all!);
    requireApart('`covariance`', spread!, '`mean`', centre!);
    return this.#record((encoder) => encoder.meanAndCovariance(all!, centre!, spread!, ddof));
  }

  /**
   * Runs a user's kernel over a grid. Throws `ERR_INVALID_ARGUMENT`, `ERR_SHAPE` or `ERR_OUT_OF_RANGE` if the launch
   * does not fit the kernel, `ERR_FOREIGN_BUFFER` if it belongs to another device.
   */
  launch(kernel: Kernel, launch: Launch): this;
  /**
   * Runs a kernel of msl/ over `grid` threads (x, y, z) in threadgroups of `threadgroup`, its operands (of any shape)
   * and the bytes of its params in index order. Throws `ERR_UNSUPPORTED` on a device without kernels.
   */
  launch(
    kernel: string,
    operands: readonly (Operand | Values)[],
    grid: readonly number[],
    threadgroup: readonly number[],
  ): this;
  launch(
    kernel: Kernel | string,
    how: Launch | readonly (Operand | Values)[],
    grid: readonly number[] = [],
    threadgroup: readonly number[] = [],
  ): this {
    if (typeof kernel !== 'string') {
      const launch = recordedLaunch(kernel, this.device, how as Launch);
      this.#recording.hold(launch.reachable);
      return this.#record((encoder) =>
        encoder.launch(launch.compiled, launch.operands, launch.grid, launch.threadgroup),
      );
    }
    if (!Array.isArray(how))
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `\`kernel\` is a name (${describe(kernel)}), so \`operands\` must be an array, not (${describe(how)}). For your own kernel, pass what Device.kernel() returns.`,
      );
    for (const [name, size] of Object.entries({ grid, threadgroup }))
      if (!Array.isArray(size)) throw wrongArgument(name, size, 'an array of whole numbers');
    const values = this.#recording.anyValues(how as readonly (Operand | Values)[]);
    for (const size of [...grid, ...threadgroup]) wholeNumber('Size of `grid` or `threadgroup`', size, 0, 2 ** 32 - 1);
    return this.#record((encoder) => encoder.launch(kernel, values, grid, threadgroup));
  }

  /**
   * Commits; settles when the commands have run. Rejects with `ERR_ABORTED` if `signal` aborts, with the error of a
   * command, and with `ERR_CLOSED` if it was already committed or the device is closed.
   */
  async commit(options: { readonly signal?: AbortSignal | undefined } = noOptions): Promise<Timings> {
    checkOptions(options, ['signal']);
    return this.#recording.commit(options.signal);
  }

  /** Synchronous twin of {@link commit}: the commands have run when it returns. */
  commitSync(): Timings {
    return this.#recording.commitSync();
  }

  #record(command: (encoder: Encoder) => void): this {
    this.#recording.record(command);
    return this;
  }

  #triangle(factor: Matrix, rows: Operand, options: TriangleOptions): Real[] {
    checkOptions(options, ['transposed']);
    requireBoolean('transposed', orElse(options.transposed, false));
    const [triangle, all] = this.#all({ factor, rows });
    requireColumns('`rows`', widthOf(rows), requireSquare('Factor', factor), '`factor`');
    requireApart('`rows`', all!, '`factor`', triangle!);
    return [triangle!, all!];
  }

  #one(operand: NamedOperands): Real {
    return this.#all(operand)[0]!;
  }

  #all(operands: NamedOperands): Real[] {
    return this.#recording.values(operands);
  }
}
