import { hostZeros } from '../array/host-memory.ts';
import { exactly } from '../command/float64.ts';
import type { Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { log1pmx } from '../probability/special-functions.ts';
import type { Work } from '../work.ts';
import { exactRoot, isSame, requireRegular } from './exact.ts';
import type { NormalParameters } from './parameters.ts';

/**
 * The Renyi divergence of order alpha (from 0; 1 is Kullback and Leibler's) of p from q, in nats:
 *
 *     alpha / 2 d' S^-1 d + ln(|S| / (|P|^(1 - alpha) |Q|^alpha)) / (2 (1 - alpha)),   S = (1 - alpha) P + alpha Q,
 *
 * where d is the difference of the means (van Erven and Harremoes, IEEE Trans. Inf. Theory 60, 2014). Infinity where S
 * is not positive definite. Both are whitened by q's factor. Then no term is negative and none cancels another: normals
 * that are nearly alike have a divergence of small relative error, and it is never below 0.
 */
export function* renyi(p: NormalParameters, q: NormalParameters, alpha: number): Tasks<number> {
  requireRegular(p);
  requireRegular(q);
  const ours = yield* exactRoot(p);
  const theirs = yield* exactRoot(q, true);
  if (alpha === 0 || isSame(ours, theirs)) return 0;
  const { n } = ours;
  // The columns of p's factor and the difference of the means, as rows: whitened, they are the columns of M and d.
  const rows = hostZeros((n + 1) * n);
  const [columns, d] = [rows.subarray(0, n * n), rows.subarray(n * n)];
  for (let i = 0; i < n; i++) d[i] = ours.mean[i]! - theirs.mean[i]!;
  yield* exactly(q.device, (encoder) => {
    encoder.transpose(ours.root, columns, n, n);
    encoder.triangularSolve(theirs.root, rows, n, false);
  });
  if (alpha === 1) return fromIdentity(columns, d, yield* squaresBelow(columns, n));
  const isForProducts = alpha >= leastOrder && alpha < 1 && n > fewDimensions;
  return (
    (isForProducts ? yield* byProducts(q, columns, d, alpha) : undefined) ?? (yield* eliminated(columns, d, alpha))
  );
}

// With fewer dimensions a commit takes longer than the work.
const fewDimensions = 24;

/** The sum of squares left of the diagonal in each row of a lower triangle, whose columns (n x n) are given as rows. */
function* squaresBelow(columns: Float64Array, n: number): Work<Float64Array> {
  const sums = new Float64Array(n);
  for (let j = 0; j < n; j++) {
    for (let i = j + 1; i < n; i++) sums[i]! += columns[j * n + i]! ** 2;
    if (j % rowsAtOnce === 0) yield;
  }
  return sums;
}

const rowsAtOnce = 64;

/** The divergence of order 1 of p = N(d, M M') from q = N(0, I). */
function fromIdentity(columns: Float64Array, d: Float64Array, others: Float64Array): number {
  const n = d.length;
  let sum = 0;
  for (let i = 0; i < n; i++) sum += d[i]! * d[i]! + growth(columns[i * (n + 1)]!, others[i]!, 1);
  // NaN where a square overflows.
  return Number.isNaN(sum) ? Number.POSITIVE_INFINITY : sum / 2;
}

// Below this order the terms of the sum in byProducts cancel each other.
const leastOrder = 0.25;
// Where a pivot is a smaller share of its diagonal entry, more than two digits are lost.
const leastShare = 0.01;
// Below this F's row is small enough for its series.
const nearRow = 0.4;

/**
 * The divergence of an order below 1, by products of matrices. With F = M M' - I and S = I + kappa F = L L',
 *
 *     ln |S| - kappa ln |M M'| = sum of kappa ((m_ii - 1)^2 + o_i - 2 h(m_ii - 1)) - s_i + h(kappa f_ii - s_i),
 *
 * where h(x) = ln(1 + x) - x, and o_i and s_i are the sums of squares left of the diagonal in M and L. What is linear
 * in F has cancelled, so that normals which are nearly alike have a small relative error. Far from there the terms of a
 * row would cancel each other, and it is 2 ln l_ii - 2 kappa ln m_ii. Undefined if S is nearly singular, so that
 * rounding in S, which would be small in M, shows.
 */
function* byProducts(
  { device }: NormalParameters,
  columns: Float64Array,
  d: Float64Array,
  alpha: number,
): Tasks<number | undefined> {
  const n = d.length;
  const kappa = 1 - alpha;
  const lower = hostZeros(n * n);
  for (let i = 0; i < n; i++) lower[i * (n + 1)] = alpha;
  const y = d.slice();
  try {
    yield* exactly(device, (encoder) => {
      encoder.product(columns, columns, lower, n, n, n, true, false, kappa, 1);
      encoder.cholesky(lower, n, 'auto');
      encoder.triangularSolve(lower, y, n, false);
    });
  } catch (error) {
    if (error instanceof CovariumError && error.code === 'ERR_NOT_POSITIVE_DEFINITE') return undefined;
    throw error;
  }
  const others = yield* squaresBelow(columns, n);
  let sum = 0;
  for (let i = 0; i < n; i++) {
    let left = 0;
    for (let j = 0; j < i; j++) left += lower[i * n + j]! ** 2;
    const x = columns[i * (n + 1)]! - 1;
    const linear = kappa * (x * (x + 2) + others[i]!) - left;
    const diagonal = lower[i * (n + 1)]! ** 2;
    if (!(diagonal > leastShare * (diagonal + left))) return undefined;
    const isNear = Math.max(Math.abs(x), others[i]!, left, Math.abs(linear)) < nearRow;
    sum += isNear
      ? kappa * (x * x + others[i]! - 2 * log1pmx(x)) - left + log1pmx(linear)
      : Math.log(diagonal) - 2 * kappa * Math.log(columns[i * (n + 1)]!);
    sum += alpha * kappa * y[i]! * y[i]!;
    if (i % rowsAtOnce === 0) yield;
  }
  return Number.isFinite(sum) ? Math.max(0, sum / (2 * kappa)) : undefined;
}

// The divergence of p = N(d, M M') from q = N(0, I), where M is lower triangular and given by its columns.
function* eliminated(columns: Float64Array, difference: Float64Array, alpha: number): Work<number> {
  const d = difference.slice();
  const n = d.length;
  const rows = hostZeros(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) rows[i * n + j] = columns[j * n + i]!;
    if (i % rowsAtOnce === 0) yield;
  }
  const kappa = 1 - alpha;
  let distance = 0;
  let volume = 0;
  // Cholesky's algorithm on S = alpha I + kappa M M'. M M' is never formed: the elimination updates the rows below.
  for (let i = 0; i < n; i++) {
    const row = rows.subarray(i * n, i * n + i + 1);
    const own = row[i]!;
    let others = 0;
    for (let j = 0; j < i; j++) others += row[j]! * row[j]!;
    const pivot = alpha + kappa * (own * own + others);
    // Also returned when a square overflows: scales that differ by 1e154.
    if (!(pivot > 0 && pivot < Number.POSITIVE_INFINITY)) return Number.POSITIVE_INFINITY;
    volume += growth(own, others, alpha);
    const root = Math.sqrt(pivot);
    const y = d[i]! / root;
    distance += y * y;
    if (i % rowsAtOnce === 0 || n > rowsAtOnce) yield;
    for (let k = i + 1; k < n; k++) {
      const below = rows.subarray(k * n, k * n + i + 1);
      let product = 0;
      for (let j = 0; j <= i; j++) product += below[j]! * row[j]!;
      if (product === 0) continue;
      const factor = (kappa * product) / root;
      const share = factor / (root + Math.sqrt(alpha));
      for (let j = 0; j <= i; j++) below[j]! -= share * row[j]!;
      d[k]! -= factor * y;
    }
  }
  return (alpha * distance + volume) / 2;
}

// [ln(alpha + kappa (m^2 + others)) - kappa ln m^2] / kappa; as kappa becomes 0, m^2 + others - 1 - ln m^2.
function growth(m: number, others: number, alpha: number): number {
  const kappa = 1 - alpha;
  // m^2 = 1 + x, and alpha + kappa m^2 = mixed.
  const x = (m - 1) * (m + 1);
  const isNear = Math.abs(x) < 0.4;
  if (kappa === 0) return others + (isNear ? -log1pmx(x) : x - 2 * Math.log(m));
  const mixed = isNear ? 1 + kappa * x : alpha + kappa * m * m;
  const rest = Math.log1p((kappa * others) / mixed);
  // For small orders, ln(alpha + kappa m^2) = ln m^2 + ln(1 + alpha (1 / m^2 - 1)), and ln m^2 cancels.
  if (alpha <= 0.5 && m > 1e-100) {
    if (!isNear) return (rest + Math.log1p(alpha * (1 / (m * m) - 1)) + 2 * alpha * Math.log(m)) / kappa;
    const y = x / (1 + x);
    return (rest + alpha * (log1pmx(x) + x * y) + log1pmx(-alpha * y)) / kappa;
  }
  // Near 1, both logarithms are x plus a small rest, so x is left out of both.
  if (isNear) return (rest + log1pmx(kappa * x)) / kappa - log1pmx(x);
  const log = Math.abs(kappa * x) < 0.4 ? Math.log1p(kappa * x) : Math.log(mixed);
  return (rest + log) / kappa - 2 * Math.log(m);
}
