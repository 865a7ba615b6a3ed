import { requireFiniteEntries } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Real } from '../dtype.ts';
import type { Work } from '../work.ts';

const pieceLength = 1 << 14;

/** {@link requireFiniteEntries} in pieces, between which the event loop has its turn. */
export function* requireFinite(a: Real, columns: number, name?: string): Work {
  for (let begin = 0; begin < a.length; begin += pieceLength) {
    requireFiniteEntries(name, a.subarray(begin, begin + pieceLength), columns, begin);
    yield;
  }
}

/**
 * Throws `ERR_NOT_FINITE`, or `ERR_NOT_SYMMETRIC` at the first entry below the diagonal that is not its mirror's; see
 * Encoder.
 */
export function* requireSymmetric(a: Real, n: number, tolerance: number): Work {
  yield* requireFinite(a, n);
  for (let i = 0; i < n; i++) {
    const scale = Math.sqrt(Math.abs(a[i * n + i]!));
    for (let j = 0; j < i; j++) {
      const x = a[i * n + j]!;
      const y = a[j * n + i]!;
      const difference = Math.abs(x - y);
      if (difference <= tolerance * Math.max(Math.abs(x), Math.abs(y))) continue;
      if (difference <= tolerance * scale * Math.sqrt(Math.abs(a[j * n + j]!))) continue;
      const message = `Matrix is not symmetric: entry (${i}, ${j}) is (${x}), but entry (${j}, ${i}) is (${y}).`;
      throw new CovariumError('ERR_NOT_SYMMETRIC', message, { row: i, column: j });
    }
    yield;
  }
}
