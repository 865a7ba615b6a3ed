import { vectorInput } from '../array/inputs.ts';
import { Matrix } from '../array/matrix.ts';
import { Storage } from '../array/storage.ts';
import { checkOptions } from '../check.ts';
import { exactDevice } from '../command/float64.ts';
import { step, type Tasks } from '../command/task.ts';
import type { Device } from '../device.ts';
import { RootFactor, rootNumbers } from '../factor/root-factor.ts';
import { type ConditionalOptions, conditional } from '../normal/conditional.ts';
import { factorMatrix } from '../normal/covariance.ts';
import { distances } from '../normal/density.ts';
import { fromCholesky } from '../normal/from-cholesky.ts';
import { meanInput } from '../normal/inputs.ts';
import { marginal } from '../normal/marginal.ts';
import { givenFactor, type NormalParameters } from '../normal/parameters.ts';
import type { StudentParameters } from './parameters.ts';

/**
 * The Student-t of the other coordinates. Its location and scale are the normal's conditional ones, the scale times (nu
 * + d^2) / (nu + m), where d is the Mahalanobis distance of the m values from the location of their marginal; it has nu
 * + m degrees of freedom (P. Ding, On the conditional distribution of the multivariate t distribution, The American
 * Statistician 70, 2016). If the scale is singular, m counts only the values that the others do not determine.
 */
export function* studentConditional(
  { normal, nu }: StudentParameters,
  options: ConditionalOptions,
): Tasks<StudentParameters> {
  checkOptions(options, ['given', 'values']);
  const { device, dtype, n } = normal;
  const values = new Float64Array(vectorInput('Values', device, options.values));
  const given = Array.isArray(options.given) ? [...options.given] : options.given;
  const exact: NormalParameters = {
    // This device is only asked for tasks; their results are read here.
    device: exactDevice(device) as Device,
    // If the scale is singular, the type to which it was rounded decides which small numbers are rounding alone.
    dtype: normal.factor.rank < n ? dtype : 'float64',
    n,
    mean: new Storage(new Float64Array(normal.mean.values)),
    factor: yield* normal.factor.exact(),
  };
  yield;
  const others = yield* conditional(exact, { given, values });
  try {
    const { stretch, dimensions } = yield* stretchOf(exact, nu, given, values);
    const factor = yield* factorMatrix(others);
    yield;
    const scaled = new Float64Array(factor.data as Float64Array);
    for (let at = 0; at < scaled.length; at++) scaled[at]! *= stretch;
    factor.close();
    yield;
    const mean = new Float64Array(others.mean.values);
    const { n: left, rank } = others.factor;
    if (rank === left) {
      const cholesky = Matrix.from(scaled, { columns: left });
      return { normal: yield* step(fromCholesky({ device, dtype, mean, factor: cholesky })), nu: nu + dimensions };
    }
    // A root of rank 0 has one column, of zeros.
    const numbers = yield* rootNumbers(device, scaled.subarray(0, left * rank), left, rank);
    const input = { device, dtype, n: left, mean: meanInput(device, mean, dtype) };
    const made = givenFactor(input, (place) => RootFactor.of(place, numbers, rank));
    return { normal: yield* step(made), nu: nu + dimensions };
  } finally {
    close(others);
  }
}

interface Stretch {
  readonly stretch: number;
  /** The number of dimensions in which the given coordinates vary. */
  readonly dimensions: number;
}

// sqrt((nu + d^2) / (nu + m)). Coordinates that other given ones determine add nothing to m.
function* stretchOf(
  exact: NormalParameters,
  nu: number,
  given: readonly number[],
  values: Float64Array,
): Tasks<Stretch> {
  if (given.length === 0 || nu === Number.POSITIVE_INFINITY) return { stretch: 1, dimensions: 0 };
  const known = yield* marginal(exact, given);
  try {
    const distance = yield* step(distances(known, values));
    const dimensions = known.factor.rank;
    return { stretch: Math.hypot(Math.sqrt(nu), distance.get(0)) / Math.sqrt(nu + dimensions), dimensions };
  } finally {
    close(known);
  }
}

function close({ mean, factor }: NormalParameters): void {
  mean.close();
  factor.close();
}
