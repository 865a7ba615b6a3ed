import type { Real } from '../dtype.ts';
import type { Work } from './work.ts';

/** Entries of `a` (n x n) above the diagonal become 0. */
export function* zeroUpper(a: Real, n: number): Work {
  for (let i = 0; i < n; i++) {
    a.fill(0, i * n + i + 1, (i + 1) * n);
    yield;
  }
}

/** Transposes `a` (n x n) along its other diagonal, in place: a_ij <-> a_(n-1-j)(n-1-i). */
export function* antitranspose(a: Real, n: number): Work {
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n - 1 - i; j++) {
      const here = i * n + j;
      const there = (n - 1 - j) * n + (n - 1 - i);
      const value = a[here]!;
      a[here] = a[there]!;
      a[there] = value;
    }
    yield;
  }
}
