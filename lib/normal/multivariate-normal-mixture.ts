import type { DtypeOf, Only } from '../array/element-type.ts';
import { hostValues, hostZeros, refuseBeyondMemory } from '../array/host-memory.ts';
import { positiveNumbersOf, type RowsInput, requireFiniteRows, rowsInput } from '../array/inputs.ts';
import { Matrix, type MatrixInput } from '../array/matrix.ts';
import { Storage } from '../array/storage.ts';
import { Vector, type VectorInput } from '../array/vector.ts';
import {
  type AbortOptions,
  checkOptions,
  inspectFields,
  named,
  noConstructor,
  notCloneable,
  refuseAborted,
  wrongArgument,
} from '../check.ts';
import { runAlone, runWith } from '../command/abort.ts';
import { holding } from '../command/hold.ts';
import { runAll, runAllSync, step, type Tasks, taskOf } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Device } from '../device.ts';
import { type RunOptions, requireCount } from '../distribution/sample-options.ts';
import { uniforms } from '../distribution/uniforms.ts';
import { bytesOf, type Real, type RealDtype, type Values, zerosOf } from '../dtype.ts';
import { AliasTable } from '../probability/alias-table.ts';
import { firstElement, normalCounter } from '../stream/counter.ts';
import { inRows, type Work } from '../work.ts';
import { batchConstants, batchInput, factorBatch, logDeterminants, normalWords, parametersAt } from './batch.ts';
import { batchRun, logDensities } from './batch-tasks.ts';
import {
  fitMixture,
  logSumExp,
  type MixtureFitOptions,
  type MixtureParameters,
  type MixtureReport,
  rowsPerCommit,
  writeShares,
} from './mixture.ts';
import {
  type BatchJson,
  type BatchOptions,
  type BatchSampleOptions,
  batchOf,
  holdBatch,
  type MultivariateNormalBatch,
} from './multivariate-normal-batch.ts';
import { transformTask } from './transform.ts';

/** Options of {@link MultivariateNormalMixture.fromCovariance}. */
export interface MixtureOptions
  extends Pick<BatchOptions, 'device' | 'dtype' | 'symmetryTolerance' | 'means' | 'covariances'> {
  /** Positive numbers, a vector of length K, which are divided by their sum. */
  readonly weights: VectorInput;
}

/** A mixture as JSON: options of {@link MultivariateNormalMixture.fromCovariance}. */
export interface MixtureJson extends BatchJson {
  /** K positive numbers of sum 1. */
  readonly weights: number[];
}

/**
 * A mixture of K multivariate normals of the same dimension n on a device: its density is the sum of the components'
 * densities times their weights. Every method that computes has a synchronous twin. After {@link close} each throws
 * `ERR_CLOSED`.
 *
 * ```ts
 * using mixture = await MultivariateNormalMixture.fit({ device, rows, components: 3 });
 * console.log(mixture.weights, await mixture.responsibilities(rows));
 * ```
 */
export class MultivariateNormalMixture<D extends RealDtype = RealDtype> {
  /** @internal A copy of it would not compute. The first field: the device's own refusal has other words. */
  readonly cloning: symbol = notCloneable('MultivariateNormalMixture', 'pass its toJSON() to fromCovariance there');
  /** The device that holds the mixture and computes. */
  readonly device: Device;
  /** n, from 1. */
  readonly dimension: number;
  /** Type of the draws. */
  readonly dtype: D;
  /** The K normals. The mixture owns them and closes them. */
  readonly components: MultivariateNormalBatch<D>;
  /** How the fit ended; undefined for a mixture that was not fitted. */
  readonly report: MixtureReport | undefined;
  readonly #parameters: MixtureParameters;
  readonly #table: AliasTable;
  // Of the log densities: those of the components plus the logarithms of the weights.
  readonly #constants: Float64Array;

  static {
    inspectFields(MultivariateNormalMixture.prototype, 'MultivariateNormalMixture');
  }

  private constructor(parameters: MixtureParameters) {
    if (!('weights' in Object(parameters)))
      throw noConstructor(
        'MultivariateNormalMixture',
        'await MultivariateNormalMixture.fit({ device, rows, components })',
      );
    const { components, weights, report } = parameters;
    this.#parameters = parameters;
    this.#table = new AliasTable(weights);
    const constants = batchConstants(components, logDeterminants(components));
    this.#constants = constants.map((constant, k) => constant + Math.log(weights[k]!));
    this.device = components.device;
    this.dimension = components.n;
    // The static methods say which type their options give.
    this.dtype = components.dtype as D;
    this.components = batchOf(components) as MultivariateNormalBatch as MultivariateNormalBatch<D>;
    this.report = report;
    Object.freeze(this);
  }

  /**
   * The mixture of weights (K), means (K x n) and covariances (K matrices of n x n). Rejects like {@link
   * MultivariateNormalBatch.fromCovariance}, and with `ERR_SHAPE`, `ERR_NOT_FINITE` and `ERR_NOT_POSITIVE_DEFINITE` (a
   * weight that is not positive), `ERR_OUT_OF_RANGE` (a weight too small beside the largest).
   */
  static async fromCovariance<O extends MixtureOptions & AbortOptions>(
    options: Only<O, MixtureOptions & AbortOptions>,
  ): Promise<MultivariateNormalMixture<DtypeOf<O>>> {
    return new MultivariateNormalMixture(await runWith(options, fromCovariances));
  }

  /** Synchronous twin of {@link fromCovariance}. */
  static fromCovarianceSync<O extends MixtureOptions>(
    options: Only<O, MixtureOptions>,
  ): MultivariateNormalMixture<DtypeOf<O>> {
    return new MultivariateNormalMixture(runAllSync(fromCovariances(options)));
  }

  /**
   * Fits a mixture of K components to rows (count x n), by expectation maximisation in float64. A seed gives the same
   * result on every device up to rounding. {@link report} says how the fit ended. Rejects with `ERR_SHAPE` (fewer than
   * K (n + 1) rows), `ERR_NOT_FINITE` (the entry), `ERR_OUT_OF_RANGE` (an option, a component that loses its rows, or a
   * column that its type doesn't hold), `ERR_NOT_POSITIVE_DEFINITE` (a constant column, or a component with a column
   * that those before it determine, if rounding shows it).
   */
  static async fit<O extends MixtureFitOptions & AbortOptions>(
    options: Only<O, MixtureFitOptions & AbortOptions>,
  ): Promise<MultivariateNormalMixture<DtypeOf<O>>> {
    return new MultivariateNormalMixture(await runWith(options, fitMixture));
  }

  /** Synchronous twin of {@link fit}. */
  static fitSync<O extends MixtureFitOptions>(
    options: Only<O, MixtureFitOptions>,
  ): MultivariateNormalMixture<DtypeOf<O>> {
    return new MultivariateNormalMixture(runAllSync(fitMixture(options)));
  }

  /** A copy of the weights, K numbers with sum 1. */
  get weights(): Float64Array {
    return this.#parameters.weights.slice();
  }

  /**
   * The mixture for JSON.stringify, as options of {@link fromCovariance}, which with a device make the mixture again.
   * Throws `ERR_OUT_OF_MEMORY`, `ERR_CLOSED`.
   */
  toJSON(): MixtureJson {
    return { ...this.components.toJSON(), weights: Array.from(this.weights) };
  }

  /** True once {@link close} was called or the device is closed. */
  get closed(): boolean {
    return this.components.closed;
  }

  /**
   * `count` draws, count x n. Row r uses the standard normals of row r of `stream`; element r of the stream 2^63 away
   * (`stream` with its highest bit inverted) chooses its component. So any rows can be drawn separately. Rejects like
   * {@link MultivariateNormal.sample}: `ERR_OUT_OF_RANGE` (count, seed, stream, rows), `ERR_TOO_LARGE`,
   * `ERR_OUT_OF_MEMORY`, `ERR_CLOSED`, `ERR_ABORTED`.
   */
  async sample(count: number, options: BatchSampleOptions = {}): Promise<Matrix<D>> {
    checkOptions(options, ['seed', 'stream', 'firstRow', 'signal']);
    const { signal, ...which } = options;
    refuseAborted(signal);
    return holding((isClosed) => runAll(this.#draw(count, which), signal, isClosed));
  }

  /** Synchronous twin of {@link sample}. */
  sampleSync(count: number, options: RunOptions = {}): Matrix<D> {
    checkOptions(options, ['seed', 'stream', 'firstRow']);
    return runAllSync(this.#draw(count, options));
  }

  /**
   * Logarithm of the density at each row (count x n, or one vector of n): a Vector of count. Rejects with
   * `ERR_NOT_FINITE`, `ERR_SHAPE`.
   */
  async logPdf(rows: RowsInput, options: AbortOptions = {}): Promise<Vector<D>> {
    return runAlone(options, () => this.#logPdf(rows));
  }

  /** Synchronous twin of {@link logPdf}. */
  logPdfSync(rows: RowsInput): Vector<D> {
    return runAllSync(this.#logPdf(rows));
  }

  /**
   * The probability that each row (count x n, or one vector of n) comes from each component: count x K, rows of sum 1.
   * In float32, log densities below about -256 are computed again in float64; from 10^7 standard deviations on, float64
   * loses digits of their differences too. Rejects like {@link logPdf}.
   */
  async responsibilities(rows: RowsInput, options: AbortOptions = {}): Promise<Matrix<D>> {
    return runAlone(options, () => this.#responsibilities(rows));
  }

  /** Synchronous twin of {@link responsibilities}. */
  responsibilitiesSync(rows: RowsInput): Matrix<D> {
    return runAllSync(this.#responsibilities(rows));
  }

  /** Releases the memory once no call in flight uses it. Idempotent. */
  close(): void {
    this.components.close();
  }

  /** Calls {@link close} at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  *#draw(count: number, options: RunOptions): Tasks<Matrix<D>> {
    this.#requireOpen();
    const { components } = this.#parameters;
    const { device, dimension: n, dtype } = this;
    requireCount(count, { n, dtype });
    const { seed, stream, firstRow } = batchRun(options, 1);
    const counter = normalCounter(seed, stream, firstElement(firstRow, count, n));
    named('Count', () => refuseBeyondMemory(count * (2 * bytesOf('float64') + n * bytesOf(dtype))));
    const choices = yield* uniforms(count, normalCounter(seed, BigInt(stream) ^ (1n << 63n), firstRow));
    const draws = new Storage(zerosOf(dtype, count * n) as Values<D>, undefined, device);
    const out = draws.values as Values as Real;
    yield taskOf({
      device,
      encode: (encoder) => out.length > 0 && encoder.fillNormal(out, counter),
      result: undefined,
      written: draws,
    });
    const { order, ends } = yield* this.#rowsByComponent(choices);
    for (let k = 0; k < components.size; k++) {
      const own = order.subarray(k === 0 ? 0 : ends[k - 1]!, ends[k]!);
      if (own.length === 0) continue;
      const z = zerosOf(dtype, own.length * n) as Real;
      yield* inRows(own.length, n, (from, to) => {
        for (let i = from; i < to; i++) copyRow(out, own[i]!, z, i, n);
      });
      const matrix = new Matrix(new Storage(z), own.length, n);
      const drawn = yield* step(transformTask(parametersAt(components, k), matrix));
      const values = drawn.data as Real;
      yield* inRows(own.length, n, (from, to) => {
        for (let i = from; i < to; i++) copyRow(values, i, out, own[i]!, n);
      });
      drawn.close();
    }
    return new Matrix(draws, count, n);
  }

  // The rows of each component together, ascending, and where those of each end.
  *#rowsByComponent(choices: Float64Array): Work<{ readonly order: Float64Array; readonly ends: Float64Array }> {
    const table = this.#table;
    const ends = new Float64Array(this.#parameters.weights.length);
    yield* inRows(choices.length, 1, (from, to) => {
      for (let row = from; row < to; row++) {
        choices[row] = table.at(choices[row]!);
        ends[choices[row]!]! += 1;
      }
    });
    let begin = 0;
    for (let k = 0; k < ends.length; k++) {
      const length = ends[k]!;
      ends[k] = begin;
      begin += length;
    }
    const order = hostZeros(choices.length);
    yield* inRows(choices.length, 1, (from, to) => {
      for (let row = from; row < to; row++) order[ends[choices[row]!]!++] = row;
    });
    return { order, ends };
  }

  // Calls each(scores, first row, rows) for blocks of rows: scores are K x count, minus half the squared distances plus
  // these constants.
  *#scores(
    given: ReturnType<typeof rowsInput>,
    constants: Float64Array,
    each: (scores: Real, first: number, rows: Values, count: number) => Tasks<void>,
  ): Tasks<void> {
    const { components } = this.#parameters;
    const { count, n } = given;
    const most = rowsPerCommit(components.size);
    // Between two commits the caller may write to the rows, or close them.
    const values = hostValues(given.values, this.dtype, count > most);
    requireFiniteRows('Input', values, given.values, n);
    for (let first = 0; first < count; first += most) {
      const here = Math.min(most, count - first);
      const block = { values: values.subarray(first * n, (first + here) * n), count: here, columns: n };
      const scores = yield* step(logDensities(components, block, constants));
      yield* each(scores.data as Real, first, block.values, here);
      scores.close();
    }
  }

  *#logPdf(rows: RowsInput): Tasks<Vector<D>> {
    this.#requireOpen();
    const given = rowsInput('Input', this.device, rows, this.dimension);
    const values = zerosOf(this.dtype, given.count) as Values<D>;
    // biome-ignore lint/correctness/useYield: the other caller yields.
    yield* this.#scores(given, this.#constants, function* (scores, first, _, here) {
      for (let r = 0; r < here; r++) values[first + r] = logSumExp(scores, r, here);
    });
    return new Vector(new Storage(values, undefined, this.device));
  }

  *#responsibilities(rows: RowsInput): Tasks<Matrix<D>> {
    this.#requireOpen();
    const [{ components }, constants] = [this.#parameters, this.#constants];
    const { size } = components;
    const given = rowsInput('Input', this.device, rows, this.dimension);
    const values = zerosOf(this.dtype, given.count * size) as Values<D>;
    yield* this.#scores(given, new Float64Array(size), (scores, first, block) =>
      writeShares(components, constants, block, scores, values.subarray(first * size)),
    );
    return new Matrix(new Storage(values, undefined, this.device), given.count, size);
  }

  #requireOpen(): void {
    if (this.closed)
      throw new CovariumError('ERR_CLOSED', `Mixture of (${this.#parameters.weights.length}) normals is closed.`);
    holdBatch(this.components);
  }
}

// A loop: to make a view of each row takes longer than to copy it.
function copyRow(from: Real, row: number, to: Real, at: number, n: number): void {
  for (let j = 0; j < n; j++) to[at * n + j] = from[row * n + j]!;
}

function* fromCovariances(options: MixtureOptions): Tasks<MixtureParameters> {
  checkOptions(options, ['device', 'dtype', 'symmetryTolerance', 'means', 'covariances', 'weights']);
  const { device, dtype, symmetryTolerance, means, covariances } = options;
  const input = batchInput(
    { device, dtype, centres: means as MatrixInput | undefined, squares: covariances },
    normalWords,
  );
  // A number would stand for a weight of each.
  if (options.weights === undefined || typeof options.weights === 'number')
    throw wrongArgument('weights', options.weights, 'a positive number for each normal');
  const weights = positiveNumbersOf('Weights', device, options.weights, input.size);
  if (weights.length !== input.size)
    throw new CovariumError(
      'ERR_SHAPE',
      `\`weights\` has (${weights.length}) entries, but there are (${input.size}) covariances.`,
    );
  const shares = normalized(weights);
  const components = yield* step(factorBatch(input, symmetryTolerance, normalWords, false));
  return { components, weights: shares, report: undefined };
}

/** Positive weights divided by their sum, which may overflow. Throws `ERR_OUT_OF_RANGE` for one that becomes 0. */
function normalized(weights: Float64Array): Float64Array {
  const largest = weights.reduce((most, weight) => Math.max(most, weight), 0);
  const sum = weights.reduce((total, weight) => total + weight / largest, 0);
  return weights.map((weight, k) => {
    const share = weight / largest / sum;
    if (share > 0) return share;
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `\`weights\` entry (${k}) is (${weight}), which is nothing beside the largest (${largest}): leave out its component.`,
    );
  });
}
