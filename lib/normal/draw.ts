import { aboutRows, rowsInput } from '../array/inputs.ts';
import { Matrix, type MatrixInput, matrixStorage } from '../array/matrix.ts';
import { requireApart, requireRows } from '../array/operand.ts';
import { Storage } from '../array/storage.ts';
import { marked, named, requireBoolean } from '../check.ts';
import { type Task, taskOf } from '../command/task.ts';
import { requireCount, type SampleOptions, type SampleSyncOptions, sampleOut } from '../distribution/sample-options.ts';
import { type Real, type RealDtype, zerosOf } from '../dtype.ts';
import { firstElement, normalCounter, randomSeed } from '../stream/counter.ts';
import type { NormalParameters } from './parameters.ts';
import { isRounding, requireRepresented } from './represented.ts';

/**
 * Draws `count` rows. `counter` is overwritten, and read until the commit has run. Throws what {@link
 * MultivariateNormal.sample} does.
 */
export function drawTask<D extends RealDtype>(
  parameters: NormalParameters<D>,
  count: number,
  options: SampleSyncOptions,
  counter: Uint32Array,
): Task<Matrix<D>> {
  const { device, dtype, n, mean, factor } = parameters;
  requireCount(count, parameters);
  const { seed = randomSeed(), stream = 0, firstRow = 0, out: target, onDevice = false } = options;
  const allot = requireBoolean('`onDevice`', onDevice) ? Storage.away : Storage.forResult;
  normalCounter(seed, stream, firstElement(firstRow, count, factor.width), counter);
  const result =
    target === undefined
      ? new Matrix(
          named('Count', () => allot(device, dtype, count * n)),
          count,
          n,
        )
      : sampleOut(parameters, count, target);
  const written = matrixStorage(result);
  const out = written.operandFor(device) as Real;
  return taskOf({
    device,
    encode: (encoder, scratch) => factor.sample(encoder, mean.values as Real, out, counter, scratch),
    reachable: target === undefined ? [] : [out],
    result,
    written,
    fresh: target === undefined ? [written] : [],
  });
}

/** Options of `sampleSync` when each row has its own mean. */
export interface MeansSyncOptions extends SampleSyncOptions {
  /**
   * A mean for each row, count x n, rounded to the type of the draws; by default the normal's own. Row r of the sample
   * is means[r] + A z_r. `ERR_OUT_OF_RANGE` if float32 draws would round a mean, which is not a Float32Array, to
   * steps that are large beside the standard deviation.
   */
  readonly means?: MatrixInput | undefined;
}

/** Options of `sample` when each row has its own mean. */
export interface MeansOptions extends MeansSyncOptions, SampleOptions {}

/** What to do where float32 would round the centres of rows. */
export const roundedCentres = 'Make this distribution with `float64`, pass a Float32Array, or subtract a constant.';

/**
 * Draws `count` rows, each about its own mean, from the same normals z as a sample without `means`. Throws like {@link
 * drawTask}; `name` is what an error calls the means.
 */
export function drawAboutMeans<D extends RealDtype>(
  parameters: NormalParameters<D>,
  count: number,
  means: MatrixInput,
  options: SampleSyncOptions,
  name = 'Means',
): Task<Matrix<D>> {
  const { device, dtype, n } = parameters;
  const { values, count: rows } = rowsInput(name, device, means, n);
  const zero = new Storage(zerosOf(dtype, n));
  const task = drawTask({ ...parameters, mean: zero }, count, options, new Uint32Array(6));
  const out = matrixStorage(task.result).operandFor(device) as Real;
  try {
    requireRows(name, rows, count, 'sample', 'rows');
    requireApart('Out', out, marked(name), values);
  } catch (error) {
    for (const storage of task.fresh) storage.close();
    throw error;
  }
  const type = { asked: undefined, chosen: dtype, inputs: [means] };
  const variances = zerosOf(dtype, isRounding(type) ? n : 0) as Real;
  return {
    ...task,
    explain: (error) => aboutRows(name, error, values, n),
    encode: (encoder, scratch) => {
      const centres = scratch.input(values, dtype);
      encoder.requireFinite(centres, n);
      if (variances.length > 0) parameters.factor.variances(encoder, variances, scratch);
      task.encode(encoder, scratch);
      encoder.sum(out, centres, out);
    },
    after: () => {
      task.after?.();
      if (variances.length > 0) requireRepresented(type, values, (at) => variances[at % n]!, name, roundedCentres);
    },
  };
}
