import { hostZeros } from '../array/host-memory.ts';
import { exactly } from '../command/float64.ts';
import type { Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { LowerFactor } from '../factor/lower-factor.ts';
import { log1pmx } from '../probability/special-functions.ts';
import type { Work } from '../work.ts';
import { exactRoot, isSameRoot, RootMemory, requireRegular } from './exact.ts';
import type { NormalParameters } from './parameters.ts';

/**
 * The Renyi divergence of order alpha (from 0; 1 is Kullback and Leibler's) of p from q, in nats:
 *
 *     alpha / 2 d' S^-1 d + ln(|S| / (|P|^(1 - alpha) |Q|^alpha)) / (2 (1 - alpha)),   S = (1 - alpha) P + alpha Q,
 *
 * where d is the difference of the means (van Erven and Harremoes, IEEE Trans. Inf. Theory 60, 2014). Infinity where S
 * is not positive definite. Both are whitened by the factor of one. Then no term is negative and none cancels another:
 * normals that are nearly alike have a divergence of small relative error, and it is never below 0.
 */
export function* renyi(p: NormalParameters, q: NormalParameters, alpha: number): Tasks<number> {
  requireRegular(p);
  requireRegular(q);
  if (alpha === 0) return 0;
  if (alpha >= 1) return (yield* ofOrder(p, q, alpha, 1 - alpha)).value;
  const kappa = 1 - alpha;
  const direct = () => ofOrder(p, q, alpha, kappa);
  // It is alpha / kappa times the divergence of order kappa of q from p.
  const turned = function* (): Tasks<Rounded> {
    const { value, error } = yield* ofOrder(q, p, kappa, alpha);
    return { value: (alpha / kappa) * value, error: (alpha / kappa) * error };
  };
  // The terms of a small order cancel each other.
  const [first, second] = alpha < 0.5 ? [turned, direct] : [direct, turned];
  const one = yield* first();
  if (Number.isFinite(one.value) && one.error <= enoughError * one.value) return one.value;
  const other = yield* second();
  return other.error < one.error / clearlyLess ? other.value : one.value;
}

/** The Hellinger distance of p and q. */
export function* hellingerOf(p: NormalParameters, q: NormalParameters): Tasks<number> {
  const divergence = yield* renyi(p, q, 0.5);
  if (divergence > leastSquare) return Math.sqrt(-Math.expm1(-divergence / 2));
  // Squares underflow. Then M's diagonal is 1, and 8 times the square of the distance is the sum of the squares of d
  // and of what is left of M's diagonal.
  return yield* whitened(p, q, 0, function* (columns, d): Work<number> {
    const n = d.length;
    let largest = 0;
    for (const value of d) largest = Math.max(largest, Math.abs(value));
    for (let j = 0; j < n; j++) {
      for (let i = j + 1; i < n; i++) largest = Math.max(largest, Math.abs(columns[j * n + i]!));
      if (j % rowsAtOnce === 0) yield;
    }
    if (largest === 0) return 0;
    let sum = 0;
    for (const value of d) sum += (value / largest) ** 2;
    for (let j = 0; j < n; j++) {
      for (let i = j + 1; i < n; i++) sum += (columns[j * n + i]! / largest) ** 2;
      if (j % rowsAtOnce === 0) yield;
    }
    return largest * Math.sqrt(sum / 8);
  });
}

// Below it squares that count lose digits or underflow.
const leastSquare = 1e-280;
const enoughError = 1e-14;
// The errors are estimates.
const clearlyLess = 16;

/** A divergence, and about how much of it may be rounding; both are infinite where a square overflows. */
interface Rounded {
  readonly value: number;
  readonly error: number;
}

/** The divergence of order alpha of p from q, where kappa is 1 - alpha: the smaller one of both is exact. */
function ofOrder(p: NormalParameters, q: NormalParameters, alpha: number, kappa: number): Tasks<Rounded> {
  const same = { value: 0, error: 0 };
  return whitened(p, q, same, (columns, d) => fromWhitened(q, columns, d, alpha, kappa));
}

/**
 * What `find` makes of p = N(d, M M') where q = N(0, I), of the columns of M as rows (n x n) and of d; `same` if p and
 * q are the same.
 */
function* whitened<Found>(
  p: NormalParameters,
  q: NormalParameters,
  same: Found,
  find: (columns: Float64Array, d: Float64Array) => Tasks<Found>,
): Tasks<Found> {
  const { n } = q;
  const memory = new RootMemory(q.device);
  try {
    // The root of a factor in float64 is there at once: then ours is read before the first commit.
    const ours = yield* exactRoot(p, q.dtype === 'float64' && q.factor instanceof LowerFactor, memory);
    const theirs = yield* exactRoot(q, true, memory);
    memory.requireOpen();
    if (isSameRoot(ours, theirs)) return same;
    // The columns of p's factor and the difference of the means, as rows: whitened, they are the columns of M and d.
    const rows = memory.output((n + 1) * n);
    const [columns, d] = [rows.subarray(0, n * n), rows.subarray(n * n)];
    for (let i = 0; i < n; i++) d[i] = ours.mean[i]! - theirs.mean[i]!;
    // Differences that overflow are halved until they are whitened.
    const isFar = !d.every(Number.isFinite);
    if (isFar) for (let i = 0; i < n; i++) d[i] = ours.mean[i]! / 2 - theirs.mean[i]! / 2;
    yield* exactly(q.device, (encoder) => {
      encoder.transpose(ours.root, columns, n, n);
      encoder.triangularSolve(theirs.root, rows, n, false);
    });
    if (isFar) for (let i = 0; i < n; i++) d[i]! *= 2;
    const found = yield* find(columns, d);
    memory.requireOpen();
    return found;
  } finally {
    memory.close();
  }
}

/** The same of p = N(d, M M') from N(0, I): the rows of `columns` (n x n) are the columns of M. */
function* fromWhitened(
  q: NormalParameters,
  columns: Float64Array,
  d: Float64Array,
  alpha: number,
  kappa: number,
): Tasks<Rounded> {
  const n = d.length;
  if (kappa === 0) return { value: fromIdentity(columns, d, yield* squaresBelow(columns, n)), error: 0 };
  const isForProducts = alpha >= 0.5 && alpha < 1 && n > fewDimensions;
  const value = isForProducts ? yield* byProducts(q, columns, d, alpha, kappa) : undefined;
  return value === undefined ? yield* eliminated(columns, d, alpha, kappa) : { value, error: 0 };
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
  for (let i = 0; i < n; i++) sum += (d[i]! / 2) * d[i]! + growth(columns[i * (n + 1)]!, others[i]!, 1, 0) / 2;
  // NaN where a square overflows.
  return Number.isNaN(sum) ? Number.POSITIVE_INFINITY : sum;
}

// Where a pivot is a smaller share of its diagonal entry, more than two digits are lost.
const leastShare = 0.01;
// Below this F's row, or a number of it, is small enough for its series.
const nearRow = 0.4;

/**
 * The divergence of an order below 1, by products of matrices. With F = M M' - I and S = I + kappa F = L L',
 *
 *     ln |S| - kappa ln |M M'| = sum of kappa ((m_ii - 1)^2 + o_i - 2 h(m_ii - 1)) - s_i + h(kappa f_ii - s_i),
 *
 * where h(x) = ln(1 + x) - x, and o_i and s_i are the sums of squares left of the diagonal in M and L. What is linear
 * in F has cancelled, so that normals which are nearly alike have a small relative error. Far from there the terms of a
 * row would cancel each other, and it is 2 ln l_ii - 2 kappa ln m_ii. All is divided by kappa. Undefined if S is nearly
 * singular, so that rounding in S, which would be small in M, shows.
 */
function* byProducts(
  { device }: NormalParameters,
  columns: Float64Array,
  d: Float64Array,
  alpha: number,
  kappa: number,
): Tasks<number | undefined> {
  const n = d.length;
  const lower = hostZeros(n * n);
  const y = d.slice();
  try {
    // Of a product that is added to nothing, a device makes only a half.
    yield* exactly(device, (encoder) => encoder.product(columns, columns, lower, n, n, n, true, false, kappa, 0));
    for (let i = 0; i < n; i++) lower[i * (n + 1)]! += alpha;
    yield* exactly(device, (encoder) => {
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
      ? x * x + others[i]! - 2 * log1pmx(x) + (log1pmx(linear) - left) / kappa
      : (Math.abs(linear) < nearRow ? Math.log1p(linear) : Math.log(diagonal)) / kappa -
        2 * Math.log(columns[i * (n + 1)]!);
    sum += alpha * y[i]! * y[i]!;
    if (i % rowsAtOnce === 0) yield;
  }
  return Number.isFinite(sum) ? Math.max(0, sum / 2) : undefined;
}

// The divergence of p = N(d, M M') from q = N(0, I), where M is lower triangular and given by its columns.
function* eliminated(columns: Float64Array, difference: Float64Array, alpha: number, kappa: number): Work<Rounded> {
  const d = difference.slice();
  const n = d.length;
  const rows = hostZeros(n * n);
  const sizes = yield* squaresBelow(columns, n);
  const steps = d.map(Math.abs);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) rows[i * n + j] = columns[j * n + i]!;
    if (i % rowsAtOnce === 0) yield;
  }
  let distance = 0;
  let volume = 0;
  let error = 0;
  // Cholesky's algorithm on S = alpha I + kappa M M'. M M' is never formed: the elimination updates the rows below.
  for (let i = 0; i < n; i++) {
    const row = rows.subarray(i * n, i * n + i + 1);
    const own = row[i]!;
    let others = 0;
    for (let j = 0; j < i; j++) others += row[j]! * row[j]!;
    // A large order cancels kappa, which is 1 - alpha: where own^2 is 1 + x and x is small, it is left out.
    const x = (own - 1) * (own + 1);
    const pivot = Math.abs(x) < nearRow ? 1 + kappa * (x + others) : alpha + kappa * (own * own + others);
    // Also returned when a square overflows: scales that differ by 1e154.
    if (!(pivot > 0 && pivot < Number.POSITIVE_INFINITY))
      return { value: Number.POSITIVE_INFINITY, error: Number.POSITIVE_INFINITY };
    volume += growth(own, others, alpha, kappa);
    const root = Math.sqrt(pivot);
    const y = d[i]! / root;
    // y^2 alone may overflow or underflow.
    distance += alpha * y * y;
    // What was subtracted from this row and from its d is rounded as they were.
    error += (Math.sqrt(sizes[i]! * others) + Number.EPSILON * sizes[i]!) / pivot;
    error += (alpha * Math.abs(y) * steps[i]!) / root;
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
      steps[k]! += Math.abs(factor * y);
    }
  }
  return { value: (distance + volume) / 2, error: Number.EPSILON * error };
}

// [ln(alpha + kappa (m^2 + others)) - kappa ln m^2] / kappa; as kappa becomes 0, m^2 + others - 1 - ln m^2.
function growth(m: number, others: number, alpha: number, kappa: number): number {
  // m^2 = 1 + x, and alpha + kappa m^2 = mixed.
  const x = (m - 1) * (m + 1);
  const isNear = Math.abs(x) < 0.4;
  if (kappa === 0) return others + (isNear ? -log1pmx(x) : x - 2 * Math.log(m));
  const mixed = isNear ? 1 + kappa * x : alpha + kappa * m * m;
  const rest = log1pShare(others / mixed, kappa);
  // For small orders, ln(alpha + kappa m^2) = ln m^2 + ln(1 + alpha (1 / m^2 - 1)), and ln m^2 cancels.
  if (alpha < 0.5 && m > 1e-100) {
    if (!isNear) return rest + (Math.log1p(alpha * (1 / (m * m) - 1)) + 2 * alpha * Math.log(m)) / kappa;
    const y = x / (1 + x);
    return rest + (alpha * (log1pmx(x) + x * y) + log1pmx(-alpha * y)) / kappa;
  }
  // Near 1, both logarithms are x plus a small rest, so x is left out of both.
  if (isNear) return rest + log1pmx(kappa * x) / kappa - log1pmx(x);
  const log = Math.abs(kappa * x) < 0.4 ? log1pShare(x, kappa) : Math.log(mixed) / kappa;
  return rest + log - 2 * Math.log(m);
}

/** ln(1 + kappa x) / kappa; x where kappa x is so small that it might underflow. */
function log1pShare(x: number, kappa: number): number {
  const product = kappa * x;
  return Math.abs(product) < 2 ** -60 ? x : Math.log1p(product) / kappa;
}
