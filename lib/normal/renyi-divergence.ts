import { exactly } from '../command/float64.ts';
import type { Tasks } from '../command/task.ts';
import { log1pmx } from '../probability/special-functions.ts';
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
  const theirs = yield* exactRoot(q);
  if (alpha === 0 || isSame(ours, theirs)) return 0;
  const { n } = ours;
  // The columns of p's factor and the difference of the means, as rows: whitened, they are the columns of M and d.
  const columns = new Float64Array((n + 1) * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) columns[j * n + i] = ours.root[i * n + j]!;
    columns[n * n + i] = ours.mean[i]! - theirs.mean[i]!;
  }
  yield* exactly(q.device, (encoder) => encoder.triangularSolve(theirs.root, columns, n, false));
  const rows = new Float64Array(n * n);
  for (let i = 0; i < n; i++) for (let j = 0; j <= i; j++) rows[i * n + j] = columns[j * n + i]!;
  return whitened(rows, columns.slice(n * n), alpha);
}

// The divergence of p = N(d, M M') from q = N(0, I), where M is lower triangular; both are overwritten.
function whitened(rows: Float64Array, d: Float64Array, alpha: number): number {
  const n = d.length;
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
    if (kappa === 0) continue;
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
