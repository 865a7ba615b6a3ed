import { CovariumError } from '../covarium-error.ts';
import type { Word64 } from './counter.ts';
import { exponential, logarithm } from './elementary.ts';
import { mapToNormalsFloat64 } from './normal-float64.ts';
import { philox } from './philox.ts';

const rowsAtOnce = 128;
const normalWords = new Int32Array(4 * rowsAtOnce);
const uniformWords = new Int32Array(4 * rowsAtOnce);
const normals = new Float64Array(2 * rowsAtOnce);

/**
 * sqrt(nu / w) for each row of a run, from row `firstRow` on. w is chi-squared with nu degrees of freedom, and depends
 * only on the seed and the stream (the first four words of `run`), on nu and on the row. By Marsaglia and Tsang, A
 * simple method for generating gamma variables, ACM Transactions on Mathematical Software 26 (2000): w / 2 = d (1 + c
 * x)^3 for a normal x, if it is accepted; if nu is below 2, U^(2 / nu) times the value for nu + 2, as in their last
 * section. docs/numerics.md has every step.
 */
export function fillRadialScales(out: Float64Array, nu: number, run: Uint32Array, firstRow: Word64): void {
  const words = new RowWords(run, firstRow);
  const shape = nu / 2;
  const isBoosted = shape < 1;
  const d = (isBoosted ? shape + 1 : shape) - 1 / 3;
  const c = 1 / (3 * Math.sqrt(d));
  for (let begin = 0; begin < out.length; begin += rowsAtOnce) {
    const count = Math.min(rowsAtOnce, out.length - begin);
    for (let i = 0; i < count; i++) {
      words.write(begin + i, 0, 0, normalWords, 4 * i);
      words.write(begin + i, 0, 1, uniformWords, 4 * i);
    }
    mapToNormalsFloat64(normalWords, count, normals);
    for (let i = 0; i < count; i++) {
      const t = c * normals[2 * i]!;
      const accepted = isAccepted(t, d, uniform(uniformWords, 4 * i)) ? t : tryAgain(words, begin + i, c, d);
      const root = 1 + accepted;
      const ratio = shape / (d * (root * root * root));
      out[begin + i] = isBoosted
        ? exponential(logarithm(ratio) / 2 - logarithm(uniform(uniformWords, 4 * i + 2)) / nu)
        : Math.sqrt(ratio);
    }
  }
}

const again = new Int32Array(4);
const normalsAgain = new Float64Array(2);

// Fewer than one attempt in twenty is rejected. The probability that all attempts of a row are is below 10^-80; the
// result is then 0.
function tryAgain(words: RowWords, row: number, c: number, d: number): number {
  for (let attempt = 1; attempt < triesOfRow; attempt++) {
    words.write(row, attempt, 0, again, 0);
    mapToNormalsFloat64(again, 1, normalsAgain);
    const t = c * normalsAgain[0]!;
    words.write(row, attempt, 1, again, 0);
    if (isAccepted(t, d, uniform(again, 0))) return t;
  }
  return 0;
}

/**
 * True if ln u < x^2 / 2 + d (1 - v + ln v), where v = (1 + t)^3 and t = c x. With c^2 = 1 / (9 d) the right side is 3
 * d (ln(1 + t) - t + t^2 / 2 - t^3 / 3), which keeps its digits for any d.
 */
function isAccepted(t: number, d: number, u: number): boolean {
  if (t <= -1) return false;
  const square = d * t * t;
  // 1 - 0.0331 x^4: their squeeze, which avoids nearly all logarithms.
  if (u < 1 - 2.6811 * square * square) return true;
  return logarithm(u) < 3 * d * tailOfLogarithm(t);
}

// ln(1 + t) - t + t^2 / 2 - t^3 / 3.
function tailOfLogarithm(t: number): number {
  if (Math.abs(t) > 0.1) return logarithm(1 + t) - t + (t * t) / 2 - (t * t * t) / 3;
  let sum = 0;
  for (let power = 16; power >= 4; power--) sum = (power % 2 === 0 ? -1 : 1) / power + t * sum;
  return t * t * t * t * sum;
}

// (word + 1/2) / 2^64 for a word of 64 bits, the upper half first.
function uniform(words: Int32Array, at: number): number {
  return ((words[at]! >>> 0) * 2 ** 32 + (words[at + 1]! >>> 0) + 0.5) * 2 ** -64;
}

/** Number of rows of a run that have their own words: 2^56. */
export const rowLimit: bigint = 2n ** 56n;

/** Throws `ERR_OUT_OF_RANGE` if a run goes beyond {@link rowLimit}. */
export function requireRowLimit(firstRow: Word64, count: number): void {
  const last = BigInt(firstRow) + BigInt(count);
  if (last > rowLimit)
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `\`firstRow\` is (${firstRow}): from there (${count}) rows go beyond the 2^56 of a run of a Student-t.`,
    );
}

/** The most attempts of a row. */
const triesOfRow = 64;

/**
 * The random words of the rows of one run, in addition to those of its normals: no normal of any stream uses blocks
 * from 2^63 on (lib/stream/fill-normal.ts); each row has 128 of them, two for each attempt.
 */
export class RowWords {
  readonly #run: Uint32Array;
  readonly #rowLow: number;
  readonly #rowHigh: number;

  /** `run` has the seed and the stream, as four words, low before high; rows count from `firstRow`. */
  constructor(run: Uint32Array, firstRow: Word64) {
    this.#run = run.slice(0, 4);
    this.#rowLow = Number(BigInt(firstRow) & 0xffffffffn);
    this.#rowHigh = Number(BigInt(firstRow) >> 32n);
  }

  /** Writes the four words of block 0 or 1 of an attempt of a row to `words` from index `at`. */
  write(row: number, attempt: number, block: 0 | 1, words: Int32Array<ArrayBuffer>, at: number): void {
    const run = this.#run;
    const sum = this.#rowLow + row;
    const rowHigh = this.#rowHigh + Math.floor(sum / 2 ** 32);
    const low = (sum << 7) | (2 * attempt + block);
    const high = 0x80000000 | (rowHigh << 7) | ((sum >>> 25) & 127);
    philox(low, high, run[2]!, run[3]!, run[0]!, run[1]!, words, at);
  }
}
