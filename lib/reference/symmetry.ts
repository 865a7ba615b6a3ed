import { CovariumError, type ErrorCode } from '../covarium-error.ts';
import type { Real } from '../dtype.ts';
import type { Work } from '../work.ts';

const pieceLength = 1 << 14;

/** Throws `ERR_NOT_FINITE` at the first entry, row by row, that is NaN or infinite. */
export function* requireFinite(a: Real, columns: number): Work {
  for (let begin = 0; begin < a.length; begin += pieceLength) {
    const end = Math.min(begin + pieceLength, a.length);
    for (let i = begin; i < end; i++) {
      const value = a[i]!;
      if (value - value === 0) continue; // NaN for the others
      const row = Math.floor(i / columns);
      const column = i % columns;
      refuse('ERR_NOT_FINITE', row, column, `Entry (${row}, ${column}) is (${value}), not a finite number.`);
    }
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
      refuse('ERR_NOT_SYMMETRIC', i, j, message);
    }
    yield;
  }
}

function refuse(code: ErrorCode, row: number, column: number, message: string): never {
  throw new CovariumError(code, message, { row, column });
}
