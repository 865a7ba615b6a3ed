import { Matrix } from '../array/matrix.ts';
import { Storage } from '../array/storage.ts';
import { Vector } from '../array/vector.ts';
import type { OpenBackend } from '../backend-handle.ts';
import { checkOptions, quoted } from '../check.ts';
import { decomposed, exactly, symmetricEigen } from '../command/float64.ts';
import type { Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { lowerEchelon } from '../decomposition/echelon.ts';
import { leading } from '../decomposition/eigen.ts';
import { isGraded } from '../decomposition/graded.ts';
import { chiQuantile } from '../probability/gamma-quantile.ts';
import { norm } from '../reference/svd.ts';
import { endsPiece } from '../work.ts';
import { copied, type ExactRoot, exactRoot } from './exact.ts';
import { rowsAt } from './marginal.ts';
import type { NormalParameters } from './parameters.ts';

/**
 * Options of {@link MultivariateNormal.ellipsoid} and {@link MultivariateStudentT.ellipsoid}.
 *
 * ```ts
 * import { MultivariateNormal, openDevice } from 'covarium';
 *
 * const normal = await MultivariateNormal.fromCovariance({ device: openDevice(), covariance: [[1, 0.5], [0.5, 1]] });
 * const { centre, radius, axes } = await normal.ellipsoid({ probability: 0.95 }); // radius 2.45, axes 2 x 2
 * ```
 */
export interface EllipsoidOptions {
  /** The share of draws that the ellipsoid holds, between 0 and 1. */
  readonly probability: number;
}

/**
 * The smallest region that holds a share of a distribution: all points whose Mahalanobis distance from the centre is at
 * most the radius.
 */
export interface Ellipsoid {
  /** The share of draws that the ellipsoid holds. */
  readonly probability: number;
  /** The mean of a normal or the location of a Student-t, n, in float64. */
  readonly centre: Vector<'float64'>;
  /**
   * A Mahalanobis distance. For a normal its square is the quantile of the chi-squared distribution with `rank` degrees
   * of freedom; for a Student-t, `rank` times the quantile of the F distribution with `rank` and nu degrees of freedom.
   */
  readonly radius: number;
  /**
   * The half-axes in float64 as columns, longest first, n x rank: the columns of radius U S, where U S^2 U' is the
   * covariance, or the scale of a Student-t. The entry of largest magnitude in each column is positive.
   */
  readonly axes: Matrix<'float64'>;
}

/** The Mahalanobis distance within which a share of the draws lies, if they vary in `rank` dimensions. */
type RadiusAt = (probability: number, rank: number) => number;

/**
 * The ellipsoid of a distribution with the mean and root of a normal. `radiusAt` gives the distance that holds a share
 * in `rank` dimensions.
 */
export function* ellipsoid(
  parameters: NormalParameters,
  options: EllipsoidOptions,
  name = 'normal',
  radiusAt: RadiusAt = chiQuantile,
): Tasks<Ellipsoid> {
  checkOptions(options, ['probability']);
  const { probability } = options;
  if (!(typeof probability === 'number' && probability > 0 && probability < 1))
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `\`probability\` is (${quoted(probability)}), not a number between 0 and 1.`,
    );
  const exact = yield* exactRoot(parameters);
  const { mean, n, width } = exact;
  if (width === 0)
    throw new CovariumError('ERR_SHAPE', `A ${name} of rank (0) in dimension (${n}) is a point: it has no axes.`);
  const radius = radiusAt(probability, width);

  const { lengths, directions } =
    (yield* mildAxes(parameters.device, exact)) ?? (yield* axesOf(parameters.device, exact));
  const order = Array.from(lengths.keys()).sort((i, j) => lengths[j]! - lengths[i]!);
  const entries = new Float64Array(n * width);
  // Eight columns at a time, because they share lines of the cache.
  for (let first = 0; first < width; first += 8) {
    const some = order.slice(first, first + 8).map((k) => directions.subarray(k * n, (k + 1) * n));
    for (const [c, direction] of some.entries()) {
      const scale = radius * lengths[order[first + c]!]! * (leading(direction) < 0 ? -1 : 1);
      for (let i = 0; i < n; i++) entries[i * width + first + c] = direction[i]! * scale;
    }
    if (endsPiece(first / 8, 8 * n)) yield;
  }
  const owned = (numbers: Float64Array) => new Storage<'float64'>(numbers, undefined, parameters.device);
  return { probability, centre: new Vector(owned(mean)), radius, axes: new Matrix(owned(entries), n, width) };
}

/** The half-axes at a distance of 1: their lengths, and their directions as rows of n. */
interface Axes {
  readonly lengths: Float64Array;
  readonly directions: Float64Array;
}

// So few that each axis can be met to rounding of its own length.
const fewAxes = 64;
// The longest variance over the shortest up to which the eigenvalues of the covariance lose two digits at most.
const mildRatio = 100;
// Of many axes: up to here, the eigenvectors are within 1e-11 of the axes, and the length along an eigenvector is
// wrong by the square of that.
const modestRatio = 1e5;
// And the longest axis over the shortest up to which singular values with errors of the longest one's rounding are
// within 1e-11 (1e-12 for 100 to 500 axes of known lengths).
const modestLengths = 1e5;

/** The axes as eigenvectors of the covariance; undefined if short axes would lose digits beside long ones. */
function* mildAxes(device: OpenBackend, { root, n, width }: ExactRoot): Tasks<Axes | undefined> {
  if (width < n) return;
  // Most covariances that are not mild are told apart by two bounds: the shortest axis is at most the least number on
  // the diagonal of the triangle, and the longest at least the root mean square of all.
  const norms = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    norms[i] = norm(root.subarray(i * n, (i + 1) * n));
    if (endsPiece(i, n)) yield;
  }
  const longest = norm(norms) / Math.sqrt(n);
  let shortest = longest;
  for (let i = 0; i < n; i++) shortest = Math.min(shortest, root[i * (n + 1)]!);
  const fits = shortest > 2 ** -500 && longest < 2 ** 500;
  const mostRatio = n > fewAxes ? modestRatio : mildRatio;
  if (!fits || longest ** 2 > mostRatio * shortest ** 2) return;
  const [vectors, squares] = [yield* copied(device, root), new Float64Array(n)];
  yield* exactly(device, (encoder) => encoder.triangularProduct(root, vectors, n, false));
  yield* symmetricEigen(device, vectors, squares, n);
  const [least, most] = [squares[0]!, squares[n - 1]!];
  if (!(least * mostRatio >= most)) return;
  if (least * mildRatio < most) {
    // |L' v|^2 is the variance along v.
    const images = yield* copied(device, vectors);
    yield* exactly(device, (encoder) => {
      encoder.triangularProduct(root, images, n, true);
      encoder.squaredNorms(images, squares, n);
    });
  }
  return { lengths: squares.map(Math.sqrt), directions: vectors };
}

const none = new Float64Array(0);

/** The axes as singular vectors of the root, which keep the digits of short ones beside long ones. */
function* axesOf(device: OpenBackend, exact: ExactRoot): Tasks<Axes> {
  const { root, n, width, tolerance } = exact;
  const order = yield* widestFirst(device, exact);
  const rows = rowsAt(root, width, order);
  yield* lowerEchelon(device, rows, n, width, tolerance);
  const columns = new Float64Array(n * width);
  for (const [row, coordinate] of order.entries()) {
    for (let k = 0; k < width; k++) columns[k * n + coordinate] = rows[row * width + k]!;
    if (row % 32 === 0) yield;
  }
  const [lengths, directions] = [new Float64Array(width), new Float64Array(width * n)];
  const decompose = (graded: boolean) =>
    decomposed(device, (encoder, scratch) => {
      const left = graded ? none : scratch.output('float64', width * width);
      encoder.svd(scratch.copy(columns, 'float64'), left, lengths, directions, width, n, graded);
    });
  const graded = width <= fewAxes || (yield* isGraded(columns, width, n, modestLengths));
  yield* decompose(graded);
  if (!graded && !(lengths[width - 1]! * modestLengths >= lengths[0]!)) yield* decompose(true);
  return { lengths, directions };
}

// With more, the order saves less than it takes.
const pivotedAxes = 256;

/**
 * The coordinates by what the ones before them leave of their variances, the most first, if all rows are independent
 * and not many, and float64 holds the variances; else by their variances. Then the columns of the triangle are nearly
 * orthogonal and differ mostly in length.
 */
function* widestFirst(device: OpenBackend, { root, n, width }: ExactRoot): Tasks<number[]> {
  const spread: number[] = [];
  for (let i = 0; i < n; i++) {
    spread.push(norm(root.subarray(i * width, (i + 1) * width)));
    if (i % 32 === 0) yield;
  }
  if (width === n && n <= pivotedAxes && spread.every((size) => size > 2 ** -500 && size < 2 ** 500)) {
    const [products, order] = [yield* copied(device, root), new Float64Array(n)];
    yield* decomposed(device, (encoder) => {
      encoder.triangularProduct(root, products, n, false);
      encoder.pivotedCholesky(products, order, n, 0);
    });
    if (order[n - 1]! >= 0) return Array.from(order);
  }
  return spread.map((_, i) => i).sort((i, j) => spread[j]! - spread[i]!);
}
