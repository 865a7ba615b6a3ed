import type { DtypeOf, Only } from '../array/element-type.ts';
import { requireAttached } from '../array/host-memory.ts';
import type { RowsInput } from '../array/inputs.ts';
import { Matrix, type MatrixInput } from '../array/matrix.ts';
import { Storage } from '../array/storage.ts';
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
import { runAlone, signalOf } from '../command/abort.ts';
import { Kept } from '../command/hold.ts';
import { run, runSync, type Task } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Device } from '../device.ts';
import { dtypeOf, part, type Real, type RealDtype, type Values, zerosOf } from '../dtype.ts';
import {
  type BatchParameters,
  type BatchWords,
  batchConstants,
  batchInput,
  factorBatch,
  logDeterminants,
  parametersAt,
} from '../normal/batch.ts';
import {
  type BatchRows,
  batchRun,
  drawBatch,
  logDensities,
  ownRows,
  sharedRows,
  type VolumeSyncOptions,
} from '../normal/batch-tasks.ts';
import { firstElement, normalCounter } from '../stream/counter.ts';
import { requireRowLimit } from '../stream/radial-scales.ts';
import { logDecay, logDensityAtLocation } from './density.ts';
import type { StudentJson } from './json.ts';
import { type MultivariateStudentT, studentOf } from './multivariate-student-t.ts';
import type { ScaleOptions } from './options.ts';
import { requireDegreesOfFreedom } from './parameters.ts';

/** Options of {@link MultivariateStudentTBatch.fromScale}. */
export interface StudentBatchOptions extends Pick<ScaleOptions, 'device' | 'dtype' | 'symmetryTolerance'> {
  /** nu: any positive number from 2^-1021 on; Infinity, or the string of it that JSON has, gives the normals. */
  readonly degreesOfFreedom: StudentJson['degreesOfFreedom'];
  /** One row for each Student-t, B x n; zeros by default. */
  readonly locations?: MatrixInput | undefined;
  /** Symmetric and positive definite: B matrices of n x n, or a volume of width n, height n and depth B. */
  readonly scales: readonly MatrixInput[] | Volume;
}

/** A batch as JSON: options of {@link MultivariateStudentTBatch.fromScale}. */
export interface StudentBatchJson {
  /** Type of the draws. */
  readonly dtype: RealDtype;
  /** nu, positive; Infinity as a string. */
  readonly degreesOfFreedom: StudentJson['degreesOfFreedom'];
  /** B x n. */
  readonly locations: readonly (readonly number[])[];
  /** B matrices of n x n. */
  readonly scales: readonly (readonly (readonly number[])[])[];
}

/** The run of {@link MultivariateStudentTBatch.sampleVolume}, and the destination of its draws. */
export interface StudentVolumeOptions extends VolumeSyncOptions, AbortOptions {}

const words: BatchWords = {
  one: 'Student-t',
  centre: 'Location',
  centres: 'Locations',
  square: 'Scale',
  squares: 'Scales',
};

/**
 * B multivariate Student-t distributions of the same dimension n and the same degrees of freedom on a device, in two
 * blocks of memory; see {@link MultivariateNormalBatch}. Every method that computes has a synchronous twin. After
 * {@link close} each throws `ERR_CLOSED`.
 */
export class MultivariateStudentTBatch<D extends RealDtype = RealDtype> {
  /** @internal A copy of it would not compute. The first field: the device's own refusal has other words. */
  readonly cloning: symbol = notCloneable('MultivariateStudentTBatch', 'pass its toJSON() to fromScale there');
  /** The device that holds the distributions and computes. */
  readonly device: Device;
  /** B, the number of distributions, from 1. */
  readonly size: number;
  /** n, from 1. */
  readonly dimension: number;
  /** Type of the draws. */
  readonly dtype: D;
  /** nu, positive; Infinity for normals. */
  readonly degreesOfFreedom: number;
  readonly #models: BatchParameters<D>;
  // For draws about 0, which are stretched from the locations in float64.
  readonly #zeros: Storage;
  readonly #locations: Float64Array;
  readonly #given = new Map<number, MultivariateStudentT<D>>();
  readonly #kept: Kept;
  #constants: Float64Array | undefined;
  #closed = false;

  static {
    inspectFields(MultivariateStudentTBatch.prototype, 'MultivariateStudentTBatch');
  }

  private constructor(models: BatchParameters, degreesOfFreedom: number) {
    if (!('factors' in Object(models)))
      throw noConstructor(
        'MultivariateStudentTBatch',
        'await MultivariateStudentTBatch.fromScale({ device, scales, degreesOfFreedom })',
      );
    // The static methods say which type their options give.
    this.#models = models as BatchParameters<D>;
    this.device = models.device;
    this.#kept = new Kept(this.device, () => {
      // Those of calls that were in flight too.
      for (const student of this.#given.values()) student.close();
      for (const storage of [models.means, models.factors, this.#zeros]) storage.close();
    });
    this.size = models.size;
    this.dimension = models.n;
    this.dtype = models.dtype as D;
    this.degreesOfFreedom = degreesOfFreedom;
    this.#locations = new Float64Array(models.means.values);
    try {
      this.#zeros = Storage.onDevice(models.device, models.dtype, models.size * models.n);
      this.#zeros.values.fill(0);
      this.#zeros.settle();
    } catch (error) {
      models.means.close();
      models.factors.close();
      throw error;
    }
    Object.freeze(this);
  }

  /**
   * The distributions of locations (B x n) and scales (B matrices of n x n). If one is refused, none is made. Rejects
   * like {@link MultivariateStudentT.fromScale} (`ERR_SHAPE`, `ERR_NOT_FINITE`, `ERR_NOT_POSITIVE_DEFINITE`,
   * `ERR_OUT_OF_RANGE`), for the first that is refused, with its index (from 0) in the message and in the error's
   * `matrix`.
   */
  static async fromScale<O extends StudentBatchOptions & AbortOptions>(
    options: Only<O, StudentBatchOptions & AbortOptions>,
  ): Promise<MultivariateStudentTBatch<DtypeOf<O>>> {
    const signal = signalOf(options);
    const { nu, task } = made(withoutSignal(options));
    return new MultivariateStudentTBatch(await run(task, signal), nu);
  }

  /** Synchronous twin of {@link fromScale}. */
  static fromScaleSync<O extends StudentBatchOptions>(
    options: Only<O, StudentBatchOptions>,
  ): MultivariateStudentTBatch<DtypeOf<O>> {
    const { nu, task } = made(options);
    return new MultivariateStudentTBatch(runSync(task), nu);
  }

  /** True once {@link close} was called or the device is closed. */
  get closed(): boolean {
    return this.#closed || this.device.closed;
  }

  /**
   * The batch for JSON.stringify, as options of {@link fromScale}, which with a device make the batch again. It takes B
   * n^3 operations before it returns. Throws `ERR_OUT_OF_MEMORY`, `ERR_CLOSED`.
   */
  toJSON(): StudentBatchJson {
    const each = Array.from({ length: this.size }, (_, index) => this.at(index).toJSON());
    return {
      dtype: this.dtype,
      degreesOfFreedom: each[0]!.degreesOfFreedom,
      locations: each.map(({ location }) => location),
      scales: each.map(({ scale }) => scale),
    };
  }

  /** The Student-t at an index, from 0. The batch owns it and closes it. Throws `ERR_OUT_OF_RANGE`, `ERR_CLOSED`. */
  at(index: number): MultivariateStudentT<D> {
    const models = this.#open();
    wholeNumber('Index', index, 0, this.size - 1);
    return this.#at(models, index);
  }

  #at(models: BatchParameters<D>, index: number): MultivariateStudentT<D> {
    let student = this.#given.get(index);
    if (student === undefined || student.closed) {
      student = studentOf({ normal: parametersAt(models, index), nu: this.degreesOfFreedom });
      this.#given.set(index, student);
    }
    return student;
  }

  /**
   * `count` draws of each distribution, a volume of width n, height `count` and depth B, written to `out` if given. The
   * draws of b have the bits that it alone draws from stream + b; on a GPU they agree up to rounding. Rejects like
   * {@link MultivariateNormalBatch.sampleVolume}: `ERR_OUT_OF_RANGE`, `ERR_SHAPE` (out), `ERR_OUT_OF_MEMORY`,
   * `ERR_CLOSED`, `ERR_ABORTED`.
   */
  async sampleVolume(count: number, options: StudentVolumeOptions = {}): Promise<Volume<D>> {
    checkOptions(options, [...volumeOptionNames, 'signal']);
    const { signal, ...which } = options;
    refuseAborted(signal);
    return run(this.#draw(count, which), signal);
  }

  /** Synchronous twin of {@link sampleVolume}. */
  sampleVolumeSync(count: number, options: VolumeSyncOptions = {}): Volume<D> {
    checkOptions(options, volumeOptionNames);
    return runSync(this.#draw(count, options));
  }

  /**
   * Logarithm of the density of each distribution at each row (count x n, or one vector of n): B x count. Rejects with
   * `ERR_NOT_FINITE`, `ERR_SHAPE`, `ERR_OUT_OF_MEMORY`.
   */
  async logPdf(rows: RowsInput, options: AbortOptions = {}): Promise<Matrix<D>> {
    return runAlone(options, () => {
      const models = this.#open();
      this.#kept.hold();
      return this.#weighed(models, sharedRows(models, rows), false);
    });
  }

  /** Synchronous twin of {@link logPdf}. */
  logPdfSync(rows: RowsInput): Matrix<D> {
    const models = this.#open();
    return runSync(this.#weighed(models, sharedRows(models, rows), false));
  }

  /**
   * Logarithm of the density of each distribution at its own rows: B x m. The rows are B x n, one for each (m = 1), or
   * a volume of width n, height m and depth B. Rejects like {@link logPdf}.
   */
  async logPdfEach(rows: MatrixInput | Volume, options: AbortOptions = {}): Promise<Matrix<D>> {
    return runAlone(options, () => {
      const models = this.#open();
      this.#kept.hold();
      return this.#weighed(models, ownRows(models, rows), true);
    });
  }

  /** Synchronous twin of {@link logPdfEach}. */
  logPdfEachSync(rows: MatrixInput | Volume): Matrix<D> {
    const models = this.#open();
    return runSync(this.#weighed(models, ownRows(models, rows), true));
  }

  /** Releases the memory once no call in flight uses it. Idempotent. */
  close(): void {
    this.#closed = true;
    for (const student of this.#given.values()) student.close();
    this.#kept.close();
  }

  /** Calls {@link close} at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  #draw(count: number, options: VolumeSyncOptions): Task<Volume<D>> {
    const models = this.#open();
    const { degreesOfFreedom: nu, dimension: n } = this;
    wholeNumber('Count', count, 1);
    const { seed, stream, firstRow } = batchRun(options, this.size);
    const which = { ...options, seed, stream, firstRow };
    if (nu === Number.POSITIVE_INFINITY) return drawBatch(models, count, which);
    firstElement(firstRow, count, n);
    requireRowLimit(firstRow, count);
    const task = drawBatch({ ...models, means: this.#zeros }, count, which);
    const counter = normalCounter(seed, stream, firstRow);
    const draws = task.written.valuesFor(this.device) as Values as Real;
    return {
      ...task,
      encode: (encoder, scratch) => {
        task.encode(encoder, scratch);
        encoder.stretchBatch(draws, this.#locations, n, nu, counter);
      },
    };
  }

  #weighed(models: BatchParameters<D>, rows: BatchRows, isOwn: boolean): Task<Matrix<D>> {
    const { degreesOfFreedom: nu, dimension: n } = this;
    const constants = this.#constantsOf(models);
    if (nu === Number.POSITIVE_INFINITY) return logDensities(models, rows, constants);
    // -d^2 / 2, where d is a Mahalanobis distance. A float32 may hold a distance whose square overflows: such rows are
    // few, and the Student-t itself weighs them.
    const task = logDensities(models, rows, new Float64Array(this.size));
    const { values: given, count: columns } = rows;
    const factor = { rank: n };
    const weighFar = (b: number, entries: readonly number[]) => {
      requireAttached('Rows', given);
      const own = zerosOf(dtypeOf(given), entries.length * n);
      for (const [i, at] of entries.entries()) own.set(part(given as Real, isOwn ? at : at % columns, n), i * n);
      using weighed = this.#at(models, b).logPdfSync(new Matrix(new Storage(own), entries.length, n));
      for (const [i, at] of entries.entries()) task.written.values[at] = (weighed.data as Values)[i]!;
    };
    return {
      ...task,
      after: () => {
        const { values } = task.written;
        const far: number[][] = [];
        for (let at = 0; at < values.length; at++) {
          const square = -2 * values[at]!;
          const b = Math.floor(at / columns);
          if (Number.isFinite(square)) {
            values[at] = constants[b]! + logDecay({ factor }, nu, square, 0);
          } else {
            far[b] ??= [];
            far[b].push(at);
          }
        }
        for (const [b, entries] of far.entries()) if (entries !== undefined) weighFar(b, entries);
      },
    };
  }

  // Waits for nothing: a call reads its rows before it returns.
  #constantsOf(models: BatchParameters): Float64Array {
    this.#constants ??= this.#atLocations(logDeterminants(models));
    return this.#constants;
  }

  /** The densities at the locations, from the logarithms of the determinants. */
  #atLocations(logarithms: Float64Array): Float64Array {
    const { dimension: rank, degreesOfFreedom: nu } = this;
    if (nu === Number.POSITIVE_INFINITY) return batchConstants(this.#models, logarithms);
    return logarithms.map((logDeterminant) =>
      logDensityAtLocation({ normal: { factor: { logDeterminant, rank } }, nu }),
    );
  }

  #open(): BatchParameters<D> {
    if (!this.closed) return this.#models;
    throw new CovariumError('ERR_CLOSED', `Batch of (${this.size}) Student-t distributions is closed.`);
  }
}

const volumeOptionNames: readonly string[] = ['seed', 'stream', 'firstRow', 'out'];

function made(options: StudentBatchOptions): { readonly nu: number; readonly task: Task<BatchParameters> } {
  checkOptions(options, ['device', 'degreesOfFreedom', 'dtype', 'symmetryTolerance', 'locations', 'scales']);
  const { device, dtype, locations, scales, symmetryTolerance } = options;
  const { degreesOfFreedom } = options;
  const nu = requireDegreesOfFreedom(degreesOfFreedom === 'Infinity' ? Number.POSITIVE_INFINITY : degreesOfFreedom);
  const input = batchInput({ device, dtype, centres: locations, squares: scales }, words);
  return { nu, task: factorBatch(input, symmetryTolerance, words, false) };
}
