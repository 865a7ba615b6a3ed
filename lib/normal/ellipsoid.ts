import { Matrix } from '../array/matrix.ts';
import { Storage } from '../array/storage.ts';
import { Vector } from '../array/vector.ts';
import { checkOptions, describe } from '../check.ts';
import { decomposed } from '../command/float64.ts';
import type { Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { lowerEchelon } from '../decomposition/echelon.ts';
import { leading } from '../decomposition/eigen.ts';
import { isGraded } from '../decomposition/graded.ts';
import { chiSquareQuantile } from '../probability/gamma-quantile.ts';
import { norm } from '../reference/svd.ts';
import { exactRoot } from './exact.ts';
import { rowsAt } from './marginal.ts';
import type { NormalParameters } from './parameters.ts';

/** What {@link MultivariateNormal.ellipsoid} and {@link MultivariateStudentT.ellipsoid} take. */
export interface EllipsoidOptions {
  /** The share of draws that it holds, between 0 and 1. */
  readonly probability: number;
}

/**
 * The smallest region that holds a share of a distribution: every point whose Mahalanobis distance from the centre is
 * at most the radius.
 */
export interface Ellipsoid {
  /** The share of draws that it holds. */
  readonly probability: number;
  /** The mean, or a Student-t's location, n, in float64. */
  readonly centre: Vector<'float64'>;
  /**
   * A Mahalanobis distance. Its square is the quantile of the chi-squared distribution with `rank` degrees of freedom;
   * of a Student-t `rank` times that of the F distribution with `rank` and nu.
   */
  readonly radius: number;
  /**
   * The half-axes in float64 as columns, longest first, n x rank: the columns of radius U S, where U S^2 U' is the
   * covariance, or a Student-t's scale. The entry of largest magnitude in each is positive.
   */
  readonly axes: Matrix<'float64'>;
}

/** The Mahalanobis distance within which a share of the draws of so many dimensions is. */
type RadiusAt = (probability: number, rank: number) => number;

/**
 * Of a normal; or of what has its mean and root, where `radiusAt` gives the distance that holds a share in so many
 * dimensions.
 */
export function* ellipsoid(
  parameters: NormalParameters,
  options: EllipsoidOptions,
  name = 'normal',
  radiusAt: RadiusAt = (probability, rank) => Math.sqrt(chiSquareQuantile(probability, rank)),
): Tasks<Ellipsoid> {
  checkOptions(options, ['probability']);
  const { probability } = options;
  if (!(typeof probability === 'number' && probability > 0 && probability < 1))
    throw new CovariumError('ERR_OUT_OF_RANGE', `Probability is (${describe(probability)}), not between 0 and 1.`);
  const { mean, root, n, width, tolerance } = yield* exactRoot(parameters);
  if (width === 0)
    throw new CovariumError('ERR_SHAPE', `A ${name} of rank (0) in dimension (${n}) is a point: it has no axes.`);
  const radius = radiusAt(probability, width);

  // The widest coordinates first, so that the columns of the triangle differ in length and hardly in anything else.
  const spread = Array.from({ length: n }, (_, i) => norm(root.subarray(i * width, (i + 1) * width)));
  const order = spread.map((_, i) => i).sort((i, j) => spread[j]! - spread[i]!);
  const rows = rowsAt(root, width, order);
  yield* lowerEchelon(parameters.device, rows, n, width, tolerance);
  const columns = new Float64Array(n * width);
  for (const [row, coordinate] of order.entries())
    for (let k = 0; k < width; k++) columns[k * n + coordinate] = rows[row * width + k]!;
  const graded = isGraded(columns, width, n);
  const turns = new Float64Array(width * width);
  const lengths = new Float64Array(width);
  const directions = new Float64Array(width * n);
  yield* decomposed(parameters.device, (encoder) => encoder.svd(columns, turns, lengths, directions, width, n, graded));
  const entries = new Float64Array(n * width);
  for (let k = 0; k < width; k++) {
    const direction = directions.subarray(k * n, (k + 1) * n);
    const scale = radius * lengths[k]! * (leading(direction) < 0 ? -1 : 1);
    for (let i = 0; i < n; i++) entries[i * width + k] = scale * direction[i]!;
  }
  const owned = (numbers: Float64Array) => new Storage<'float64'>(numbers, undefined, parameters.device);
  return { probability, centre: new Vector(owned(mean)), radius, axes: new Matrix(owned(entries), n, width) };
}
