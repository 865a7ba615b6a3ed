import { CovariumError } from '../covarium-error.ts';
import type { Word64 } from '../normal-counter.ts';
import { philox } from '../reference/philox.ts';

/** Rows of a run that have words of their own: 2^56. */
export const rowLimit: bigint = 2n ** 56n;

/** Throws `ERR_OUT_OF_RANGE` where a run reaches beyond {@link rowLimit}. */
export function requireRows(firstRow: Word64, count: number): void {
  const last = BigInt(firstRow) + BigInt(count);
  if (last > rowLimit)
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `Rows (${firstRow}) to (${last - 1n}) reach beyond the 2^56 of a run of a Student-t.`,
    );
}

/** Tries that a row may take. */
export const triesOfRow = 64;

/**
 * The random words of the rows of one run, beside those that its normals take: blocks from 2^63 on belong to no normal of any stream
 * (lib/reference/normal-stream.ts), 128 of them to each row, two to a try.
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

  /** Writes the four words of block 0 or 1 of a try of a row to `words` from index `at`. */
  write(row: number, attempt: number, block: 0 | 1, words: Int32Array<ArrayBuffer>, at: number): void {
    const run = this.#run;
    const sum = this.#rowLow + row;
    const rowHigh = this.#rowHigh + Math.floor(sum / 2 ** 32);
    const low = (sum << 7) | (2 * attempt + block);
    const high = 0x80000000 | (rowHigh << 7) | ((sum >>> 25) & 127);
    philox(low, high, run[2]!, run[3]!, run[0]!, run[1]!, words, at);
  }
}
