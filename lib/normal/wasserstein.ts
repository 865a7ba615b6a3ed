import type { Encoder } from '../backend.ts';
import { decomposed, exactly } from '../command/float64.ts';
import type { Tasks } from '../command/task.ts';
import { isGraded } from '../decomposition/graded.ts';
import type { Real } from '../dtype.ts';
import { norm } from '../reference/svd.ts';
import type { Work } from '../work.ts';
import { type ExactRoot, exactRoot, isSame } from './exact.ts';
import type { NormalParameters } from './parameters.ts';

/**
 * The 2-Wasserstein distance of two normals. Its square, |d|^2 + tr(P + Q - 2 (P^1/2 Q P^1/2)^1/2) with d the
 * difference of the means, equals |d|^2 plus the least |A - B U|_F^2 over orthogonal U, for any roots A of P and B of Q
 * (Bhatia, Jain, Lim, Expositiones Mathematicae 37, 2019). This form subtracts no large numbers from each other. U is
 * the orthogonal polar factor of B' A.
 */
export function* wasserstein(p: NormalParameters, q: NormalParameters): Tasks<number> {
  const ours = yield* exactRoot(p);
  const theirs = yield* exactRoot(q);
  if (isSame(ours, theirs)) return 0;
  const { n } = ours;
  const [a, b] = [square(ours), square(theirs)];
  const encodeProduct = (encoder: Encoder, product: Real) => encoder.product(b, a, product, n, n, n, true, false, 1, 0);
  const [values, none] = [new Float64Array(n), new Float64Array(0)];
  yield* decomposed(p.device, (encoder, scratch) => {
    const product = scratch.output('float64', n * n);
    encodeProduct(encoder, product);
    encoder.svd(product, none, values, none, n, n, false);
  });
  const size = norm(Float64Array.of(norm(a), norm(b), norm(difference(ours.mean, theirs.mean))));
  // The trace of (P^1/2 Q P^1/2)^1/2 is the sum of the singular values of B' A. Subtracting it loses a few bits at most
  // unless the normals are alike.
  const share = 1 - (2 * values.reduce((sum, value) => sum + value, 0)) / size ** 2;
  if (share > 1 / 16) return size * Math.sqrt(share);
  // The orthogonal polar factor of W diag(values) V' is W V'.
  const [product, left, right] = [new Float64Array(n * n), new Float64Array(n * n), new Float64Array(n * n)];
  yield* exactly(p.device, (encoder) => encodeProduct(encoder, product));
  const graded = yield* isGraded(product, n, n);
  yield* decomposed(p.device, (encoder) => encoder.svd(product, left, values, right, n, n, graded));
  const [u, turned] = [new Float64Array(n * n), new Float64Array(n * n)];
  yield* exactly(p.device, (encoder) => {
    encoder.product(left, right, u, n, n, n, false, false, 1, 0);
    encoder.product(b, u, turned, n, n, n, false, false, 1, 0);
  });
  // U is only known to rounding of the largest deviation. If the normals are nearly alike and their deviations differ
  // widely, the roots without U may be closer.
  const byTurned = yield* distance(a, turned, ours.mean, theirs.mean);
  return Math.min(byTurned, yield* distance(a, b, ours.mean, theirs.mean));
}

function* distance(a: Float64Array, b: Float64Array, mean: Float64Array, other: Float64Array): Work<number> {
  const n = mean.length;
  const lengths = new Float64Array(n + 1);
  for (let i = 0; i < n; i++) {
    lengths[i] = norm(difference(a.subarray(i * n, (i + 1) * n), b.subarray(i * n, (i + 1) * n)));
    if (i % 32 === 0) yield;
  }
  lengths[n] = norm(difference(mean, other));
  return norm(lengths);
}

function difference(a: Float64Array, b: Float64Array): Float64Array {
  const apart = new Float64Array(a.length);
  for (let i = 0; i < a.length; i++) apart[i] = a[i]! - b[i]!;
  return apart;
}

// The root of a singular normal has fewer columns: zeros replace the missing ones.
function square({ root, n, width }: ExactRoot): Float64Array {
  if (width === n) return root;
  const whole = new Float64Array(n * n);
  for (let i = 0; i < n; i++) whole.set(root.subarray(i * width, (i + 1) * width), i * n);
  return whole;
}
