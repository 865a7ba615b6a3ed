import type { DtypeOf, Only } from '../array/element-type.ts';
import { hostValues } from '../array/host-memory.ts';
import { type RowsInput, realDtype, rowsInput } from '../array/inputs.ts';
import { Matrix, type MatrixInput } from '../array/matrix.ts';
import { Storage } from '../array/storage.ts';
import type { Vector } from '../array/vector.ts';
import { Volume, volumeStorage } from '../array/volume.ts';
import { requireDevice } from '../backend-handle.ts';
import { checkOptions, describe, wholeNumber } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Device } from '../device.ts';
import type { RunOptions } from '../distribution/sample-options.ts';
import type { RealDtype, Values } from '../dtype.ts';
import { normalCounter, randomSeed } from '../stream/counter.ts';
import { covarianceOptionNames } from './from-covariance.ts';
import { squareInput } from './inputs.ts';
import { MultivariateNormal } from './multivariate-normal.ts';
import type { CovarianceOptions } from './options.ts';

/**
 * Options of {@link MultivariateNormalBatch.fromCovariance}; those other than `means` and `covariances` apply to every
 * normal.
 */
export interface BatchOptions extends Omit<CovarianceOptions, 'mean' | 'covariance'> {
  /** One row for each normal, B x n; zeros by default. */
  readonly means?: MatrixInput | undefined;
  /** Symmetric and positive definite: B matrices of n x n, or a volume of width n, height n and depth B. */
  readonly covariances: readonly MatrixInput[] | Volume;
}

/** The run of {@link MultivariateNormalBatch.sample}: normal b draws from stream + b. */
export interface BatchSampleOptions extends RunOptions {
  /** Stops the work at the next block of rows; the promise rejects with `ERR_ABORTED`. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * B multivariate normals of the same dimension n on a device, for example one for each class. Asynchronous calls commit
 * the work of all normals before they wait. Every method that computes has a synchronous twin. After {@link close} each
 * throws `ERR_CLOSED`.
 */
export class MultivariateNormalBatch<D extends RealDtype = RealDtype> {
  /** The device that holds the normals and computes. */
  readonly device: Device;
  /** B, the number of normals, from 1. */
  readonly size: number;
  /** n, from 1. */
  readonly dimension: number;
  /** Type of the draws. */
  readonly dtype: D;
  readonly #normals: readonly MultivariateNormal<D>[];
  #closed = false;

  private constructor(given: readonly MultivariateNormal[]) {
    // The static methods say which type their options give.
    const normals = given as readonly MultivariateNormal<D>[];
    const { device, dimension, dtype } = normals[0]!;
    this.device = device;
    this.size = normals.length;
    this.dimension = dimension;
    this.dtype = dtype;
    this.#normals = normals;
  }

  /**
   * The normals of means (B x n) and covariances (B of n x n). If one is refused, none is made. Rejects like {@link
   * MultivariateNormal.fromCovariance}, with the index of the normal (from 0) in the message:
   * `ERR_NOT_POSITIVE_DEFINITE` (the pivot), `ERR_NOT_SYMMETRIC` and `ERR_NOT_FINITE` (the entry), `ERR_SHAPE` (also if
   * dimensions differ, or there is no covariance).
   */
  static async fromCovariance<O extends BatchOptions>(
    options: Only<O, BatchOptions>,
  ): Promise<MultivariateNormalBatch<DtypeOf<O>>> {
    const each = covariancesOf(options);
    return new MultivariateNormalBatch(
      await together(each.length, (b) =>
        MultivariateNormal.fromCovariance(each[b]!).catch((error) => {
          throw aboutNormal(b, error);
        }),
      ),
    );
  }

  /** Synchronous twin of {@link fromCovariance}. */
  static fromCovarianceSync<O extends BatchOptions>(
    options: Only<O, BatchOptions>,
  ): MultivariateNormalBatch<DtypeOf<O>> {
    const each = covariancesOf(options);
    return new MultivariateNormalBatch(
      oneByOne(each.length, (b) => naming(b, () => MultivariateNormal.fromCovarianceSync(each[b]!))),
    );
  }

  /** True once {@link close} was called or the device is closed. */
  get closed(): boolean {
    return this.#closed || this.device.closed;
  }

  /** The normal at an index, from 0. The batch owns it and closes it. Throws `ERR_OUT_OF_RANGE`, `ERR_CLOSED`. */
  at(index: number): MultivariateNormal<D> {
    return this.#open()[wholeNumber('Index', index, 0, this.size - 1)]!;
  }

  /**
   * `count` draws of each normal: B matrices, count x n. Matrix b equals, bit for bit, what normal b alone draws from
   * stream + b. Rejects like {@link MultivariateNormal.sample}: `ERR_OUT_OF_RANGE` (count, seed, rows, a stream + b
   * beyond 2^64 - 1), `ERR_TOO_LARGE`, `ERR_OUT_OF_MEMORY`, `ERR_ABORTED`.
   */
  async sample(count: number, options: BatchSampleOptions = {}): Promise<Matrix<D>[]> {
    const normals = this.#open();
    const runs = runsOf(options, [...runOptionNames, 'signal'], this.size);
    const { signal } = options;
    return together(this.size, (b) => normals[b]!.sample(count, { ...runs[b]!, signal }));
  }

  /** Synchronous twin of {@link sample}. */
  sampleSync(count: number, options: RunOptions = {}): Matrix<D>[] {
    const normals = this.#open();
    const runs = runsOf(options, runOptionNames, this.size);
    return oneByOne(this.size, (b) => normals[b]!.sampleSync(count, runs[b]!));
  }

  /**
   * Logarithm of the density of each normal at each row (count x n, or one vector of n): B x count. The largest entry
   * of a column belongs to the normal under which that row is most likely. Rejects like {@link
   * MultivariateNormal.logPdf}: `ERR_NOT_FINITE`, `ERR_SHAPE`, `ERR_OUT_OF_MEMORY`.
   */
  async logPdf(rows: RowsInput): Promise<Matrix<D>> {
    const normals = this.#open();
    const input = this.#rows(rows);
    return this.#stacked(await together(this.size, (b) => normals[b]!.logPdf(input)));
  }

  /** Synchronous twin of {@link logPdf}. */
  logPdfSync(rows: RowsInput): Matrix<D> {
    const normals = this.#open();
    const input = this.#rows(rows);
    return this.#stacked(oneByOne(this.size, (b) => normals[b]!.logPdfSync(input)));
  }

  /** Closes each normal; their memory is released once no commit in flight uses it. Idempotent. */
  close(): void {
    this.#closed = true;
    for (const normal of this.#normals) normal.close();
  }

  /** Calls {@link close} at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  // The rows are read and converted once, not once for each normal.
  #rows(rows: RowsInput): Matrix {
    const { values, count, n } = rowsInput('Input', this.device, rows, this.dimension);
    return new Matrix(new Storage(hostValues(values, this.dtype)), count, n);
  }

  #stacked(scores: readonly Vector[]): Matrix<D> {
    try {
      const { length } = scores[0]!;
      const storage = Storage.forResult(this.device, this.dtype, this.size * length);
      for (const [b, score] of scores.entries()) storage.values.set(score.data, b * length);
      return new Matrix(storage, this.size, length);
    } finally {
      for (const score of scores) score.close();
    }
  }

  #open(): readonly MultivariateNormal<D>[] {
    if (!this.closed) return this.#normals;
    throw new CovariumError('ERR_CLOSED', `Batch of (${this.size}) normals is closed.`);
  }
}

/** The options of each normal. */
function covariancesOf(options: BatchOptions): CovarianceOptions[] {
  const ofOne = covarianceOptionNames.filter((name) => name !== 'mean' && name !== 'covariance');
  checkOptions(options, [...ofOne, 'means', 'covariances']);
  const { means, covariances, ...shared } = options;
  const device = requireDevice(options.device);
  const dtype = realDtype(device, options.dtype, means, ...(Array.isArray(covariances) ? covariances : [covariances]));
  const given = covariances instanceof Volume ? slices(covariances, device) : covariances;
  if (!Array.isArray(given))
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `Covariances are neither an array of matrices, nor a Volume (${describe(given)}).`,
    );
  if (given.length === 0) throw new CovariumError('ERR_SHAPE', 'Batch has (0) covariances, not at least one.');
  let n: number | undefined;
  const squares = given.map((input: MatrixInput, b) =>
    naming(b, () => {
      const square = squareInput('Covariance', device, input, dtype, n, 'first one');
      n = square.n;
      return square.values;
    }),
  );
  const centres = means === undefined ? undefined : meansOf(means, device, squares.length, n!);
  return squares.map((covariance, b) => ({ ...shared, dtype, mean: centres?.[b], covariance }));
}

function slices(volume: Volume, device: Device): Values[] {
  const { width: n, height, depth } = volume;
  if (n !== height)
    throw new CovariumError(
      'ERR_SHAPE',
      `Covariances are a volume of (${volume.size.join(' x ')}) numbers: its width and height differ.`,
    );
  const values = volumeStorage(volume).valuesFor(device);
  return Array.from({ length: depth }, (_, b) => values.subarray(b * n * n, (b + 1) * n * n));
}

function meansOf(means: MatrixInput, device: Device, size: number, n: number): Values[] {
  const { values, count } = rowsInput('Matrix of means', device, means, n);
  if (count !== size)
    throw new CovariumError(
      'ERR_SHAPE',
      `Matrix of means has (${count}) rows, but the batch has (${size}) covariances.`,
    );
  return Array.from({ length: size }, (_, b) => values.subarray(b * n, (b + 1) * n));
}

const runOptionNames: readonly string[] = ['seed', 'stream', 'firstRow'];

/** The run of each normal: the same seed, and consecutive streams. */
function runsOf(options: RunOptions, known: readonly string[], size: number): RunOptions[] {
  checkOptions(options, known);
  const { seed = randomSeed(), stream = 0, firstRow = 0 } = options;
  normalCounter(seed, stream, 0);
  const first = BigInt(stream);
  const last = first + BigInt(size - 1);
  if (last >= 1n << 64n)
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `Streams (${first}) to (${last}) of a batch of (${size}) normals go beyond 2^64 - 1.`,
    );
  return Array.from({ length: size }, (_, b) => ({ seed, stream: first + BigInt(b), firstRow }));
}

type Closable = { close(): void };

/**
 * Starts all before it waits for any. If one is refused, closes the others and throws the refusal with the lowest
 * index.
 */
async function together<Made extends Closable>(size: number, make: (index: number) => Promise<Made>): Promise<Made[]> {
  const settled = await Promise.allSettled(Array.from({ length: size }, (_, index) => make(index)));
  const made = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const refused = settled.find((one) => one.status === 'rejected');
  if (refused === undefined) return made;
  for (const each of made) each.close();
  throw refused.reason;
}

/** Makes one after the other. If one is refused, closes those before it. */
function oneByOne<Made extends Closable>(size: number, make: (index: number) => Made): Made[] {
  const made: Made[] = [];
  try {
    for (let index = 0; index < size; index++) made.push(make(index));
    return made;
  } catch (error) {
    for (const each of made) each.close();
    throw error;
  }
}

function naming<Result>(index: number, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw aboutNormal(index, error);
  }
}

function aboutNormal(index: number, error: unknown): unknown {
  if (!(error instanceof CovariumError)) return error;
  const { name, code, message, stack, ...fields } = error;
  return new CovariumError(code, `Normal (${index}) of the batch: ${message}`, { ...fields, cause: error });
}
