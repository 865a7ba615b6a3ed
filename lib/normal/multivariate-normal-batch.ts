import type { DtypeOf, Only } from '../array/element-type.ts';
import { hostValues } from '../array/host-memory.ts';
import { type RowsInput, rowsInput } from '../array/inputs.ts';
import { Matrix, type MatrixInput } from '../array/matrix.ts';
import { Storage } from '../array/storage.ts';
import type { Vector } from '../array/vector.ts';
import type { Volume } from '../array/volume.ts';
import {
  type AbortOptions,
  checkOptions,
  inspectFields,
  noConstructor,
  notCloneable,
  refuseAborted,
  wholeNumber,
  withoutSignal,
} from '../check.ts';
import { runAlone, runWith, signalOf } from '../command/abort.ts';
import { Kept } from '../command/hold.ts';
import { run, runAllSync, runSync, type Task } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Device } from '../device.ts';
import type { RunOptions } from '../distribution/sample-options.ts';
import { part, type Real, type RealDtype, type Values } from '../dtype.ts';
import {
  type BatchInput,
  type BatchParameters,
  batchConstants,
  batchInput,
  factorBatch,
  logDeterminants,
  naming,
  normalWords,
  ofDistribution,
  parametersAt,
  squareOf,
} from './batch.ts';
import {
  batchOut,
  batchRun,
  drawBatch,
  drawMatrices,
  logDensities,
  ownRows,
  sharedRows,
  type VolumeSyncOptions,
} from './batch-tasks.ts';
import { type FitGroupsOptions, fitGroups } from './fit-groups.ts';
import { covarianceOptionNames } from './from-covariance.ts';
import { MultivariateNormal, normalOf } from './multivariate-normal.ts';
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

/** A batch as JSON: options of {@link MultivariateNormalBatch.fromCovariance}. */
export interface BatchJson {
  /** Type of the draws. */
  readonly dtype: RealDtype;
  /** B x n. */
  readonly means: readonly (readonly number[])[];
  /** B matrices of n x n. */
  readonly covariances: readonly (readonly (readonly number[])[])[];
}

/** The run of {@link MultivariateNormalBatch.sample}: normal b draws from stream + b. */
export interface BatchSampleOptions extends RunOptions, AbortOptions {}

/** The run of {@link MultivariateNormalBatch.sampleVolume}, and the destination of its draws. */
export interface BatchVolumeOptions extends VolumeSyncOptions, BatchSampleOptions {}

let batchWith: (parameters: BatchParameters) => MultivariateNormalBatch;
let hold: (batch: MultivariateNormalBatch) => void;

/** The normals of a batch, each in an object of its own: a root of each has its own shape. */
type Each<D extends RealDtype> = readonly MultivariateNormal<D>[];

/**
 * B multivariate normals of the same dimension n on a device, for example one for each class, or one for each of
 * 100,000 tracks. They are two blocks of memory: one command factors all of them, one draws from all, and one computes
 * all densities. Every method that computes has a synchronous twin. After {@link close} each throws `ERR_CLOSED`.
 */
export class MultivariateNormalBatch<D extends RealDtype = RealDtype> {
  /** @internal A copy of it would not compute. The first field: the device's own refusal has other words. */
  readonly cloning: symbol = notCloneable('MultivariateNormalBatch', 'pass its toJSON() to fromCovariance there');
  /** The device that holds the normals and computes. */
  readonly device: Device;
  /** B, the number of normals, from 1. */
  readonly size: number;
  /** n, from 1. */
  readonly dimension: number;
  /** Type of the draws. */
  readonly dtype: D;
  // Two blocks; or objects, for options that one command for all does not take.
  readonly #models: BatchParameters<D> | Each<D>;
  readonly #given = new Map<number, MultivariateNormal<D>>();
  readonly #kept: Kept;
  #constants: Float64Array | undefined;
  #closed = false;

  static {
    batchWith = (parameters) => new MultivariateNormalBatch(parameters);
    hold = (batch) => batch.#kept.hold();
    inspectFields(MultivariateNormalBatch.prototype, 'MultivariateNormalBatch');
  }

  private constructor(models: BatchParameters | Each<RealDtype>) {
    const [first] = isEach(models) ? models : [models];
    if (!isEach(models) && !('factors' in Object(models)))
      throw noConstructor(
        'MultivariateNormalBatch',
        'await MultivariateNormalBatch.fromCovariance({ device, covariances })',
      );
    // The static methods say which type their options give.
    this.#models = models as BatchParameters<D> | Each<D>;
    this.device = first!.device;
    this.#kept = new Kept(this.device, () => {
      if (isEach(models)) return;
      models.means.close();
      models.factors.close();
    });
    this.size = isEach(models) ? models.length : models.size;
    this.dimension = isEach(models) ? models[0]!.dimension : models.n;
    this.dtype = first!.dtype as D;
    Object.freeze(this);
  }

  /**
   * The normals of means (B x n) and covariances (B matrices of n x n). If one is refused, none is made. Rejects like
   * {@link MultivariateNormal.fromCovariance}, for the first normal that is refused, with its index (from 0) in the
   * message and in the error's `matrix`: `ERR_NOT_POSITIVE_DEFINITE` (the pivot), `ERR_NOT_SYMMETRIC` and
   * `ERR_NOT_FINITE` (the entry), `ERR_SHAPE` (also if dimensions differ, or there is no covariance). With `singular`,
   * `jitter` or a factor on the GPU each normal is made separately, which is slow for many.
   */
  static async fromCovariance<O extends BatchOptions & AbortOptions>(
    options: Only<O, BatchOptions & AbortOptions>,
  ): Promise<MultivariateNormalBatch<DtypeOf<O>>> {
    const signal = signalOf(options);
    const { input, alone, task } = made(withoutSignal(options));
    if (task !== undefined) return new MultivariateNormalBatch(await run(task, signal));
    return new MultivariateNormalBatch(
      await together(input.size, (b) =>
        MultivariateNormal.fromCovariance({ ...alone(b), signal }).catch((error) => {
          throw ofDistribution(normalWords, b, error);
        }),
      ),
    );
  }

  /** Synchronous twin of {@link fromCovariance}. */
  static fromCovarianceSync<O extends BatchOptions>(
    options: Only<O, BatchOptions>,
  ): MultivariateNormalBatch<DtypeOf<O>> {
    const { input, alone, task } = made(options);
    if (task !== undefined) return new MultivariateNormalBatch(runSync(task));
    return new MultivariateNormalBatch(
      oneByOne(input.size, (b) => naming(normalWords, b, () => MultivariateNormal.fromCovarianceSync(alone(b)))),
    );
  }

  /**
   * Fits a normal to each group of rows (count x n); `labels` has the group of each row, from 0 to B - 1. Rejects with
   * `ERR_SHAPE` (a group of fewer than n + 1 rows), `ERR_OUT_OF_RANGE` (a label, or rows too large to square),
   * `ERR_NOT_FINITE` (the entry), `ERR_NOT_POSITIVE_DEFINITE` (a group with a column that the columns before it
   * determine, if rounding shows it).
   *
   * ```ts
   * using species = await MultivariateNormalBatch.fit({ device, rows, labels: [0, 0, 1, 0, 2, ...rest] });
   * ```
   */
  static async fit<O extends FitGroupsOptions & AbortOptions>(
    options: Only<O, FitGroupsOptions & AbortOptions>,
  ): Promise<MultivariateNormalBatch<DtypeOf<O>>> {
    return new MultivariateNormalBatch(await runWith(options, fitGroups));
  }

  /** Synchronous twin of {@link fit}. */
  static fitSync<O extends FitGroupsOptions>(options: Only<O, FitGroupsOptions>): MultivariateNormalBatch<DtypeOf<O>> {
    return new MultivariateNormalBatch(runAllSync(fitGroups(options)));
  }

  /** True once {@link close} was called or the device is closed. */
  get closed(): boolean {
    return this.#closed || this.device.closed;
  }

  /** The normal at an index, from 0. The batch owns it and closes it. Throws `ERR_OUT_OF_RANGE`, `ERR_CLOSED`. */
  at(index: number): MultivariateNormal<D> {
    const models = this.#open();
    wholeNumber('Index', index, 0, this.size - 1);
    if (isEach(models)) return models[index]!;
    let normal = this.#given.get(index);
    if (normal === undefined || normal.closed) {
      normal = normalOf(parametersAt(models, index));
      this.#given.set(index, normal);
    }
    return normal;
  }

  /**
   * The batch for JSON.stringify, as options of {@link fromCovariance}. With a device (and `singular`, if a normal is
   * singular) they make the batch again. It takes B n^3 operations before it returns. Throws `ERR_OUT_OF_MEMORY`,
   * `ERR_CLOSED`.
   *
   * ```ts
   * const again = await MultivariateNormalBatch.fromCovariance({ device, ...JSON.parse(JSON.stringify(batch)) });
   * ```
   */
  toJSON(): BatchJson {
    const each = Array.from({ length: this.size }, (_, index) => this.at(index).toJSON());
    return {
      dtype: this.dtype,
      means: each.map(({ mean }) => mean),
      covariances: each.map(({ covariance }) => covariance),
    };
  }

  /**
   * `count` draws of each normal: B matrices, count x n. Matrix b has the bits that normal b alone draws from stream +
   * b; on a GPU they agree up to rounding. For many normals {@link sampleVolume} is much faster, because it does not
   * make a matrix for each. Rejects like {@link MultivariateNormal.sample}: `ERR_OUT_OF_RANGE` (count, seed, rows, a
   * stream + b beyond 2^64 - 1), `ERR_TOO_LARGE`, `ERR_OUT_OF_MEMORY`, `ERR_ABORTED`.
   */
  async sample(count: number, options: BatchSampleOptions = {}): Promise<Matrix<D>[]> {
    checkOptions(options, [...runOptionNames, 'signal']);
    const { signal, ...which } = options;
    const models = this.#open();
    refuseAborted(signal);
    if (!isEach(models)) return run(drawMatrices(models, count, which), signal);
    const runs = runsOf(which, this.size);
    return together(this.size, (b) => models[b]!.sample(count, { ...runs[b]!, signal }));
  }

  /** Synchronous twin of {@link sample}. */
  sampleSync(count: number, options: RunOptions = {}): Matrix<D>[] {
    checkOptions(options, runOptionNames);
    const models = this.#open();
    if (!isEach(models)) return runSync(drawMatrices(models, count, options));
    const runs = runsOf(options, this.size);
    return oneByOne(this.size, (b) => models[b]!.sampleSync(count, runs[b]!));
  }

  /**
   * The draws of {@link sample} in one block: a volume of width n, height `count` and depth B, written to `out` if
   * given. Rejects like {@link sample}, and with `ERR_SHAPE`, `ERR_FOREIGN_BUFFER` and `ERR_CLOSED` (out).
   *
   * ```ts
   * const draws = await batch.sampleVolume(1, { seed: 42 });
   * console.log(draws.data.subarray(7 * batch.dimension, 8 * batch.dimension)); // of normal 7
   * ```
   */
  async sampleVolume(count: number, options: BatchVolumeOptions = {}): Promise<Volume<D>> {
    checkOptions(options, [...runOptionNames, 'out', 'signal']);
    const { signal, ...which } = options;
    refuseAborted(signal);
    const models = this.#open();
    if (!isEach(models)) return run(drawBatch(models, wholeNumber('Count', count, 1), which), signal);
    const { volume, runs } = this.#intoVolume(count, which);
    try {
      await together(this.size, (b) => models[b]!.sample(count, { ...runs[b]!, signal }));
      return volume;
    } catch (error) {
      if (which.out === undefined) volume.close();
      throw error;
    }
  }

  /** Synchronous twin of {@link sampleVolume}. */
  sampleVolumeSync(count: number, options: VolumeSyncOptions = {}): Volume<D> {
    checkOptions(options, [...runOptionNames, 'out']);
    const models = this.#open();
    if (!isEach(models)) return runSync(drawBatch(models, wholeNumber('Count', count, 1), options));
    const { volume, runs } = this.#intoVolume(count, options);
    try {
      for (const [b, normal] of models.entries()) normal.sampleSync(count, runs[b]!);
      return volume;
    } catch (error) {
      if (options.out === undefined) volume.close();
      throw error;
    }
  }

  /**
   * Logarithm of the density of each normal at each row (count x n, or one vector of n): B x count. The largest entry
   * of a column belongs to the normal under which that row is most likely. Rejects like {@link
   * MultivariateNormal.logPdf}: `ERR_NOT_FINITE`, `ERR_SHAPE`, `ERR_OUT_OF_MEMORY`.
   */
  async logPdf(rows: RowsInput, options: AbortOptions = {}): Promise<Matrix<D>> {
    const models = this.#open();
    if (!isEach(models))
      return runAlone(options, () => {
        this.#kept.hold();
        return logDensities(models, sharedRows(models, rows), this.#constantsOf(models));
      });
    const input = this.#rows(rows);
    return this.#stacked(await together(this.size, (b) => models[b]!.logPdf(input, options)));
  }

  /** Synchronous twin of {@link logPdf}. */
  logPdfSync(rows: RowsInput): Matrix<D> {
    const models = this.#open();
    if (!isEach(models)) return runSync(logDensities(models, sharedRows(models, rows), this.#constantsOf(models)));
    const input = this.#rows(rows);
    return this.#stacked(oneByOne(this.size, (b) => models[b]!.logPdfSync(input)));
  }

  /**
   * Logarithm of the density of each normal at its own rows: B x m. The rows are B x n, one for each normal (m = 1), or
   * a volume of width n, height m and depth B. Rejects like {@link logPdf}.
   */
  async logPdfEach(rows: MatrixInput | Volume, options: AbortOptions = {}): Promise<Matrix<D>> {
    const models = this.#open();
    if (!isEach(models))
      return runAlone(options, () => {
        this.#kept.hold();
        return logDensities(models, ownRows(models, rows), this.#constantsOf(models));
      });
    const own = this.#ownRows(rows);
    return this.#stacked(await together(this.size, (b) => models[b]!.logPdf(own(b), options)));
  }

  /** Synchronous twin of {@link logPdfEach}. */
  logPdfEachSync(rows: MatrixInput | Volume): Matrix<D> {
    const models = this.#open();
    if (!isEach(models)) return runSync(logDensities(models, ownRows(models, rows), this.#constantsOf(models)));
    const own = this.#ownRows(rows);
    return this.#stacked(oneByOne(this.size, (b) => models[b]!.logPdfSync(own(b))));
  }

  /** Closes each normal; their memory is released once no call of the batch in flight uses it. Idempotent. */
  close(): void {
    this.#closed = true;
    const models = this.#models;
    for (const normal of isEach(models) ? models : this.#given.values()) normal.close();
    this.#kept.close();
  }

  /** Calls {@link close} at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  // Waits for nothing: a call reads its rows before it returns.
  #constantsOf(models: BatchParameters): Float64Array {
    this.#constants ??= batchConstants(models, logDeterminants(models));
    return this.#constants;
  }

  // Where each draws into its part of one volume.
  #intoVolume(count: number, { out, ...which }: VolumeSyncOptions) {
    wholeNumber('Count', count, 1);
    const { device, dtype, size, dimension: n } = this;
    const runs = runsOf(which, size);
    const { volume, written } = batchOut({ device, dtype, size, n }, count, out);
    const values = written.valuesFor(device) as Values as Real;
    return { volume, runs: runs.map((each, b) => ({ ...each, out: part(values, b, count * n) })) };
  }

  // The rows are read and converted once, not once for each normal.
  #rows(rows: RowsInput): Matrix {
    const { values, count, n } = rowsInput('Input', this.device, rows, this.dimension);
    return new Matrix(new Storage(hostValues(values, this.dtype)), count, n);
  }

  #ownRows(rows: MatrixInput | Volume): (index: number) => Matrix {
    const { device, size, dimension: n } = this;
    const { values, count } = ownRows({ device, dtype: this.dtype, size, n }, rows);
    return (b) => new Matrix(new Storage(part(values as Real, b, count * n) as Values), count, n);
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

  #open(): BatchParameters<D> | Each<D> {
    if (!this.closed) return this.#models;
    throw new CovariumError('ERR_CLOSED', `Batch of (${this.size}) normals is closed.`);
  }
}

/** The batch of these parameters, for other modules of lib only. */
export function batchOf(parameters: BatchParameters): MultivariateNormalBatch {
  return batchWith(parameters);
}

/** Lets the call that begins hold the memory of a batch, for other modules of lib only. */
export function holdBatch(batch: MultivariateNormalBatch): void {
  hold(batch);
}

function isEach<D extends RealDtype>(models: BatchParameters<D> | Each<D>): models is Each<D> {
  return Array.isArray(models);
}

interface Made {
  readonly input: BatchInput;
  /** The options of one normal. */
  readonly alone: (index: number) => CovarianceOptions;
  /** Undefined if the normals must be made one by one. */
  readonly task: Task<BatchParameters> | undefined;
}

function made(options: BatchOptions): Made {
  const ofOne = covarianceOptionNames.filter((name) => name !== 'mean' && name !== 'covariance');
  checkOptions(options, [...ofOne, 'means', 'covariances']);
  const { means, covariances, ...shared } = options;
  const { device, singular, jitter, factor } = shared;
  const input = batchInput({ device, dtype: shared.dtype, centres: means, squares: covariances }, normalWords);
  const { dtype, n, centres } = input;
  const alone = (b: number) => ({
    ...shared,
    dtype,
    mean: centres === undefined ? undefined : part(centres, b, n),
    covariance: squareOf(input, b),
  });
  const isPlain = (singular ?? 'error') === 'error' && (jitter ?? false) === false;
  const isAuto = factor === undefined || factor === 'auto' || factor === 'cpu';
  if (!isPlain || !isAuto) return { input, alone, task: undefined };
  const way = singular === undefined && jitter === undefined;
  return { input, alone, task: factorBatch(input, shared.symmetryTolerance, normalWords, way) };
}

const runOptionNames: readonly string[] = ['seed', 'stream', 'firstRow'];

/** The run of each normal: the same seed, and consecutive streams. */
function runsOf(options: RunOptions, size: number): RunOptions[] {
  const { seed, stream, firstRow } = batchRun(options, size);
  return Array.from({ length: size }, (_, b) => ({ seed, stream: BigInt(stream) + BigInt(b), firstRow }));
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
