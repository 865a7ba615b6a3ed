import type { Real } from '../dtype.ts';
import type { Work } from './work.ts';

const pieceLength = 1 << 14;

/** to = from. */
export function* copy(from: Real, to: Real): Work {
  for (let begin = 0; begin < from.length; begin += pieceLength) {
    to.set(from.subarray(begin, begin + pieceLength), begin);
    yield;
  }
}

/** out = a + b; out may be a or b. */
export function* sum(a: Real, b: Real, out: Real): Work {
  for (let begin = 0; begin < out.length; begin += pieceLength) {
    const end = Math.min(begin + pieceLength, out.length);
    for (let i = begin; i < end; i++) out[i] = a[i]! + b[i]!;
    yield;
  }
}
