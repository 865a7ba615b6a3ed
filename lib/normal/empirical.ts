import { hostValues, hostZeros } from '../array/host-memory.ts';
import { Matrix, type MatrixInput, matrixStorage } from '../array/matrix.ts';
import { Storage } from '../array/storage.ts';
import { checkOptions, orElse, requireBoolean } from '../check.ts';
import { exactDevice, exactly } from '../command/float64.ts';
import { step, type Tasks, taskOf } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import {
  requireCount,
  type SampleOptions,
  type SampleSyncOptions,
  sampleOut,
  sampleSyncOptionNames,
} from '../distribution/sample-options.ts';
import { type Real, type RealDtype, zerosOf } from '../dtype.ts';
import { normalCounter, randomSeed } from '../stream/counter.ts';
import type { MeansSyncOptions } from './draw.ts';
import type { NormalParameters } from './parameters.ts';

/** Options of `sampleSync` for a sample with exactly the mean and covariance of the normal. */
export interface EmpiricalSyncOptions extends SampleSyncOptions {
  /**
   * True if the sample's own mean and covariance (divisor count - 1) must equal those of the normal, as in MASS's
   * mvrnorm; false by default. Such a sample cannot be drawn in parts, so `firstRow` is refused.
   */
  readonly empirical?: boolean | undefined;
}

/** Options of `sample` for a sample with exactly the mean and covariance of the normal. */
export interface EmpiricalOptions extends EmpiricalSyncOptions, SampleOptions {}

/** Separates the options that only a normal's sample has from the others. Throws `ERR_INVALID_ARGUMENT`. */
export function splitOptions<Options extends EmpiricalSyncOptions & MeansSyncOptions>(
  options: Options,
): {
  readonly isEmpirical: boolean;
  readonly means?: MatrixInput | undefined;
  readonly rest: Omit<Options, 'empirical' | 'means'>;
} {
  const isEmpirical = requireBoolean('Empirical', orElse(options?.empirical, false));
  const own = Object(options);
  if (!Object.hasOwn(own, 'empirical') && !Object.hasOwn(own, 'means')) return { isEmpirical, rest: options };
  const { empirical, means, ...rest } = options;
  return { isEmpirical, means, rest };
}

/**
 * `count` rows whose own mean and covariance are those of the normal. The normals of the run are centred, whitened by
 * the Cholesky factor of their covariance, and coloured by the normal's factor, in float64. They are whitened twice,
 * because the error of the first pass grows with the condition of that covariance and the second reduces it to rounding
 * (CholeskyQR2: Yamamoto, Nakatsukasa, Yanagisawa, Fukaya, Electronic Transactions on Numerical Analysis 44, 2015).
 */
export function* empiricalSample<D extends RealDtype>(
  parameters: NormalParameters<D>,
  count: number,
  options: EmpiricalSyncOptions & MeansSyncOptions,
): Tasks<Matrix<D>> {
  checkOptions(options, [...sampleSyncOptionNames, 'signal', 'means', 'empirical']);
  const { device, dtype, n, mean, factor } = parameters;
  const { width } = factor;
  requireCount(count, parameters);
  requireWhole(options);
  if (count <= width)
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `\`count\` is (${count}), but an empirical sample in (${width}) dimensions needs at least (${width + 1}) rows.`,
    );
  const { seed = randomSeed(), stream = 0 } = options;
  const counter = normalCounter(seed, stream, 0);
  const given = options.out === undefined ? undefined : sampleOut(parameters, count, options.out);
  // Allocated before the factor is copied in float64, so that a lack of memory is reported at once.
  const rows = hostZeros(count * n);
  const centre = new Float64Array(mean.values);
  const exact = yield* factor.exact();

  // The same normals as in the plain sample.
  const drawn = zerosOf(dtype, count * width) as Real;
  yield* exactly(device, (encoder) => encoder.fillNormal(drawn, counter));
  const z = hostValues(drawn, 'float64') as Float64Array;
  const result = given ?? new Matrix(Storage.forResult(device, dtype, count * n), count, n);
  const written = matrixStorage(result);
  return yield* step(
    taskOf({
      device: exactDevice(device),
      encode: (encoder, scratch) => {
        const own = scratch.output('float64', width);
        const spread = scratch.output('float64', width * width);
        for (let time = 0; time < 2; time++) {
          encoder.meanAndCovariance(z, own, spread, 1);
          encoder.cholesky(spread, width, 'auto');
          encoder.addRow(z, own, -1);
          encoder.triangularSolve(spread, z, width, false);
        }
        exact.transform(encoder, centre, z, rows, scratch);
      },
      result,
      written,
      fresh: given === undefined ? [written] : [],
      after: () => written.values.set(rows),
    }),
  );
}

function requireWhole({ firstRow, means }: EmpiricalSyncOptions & MeansSyncOptions): void {
  if (means !== undefined)
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      '`means` does not go with `empirical`: the mean of an empirical sample is that of the normal. Pass one of them.',
    );
  if (firstRow === undefined) return;
  throw new CovariumError(
    'ERR_INVALID_ARGUMENT',
    `\`firstRow\` is (${firstRow}), which is not allowed in an empirical sample, in which each row depends on all others.`,
  );
}
