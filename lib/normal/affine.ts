import { finiteNumbers, rowsInput } from '../array/inputs.ts';
import type { MatrixInput } from '../array/matrix.ts';
import { requireLength } from '../array/operand.ts';
import type { VectorInput } from '../array/vector.ts';
import type { Encoder } from '../backend.ts';
import { checkOptions, orElse, requireBoolean } from '../check.ts';
import { decomposingDevice, exactDevice, exactly } from '../command/float64.ts';
import type { Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { lowerEchelon } from '../decomposition/echelon.ts';
import { rootOf } from '../decomposition/semidefinite-root.ts';
import { DiagonalFactor } from '../factor/diagonal-factor.ts';
import type { Factor } from '../factor/factor.ts';
import { LowRankFactor } from '../factor/low-rank-factor.ts';
import { norm } from '../reference/svd.ts';
import type { Work } from '../work.ts';
import { exactRoot } from './exact.ts';
import { fromEchelon, fromRoot, requireFiniteMean, withoutLastColumns } from './from-root.ts';
import { meanInput, squareInput, symmetryTolerance } from './inputs.ts';
import type { NormalParameters } from './parameters.ts';
import { requireRepresented } from './represented.ts';

/**
 * Options of {@link MultivariateNormal.affine}.
 *
 * ```ts
 * import { MultivariateNormal, openDevice } from 'covarium';
 *
 * const returns = await MultivariateNormal.fromCovariance({ device: openDevice(), covariance: [[2, 0.5], [0.5, 1]] });
 * const profit = await returns.affine({ matrix: [[0.6, 0.4]], offset: [0.1] }); // of one dimension
 * ```
 */
export interface AffineOptions {
  /** A, m x n. Its rows must be linearly independent, unless noise is added or `singular` is true. */
  readonly matrix: MatrixInput;
  /** b, with m entries if A is m x n; zeros by default. */
  readonly offset?: VectorInput | undefined;
  /** Covariance of independent normal noise e with mean zero, m x m, positive semidefinite; no noise by default. */
  readonly noise?: MatrixInput | undefined;
  /**
   * True if rows of A may be linearly dependent, which gives a singular normal; by default true if this normal is
   * singular.
   */
  readonly singular?: boolean | undefined;
}

const none = new Float64Array(0);

/** The normal of A x + b + e. */
export function* affine(parameters: NormalParameters, options: AffineOptions): Tasks<NormalParameters> {
  checkOptions(options, ['matrix', 'offset', 'noise', 'singular']);
  const { device, dtype, n, factor } = parameters;
  const singular = requireBoolean('singular', orElse(options.singular, factor.rank < n));
  const given = rowsInput('Matrix', device, options.matrix, n);
  const m = given.count;
  if (m === 0) throw new CovariumError('ERR_SHAPE', '`matrix` has (0) rows, but a normal has at least one dimension.');
  const matrix = finiteNumbers('Matrix', given.values, n);
  const offset =
    options.offset === undefined
      ? undefined
      : meanInput(device, options.offset, 'float64', undefined, 'Offset').slice();
  if (offset !== undefined) requireLength('Offset', offset.length, m, '`matrix`', 'rows');
  const noise = options.noise === undefined ? undefined : squareInput('Noise', device, options.noise, 'float64');
  if (noise !== undefined && noise.n !== m)
    throw new CovariumError('ERR_SHAPE', `\`noise\` has (${noise.n}) columns, but \`matrix\` has (${m}) rows.`);
  const spread = noise === undefined ? none : new Float64Array(noise.values);
  const parts = m < n ? partsOf(factor) : undefined;
  const exact = parts === undefined ? yield* exactRoot(parameters, true) : undefined;
  const mean = exact?.mean ?? new Float64Array(parameters.mean.values);

  const centre = new Float64Array(m);
  const image = new Float64Array(m * (exact?.width ?? n));
  const common = parts === undefined ? none : new Float64Array((m * parts.factor.length) / n);
  const least = Math.max(exact?.tolerance ?? 0, 8 * (n + m) * 2 ** -52);
  // The image of a regular root needs nothing but its echelon, which the same commit makes.
  const decomposing = decomposingDevice(device);
  const isDirect = exact?.width === n && noise === undefined && decomposing === exactDevice(device);
  const pivots = isDirect ? new Float64Array(m) : none;
  const encode = (encoder: Encoder) => {
    if (noise !== undefined) encoder.requireSymmetric(spread, m, symmetryTolerance(dtype));
    encoder.product(matrix, mean, centre, m, 1, n, false, false, 1, 0);
    if (exact !== undefined) encoder.product(matrix, exact.root, image, m, exact.width, n, false, false, 1, 0);
    if (isDirect) encoder.echelon(image, pivots, n, least);
    if (parts === undefined) return;
    encoder.copy(matrix, image);
    encoder.scaleColumns(image, parts.deviations);
    if (common.length > 0) encoder.product(matrix, parts.factor, common, m, common.length / m, n, false, false, 1, 0);
  };
  yield* exactly(device, encode, 'Noise');
  requireFiniteMean('matrix', centre, (i) => i);
  if (offset !== undefined) for (let i = 0; i < m; i++) centre[i]! += offset[i]!;
  requireFiniteMean('offset', centre, (i) => i);
  if (exact !== undefined && factor.rank < n) yield* clearRounding(image, matrix, exact.root, n, least);
  let rows = common.length > 0 ? beside(image, common, m) : image;
  if (noise !== undefined) {
    const added = yield* rootOf(device, spread, m, 'pivoted', 'float64', 'Noise');
    // n small columns and one of noise lose n roundings of the noise, unless the n are made m first.
    if (added.rank > 0 && parts !== undefined) {
      const width = rows.length / m;
      yield* lowerEchelon(device, rows, m, width, 0);
      if (width > m) rows = (yield* withoutLastColumns(rows, width, m)).slice();
    }
    if (added.rank > 0) rows = beside(rows, added.root, m);
  }
  const columns = rows.length / m;
  const variance = (i: number) => {
    let sum = 0;
    for (let at = i * columns; at < (i + 1) * columns; at++) sum += rows[at]! * rows[at]!;
    return sum;
  };
  const type = { asked: undefined, chosen: dtype, inputs: [options.offset] };
  requireRepresented(type, offset, variance, 'Offset', 'Make this normal with `float64`, or pass a Float32Array.');
  // The product rounds the rows of the image, so a dependent row keeps a small remainder, which the tolerance covers.
  try {
    if (isDirect) return yield* fromEchelon(parameters, centre, rows, pivots, singular);
    return yield* fromRoot(parameters, centre, rows, least, singular);
  } catch (error) {
    throw error instanceof CovariumError && error.pivot !== undefined ? dependentRow(error.pivot, error) : error;
  }
}

/**
 * F (n x k) and the n entries of the diagonal S of a covariance F F' + S^2, whose root [S F] has few numbers; undefined
 * for other factors.
 */
function partsOf(factor: Factor): { readonly factor: Float64Array; readonly deviations: Float64Array } | undefined {
  if (factor instanceof LowRankFactor) return factor.parts();
  if (factor instanceof DiagonalFactor) return { factor: none, deviations: factor.deviations() };
  return undefined;
}

function dependentRow(row: number, cause: CovariumError): CovariumError {
  const why = row === 0 ? 'does not vary' : 'those of the rows before it determine, or which does not vary';
  return new CovariumError(
    cause.code,
    `\`matrix\` has row (${row}), which gives a coordinate that ${why}. Leave it out, or pass \`noise\` or \`singular: true\`.`,
    { pivot: row, cause },
  );
}

/**
 * Rows of the image of which nothing but rounding is left become zeros: a combination that the root's rows say is
 * constant.
 */
function* clearRounding(
  image: Float64Array,
  matrix: Float64Array,
  root: Float64Array,
  n: number,
  tolerance: number,
): Work {
  const width = root.length / n;
  const lengths = Float64Array.from({ length: n }, (_, k) => norm(root.subarray(k * width, (k + 1) * width)));
  yield;
  for (let i = 0; i < matrix.length / n; i++) {
    let size = 0;
    for (let k = 0; k < n; k++) size += Math.abs(matrix[i * n + k]!) * lengths[k]!;
    const row = image.subarray(i * width, (i + 1) * width);
    if (Number.isFinite(size) && norm(row) <= tolerance * size) row.fill(0);
    if (i % 64 === 0) yield;
  }
}

/** Joins two roots of m rows each into a root of the sum of their covariances. */
function beside(left: Float64Array, right: Float64Array, m: number): Float64Array<ArrayBuffer> {
  const [a, b] = [left.length / m, right.length / m];
  const rows = new Float64Array(left.length + right.length);
  for (let i = 0; i < m; i++) {
    rows.set(left.subarray(i * a, (i + 1) * a), i * (a + b));
    rows.set(right.subarray(i * b, (i + 1) * b), i * (a + b) + a);
  }
  return rows;
}
