import { scattered } from './naive.ts';

/** A matrix for a Cholesky factor: positive definite, or not so at `pivot`. */
interface CholeskyMatrix {
  readonly name: string;
  readonly entries: Float64Array;
  readonly pivot?: number;
}

/**
 * A matrix with eigenvalues in geometric progression from `norm` down to norm / condition, and reflections that leave
 * no zeros.
 */
function symmetric(n: number, norm: number, condition: number): Float64Array {
  const a = new Float64Array(n * n);
  for (let i = 0; i < n; i++) a[i * (n + 1)] = norm * condition ** (n === 1 ? 0 : -i / (n - 1));
  for (const seed of [3, 8]) {
    const v = scattered(n, seed);
    const scale = 2 / v.reduce((sum, each) => sum + each * each, 0);
    // H a H for H = I - scale v v': a less v w' and w v', where w = scale (a v - scale / 2 (v' a v) v).
    const av = Float64Array.from(v, (_, i) => v.reduce((sum, each, j) => sum + a[i * n + j]! * each, 0));
    const vav = v.reduce((sum, each, i) => sum + each * av[i]!, 0);
    const w = av.map((each, i) => scale * (each - (scale / 2) * vav * v[i]!));
    for (let i = 0; i < n; i++)
      for (let j = 0; j <= i; j++) {
        const entry = a[i * n + j]! - v[i]! * w[j]! - w[i]! * v[j]!;
        a[i * n + j] = entry;
        a[j * n + i] = entry;
      }
  }
  return a;
}

/**
 * The kinds of matrices that LAPACK tests its factor with (dlatb4 in TESTING/LIN, path PO), for a type's spacing of
 * numbers at 1 and its smallest normal number.
 */
export function choleskyMatrices(n: number, eps: number, smallest: number): CholeskyMatrix[] {
  const small = (0.25 * smallest) / eps;
  const diagonal = symmetric(n, 1, 2).map((each, at) => (at % (n + 1) === 0 ? each : 0));
  const zeroed = (pivot: number) =>
    symmetric(n, 1, 2).map((each, at) => (Math.floor(at / n) === pivot || at % n === pivot ? 0 : each));
  return [
    { name: 'diagonal', entries: diagonal },
    { name: 'condition 2', entries: symmetric(n, 1, 2) },
    ...[...new Set([0, n - 1, Math.floor(n / 2)])].map((pivot) => ({
      name: `row and column ${pivot} are zero`,
      entries: zeroed(pivot),
      pivot,
    })),
    { name: 'condition sqrt(0.1 / eps)', entries: symmetric(n, 1, Math.sqrt(0.1 / eps)) },
    { name: 'condition 0.1 / eps', entries: symmetric(n, 1, 0.1 / eps) },
    { name: 'near underflow', entries: symmetric(n, small, 2) },
    { name: 'near overflow', entries: symmetric(n, 1 / small, 2) },
  ];
}
