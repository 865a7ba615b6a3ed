import type { Encoder } from '../backend.ts';
import { decomposed, decomposingDevice, exactly } from '../command/float64.ts';
import type { Tasks } from '../command/task.ts';
import { isGraded } from '../decomposition/graded.ts';
import type { Real } from '../dtype.ts';
import { norm } from '../reference/svd.ts';
import type { Work } from '../work.ts';
import { type ExactRoot, exactRoot, isSameRoot, RootMemory } from './exact.ts';
import type { NormalParameters } from './parameters.ts';

// Where less of size^2 is left, the subtraction loses too many bits.
const leastShare = 1 / 16;
// Relative, of a distance by the squares of singular values: eigenvalues take half their time.
const enoughError = 1e-12;

/**
 * The 2-Wasserstein distance of two normals. Its square, |d|^2 + tr(P + Q - 2 (P^1/2 Q P^1/2)^1/2) with d the
 * difference of the means, equals |d|^2 plus the least |A - B U|_F^2 over orthogonal U, for any roots A of P and B of Q
 * (Bhatia, Jain, Lim, Expositiones Mathematicae 37, 2019). This form subtracts no large numbers from each other. U is
 * the orthogonal polar factor of B' A.
 */
export function* wassersteinOf(p: NormalParameters, q: NormalParameters): Tasks<number> {
  const memory = new RootMemory(p.device);
  try {
    const ours = yield* exactRoot(p, false, memory);
    const theirs = yield* exactRoot(q, false, memory);
    memory.requireOpen();
    const found = isSameRoot(ours, theirs) ? 0 : yield* distanceOf(p.device, ours, theirs);
    memory.requireOpen();
    return found;
  } finally {
    memory.close();
  }
}

function* distanceOf(device: NormalParameters['device'], ours: ExactRoot, theirs: ExactRoot): Tasks<number> {
  const apart = difference(ours.mean, theirs.mean);
  const size = norm(Float64Array.of(norm(ours.root), norm(theirs.root), norm(apart)));
  // The difference of means that are far apart may overflow.
  const isFar = !Number.isFinite(size);
  // Products of four numbers neither overflow nor vanish in a unit of about their size.
  const power = isFar ? 1000 : Math.max(-1000, Math.min(1000, Math.floor(Math.log2(size))));
  const unit = Math.abs(power) > 200 ? 2 ** power : 1;
  const scaled = (numbers: Float64Array) => (unit === 1 ? numbers : numbers.map((number) => number / unit));
  const [a, b] = [scaled(square(ours)), scaled(square(theirs))];
  const d = isFar ? difference(scaled(ours.mean), scaled(theirs.mean)) : scaled(apart);
  const sizeInUnit = isFar ? norm(Float64Array.of(norm(a), norm(b), norm(d))) : size / unit;
  const isRegular = ours.width + theirs.width === 2 * ours.n;
  return unit * (yield* leastDistance(device, a, b, d, sizeInUnit, isRegular));
}

/** The distance of two normals with roots A and B (n x n) and means d apart; `size` is the length of all of these. */
function* leastDistance(
  device: NormalParameters['device'],
  a: Float64Array,
  b: Float64Array,
  d: Float64Array,
  size: number,
  isRegular: boolean,
): Tasks<number> {
  const n = d.length;
  const encodeProduct = (encoder: Encoder, product: Real) => encoder.product(b, a, product, n, n, n, true, false, 1, 0);
  // The trace of (P^1/2 Q P^1/2)^1/2 is the sum of the singular values of B' A. Subtracting it loses a few bits at most
  // unless the normals are alike.
  let share = Number.NaN;
  const values = new Float64Array(n);
  // In TypeScript, eigenvalues take as long as singular values.
  if (isRegular && decomposingDevice(device).kind !== 'reference') {
    yield* decomposed(device, (encoder, scratch) => {
      const [product, squared] = [scratch.output('float64', n * n), scratch.output('float64', n * n)];
      encodeProduct(encoder, product);
      encoder.product(product, product, squared, n, n, n, true, false, 1, 0);
      encoder.symmetricEigen(squared, values, n, false);
    });
    share = shareByEigenvalues(values, size);
  }
  if (Number.isNaN(share)) {
    yield* decomposed(device, (encoder, scratch) => {
      const [product, none] = [scratch.output('float64', n * n), new Float64Array(0)];
      encodeProduct(encoder, product);
      encoder.svd(product, none, values, none, n, n, false);
    });
    share = 1 - (2 * values.reduce((sum, value) => sum + value, 0)) / size ** 2;
  }
  if (share > leastShare) return size * Math.sqrt(share);
  // The orthogonal polar factor of W diag(values) V' is W V'.
  const [product, left, right] = [new Float64Array(n * n), new Float64Array(n * n), new Float64Array(n * n)];
  yield* exactly(device, (encoder) => encodeProduct(encoder, product));
  const graded = yield* isGraded(product, n, n);
  yield* decomposed(device, (encoder) => encoder.svd(product, left, values, right, n, n, graded));
  const [u, turned] = [new Float64Array(n * n), new Float64Array(n * n)];
  yield* exactly(device, (encoder) => {
    encoder.product(left, right, u, n, n, n, false, false, 1, 0);
    encoder.product(b, u, turned, n, n, n, false, false, 1, 0);
  });
  // U is only known to rounding of the largest deviation. If the normals are nearly alike and their deviations differ
  // widely, the roots without U may be closer.
  const byTurned = yield* distance(a, turned, d);
  return Math.min(byTurned, yield* distance(a, b, d));
}

/**
 * The share of size^2 that is left of it, of the eigenvalues of A' B B' A: the squares of the singular values of B' A.
 * NaN where it may have an error of more than `enoughError`.
 */
function shareByEigenvalues(squares: Float64Array, size: number): number {
  let [trace, inverse, sum] = [0, 0, 0];
  for (let i = 0; i < squares.length; i++) {
    const square = squares[i]!;
    trace += square;
    inverse += square > 0 ? 1 / square : Number.POSITIVE_INFINITY;
    sum += Math.sqrt(square);
  }
  const share = 1 - (2 * sum) / size ** 2;
  // The matrix of these eigenvalues and its tridiagonal form are rounded, together by E of about eps trace / 2: no more
  // in all that we have tried. The squares of all errors of eigenvalues sum to |E|_F^2 at most (Hoffman and Wielandt),
  // and a singular value has the error of its square over twice itself: these sum to |E|_F sqrt(inverse) / 2 at most,
  // by Cauchy and Schwarz.
  const error = (Number.EPSILON * trace * Math.sqrt(inverse)) / 2 / size ** 2;
  return share <= leastShare || error <= 2 * enoughError * share ? share : Number.NaN;
}

function* distance(a: Float64Array, b: Float64Array, d: Float64Array): Work<number> {
  const n = d.length;
  const lengths = new Float64Array(n + 1);
  for (let i = 0; i < n; i++) {
    lengths[i] = norm(difference(a.subarray(i * n, (i + 1) * n), b.subarray(i * n, (i + 1) * n)));
    if (i % 32 === 0) yield;
  }
  lengths[n] = norm(d);
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
