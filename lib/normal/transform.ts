import { hostValues, requireAttached } from '../array/host-memory.ts';
import { aboutRows, isVectorInput, type Rows, type RowsInput, rowsInput } from '../array/inputs.ts';
import { Matrix } from '../array/matrix.ts';
import { requireLength } from '../array/operand.ts';
import { Storage } from '../array/storage.ts';
import { Vector } from '../array/vector.ts';
import type { Encoder } from '../backend.ts';
import { about, checkOptions, firstNotFinite } from '../check.ts';
import { exactly } from '../command/float64.ts';
import { factorOn } from '../command/options.ts';
import type { Scratch } from '../command/scratch.ts';
import { Search } from '../command/search.ts';
import { resultTask, step, type Task, type Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Device } from '../device.ts';
import type { Real, RealDtype } from '../dtype.ts';
import { transformOne } from '../factor/lower-factor.ts';
import type { Work } from '../work.ts';
import { normalInput, symmetryTolerance } from './inputs.ts';
import type { TransformOptions } from './options.ts';
import type { NormalParameters } from './parameters.ts';

type Transforming<D extends RealDtype> = Task<Matrix<D> | Vector<D>>;

/** mean + A z for one z, or for each row z, where A is the root of the covariance. */
export function transformTask<D extends RealDtype>(parameters: NormalParameters<D>, z: RowsInput): Transforming<D> {
  const { factor, mean } = parameters;
  return transforming(parameters, factor.width, z, (encoder, input, out, scratch) =>
    factor.transform(encoder, mean.values as Real, input, out, scratch),
  );
}

/**
 * mean + L z for one z, or for each row z. L is the factor of a covariance; it is computed in the same commit and not
 * kept.
 */
export function factorAndTransformTask(options: TransformOptions): Transforming<RealDtype> {
  checkOptions(options, ['device', 'mean', 'covariance', 'z', 'dtype', 'symmetryTolerance', 'factor']);
  const where = factorOn(options.factor);
  const given = normalInput(options, 'Covariance', options.covariance);
  const { dtype, n } = given;
  const tolerance = symmetryTolerance(dtype, options.symmetryTolerance);
  const encode = (encoder: Encoder, input: Real, out: Real, scratch: Scratch) => {
    const factor = scratch.copyFor(encoder, given.square, dtype);
    const mean = given.mean === undefined ? scratch.zeros(dtype, n) : scratch.copy(given.mean, dtype);
    encoder.requireSymmetric(factor, n, tolerance);
    encoder.cholesky(factor, n, where);
    if (out.length === n) return transformOne(encoder, factor, mean, input, out);
    encoder.copy(input, out);
    encoder.triangularProduct(factor, out, n, false);
    encoder.addRow(out, mean, 1);
  };
  return transforming(given, n, options.z, encode, 'Covariance');
}

function transforming<D extends RealDtype>(
  { device, dtype, n }: { readonly device: Device; readonly dtype: D; readonly n: number },
  width: number,
  z: RowsInput,
  encode: (encoder: Encoder, input: Real, out: Real, scratch: Scratch) => void,
  square = '`z`',
): Transforming<D> {
  // Here a bare typed array is always one vector, so that its length does not decide the type of the result.
  const other = rankOrDistribution(width, n);
  if (ArrayBuffer.isView(z)) requireLength('`z`', z.length, width, other);
  const { values, count } = rowsInput('`z`', device, z, width, other);
  const wrap = (written: Storage<D>) => (isVectorInput(z, width) ? new Vector(written) : new Matrix(written, count, n));
  const task = resultTask({ device, dtype }, count * n, wrap, (encoder, out, scratch) => {
    const input = scratch.input(values, dtype);
    encoder.requireFinite(input, width);
    encode(encoder, input, out, scratch);
  });
  // The same commit may refuse z and the covariance; z comes first.
  const isOfZ = ({ code }: CovariumError) =>
    code === 'ERR_NOT_FINITE' && firstNotFinite(hostValues(values, dtype)) < values.length;
  return {
    ...task,
    explain: (error) => (isOfZ(error) ? aboutRows('`z`', error, values, width) : about(square, error)),
  };
}

// What the numbers of a row are as many as, in an error's words.
function rankOrDistribution(width: number, n: number): string {
  return width === n ? 'distribution' : `root of the singular distribution of dimension (${n})`;
}

/** mean + A z for each row of probabilities, where z are their standard normal quantiles. */
export function* quantiles<D extends RealDtype>(
  parameters: NormalParameters<D>,
  probabilities: RowsInput,
): Tasks<Matrix<D>> {
  const { device, dtype, n, mean, factor } = parameters;
  const { width } = factor;
  const rows = probabilityRows(device, probabilities, width, n);
  const { values, count } = rows;
  const search = new Search();
  if (!Search.isOn(device, values)) yield* requireProbabilities(rows);
  const encodeQuantiles = (encoder: Encoder, z: Float64Array) => {
    search.record(device, encoder, z, 0, 1);
    encoder.normalQuantiles(z);
  };
  if (dtype === 'float32') {
    // Of float64, so that a probability near 1 keeps its digits.
    const z = Storage.forResult(device, 'float32', values.length);
    try {
      yield* exactly(device, (encoder, scratch) => {
        const exact = scratch.copy(values, 'float64') as Float64Array;
        encodeQuantiles(encoder, exact);
        scratch.after(() => z.values.set(exact));
      });
      yield* requireFound(search, rows);
      return yield* step(transformTask(parameters, new Matrix(z, count, width)) as Task<Matrix<D>>);
    } finally {
      z.close();
    }
  }
  const wrap = (written: Storage<D>) => new Matrix(written, count, n);
  const task = resultTask({ device, dtype }, count * n, wrap, (encoder, out, scratch) => {
    const z = scratch.copy(values, 'float64');
    encodeQuantiles(encoder, z as Float64Array);
    factor.transform(encoder, mean.values as Real, z, out, scratch);
  });
  return yield* step({ ...task, again: () => requireFound(search, rows) });
}

function* requireFound(search: Search, rows: Rows): Work {
  if (!search.hasFound) return;
  requireAttached('Probabilities', rows.values);
  yield* requireProbabilities(rows);
}

/** Rows of `width` probabilities for a root of n rows, which may not be between 0 and 1; throws `ERR_SHAPE`. */
export function probabilityRows(device: Device, probabilities: RowsInput, width: number, n: number): Rows {
  return rowsInput('Probabilities', device, probabilities, width, rankOrDistribution(width, n));
}

const checkedAtOnce = 1 << 16;

/** Throws `ERR_OUT_OF_RANGE` with the first entry that is not between 0 and 1, exclusive. */
export function* requireProbabilities({ values, n: width }: Rows): Work {
  let at = 0;
  while (at < values.length && values[at]! > 0 && values[at]! < 1) {
    ++at;
    if (at % checkedAtOnce > 0) continue;
    yield;
    requireAttached('Probabilities', values);
  }
  if (at === values.length) return;
  const [row, column] = [Math.floor(at / width), at % width];
  throw new CovariumError(
    'ERR_OUT_OF_RANGE',
    `\`probabilities\` entry (${row}, ${column}) is (${values[at]}), not between 0 and 1.`,
    { row, column },
  );
}
