import { loadAddon } from '../addon/native.ts';
import { fromNative } from '../covarium-error.ts';
import { part, type Real, type RealDtype, zerosOf } from '../dtype.ts';
import { Turns } from '../work.ts';
import type { CompleteRows } from './complete-rows.ts';

/**
 * Writes columns as rows into `out` from `at` on; true if all of these numbers are finite. The memory must stay as it
 * is until the promise settles.
 */
type Interleave = (columns: readonly Real[], rows: number, out: Real, at: number) => Promise<boolean>;

/** How tiles become rows. */
export interface TileWriter {
  readonly interleave: Interleave;
  /** Numbers of a tile, about. */
  readonly numbers: number;
  /** Tiles that are worked on at once. */
  readonly ahead: number;
}

// So few take less time than a thread takes to begin.
const fewNumbers = 1 << 12;

/** On threads of libuv's pool, unless a tile has so few numbers; undefined where there is no addon. */
export function nativeTiles(few: number = fewNumbers): TileWriter | undefined {
  const { addon } = loadAddon();
  if (addon?.interleave === undefined) return undefined;
  return {
    numbers: 1 << 18,
    ahead: 3,
    interleave: (columns, rows, out, at) =>
      rows * columns.length <= few
        ? plainTiles.interleave(columns, rows, out, at)
        : addon.interleave(columns, rows, out, at).catch((error: unknown) => {
            throw fromNative(error);
          }),
  };
}

/** In plain TypeScript: the columns and the rows of a tile stay in the processor's cache together. */
export const plainTiles: TileWriter = {
  numbers: 1 << 14,
  ahead: 1,
  interleave: async (columns, rows, out, at) => interleaveAll(columns, rows, out, at) === 0,
};

/** Rows that are being written. */
interface Pending {
  /** The columns that they are written from; undefined if another writes them. */
  readonly tile: Real[] | undefined;
  readonly rows: number;
  readonly at: number;
  readonly areFinite: Promise<boolean>;
}

// Of rows that another writes, at once, and of those that are looked through before the event loop may turn.
const directNumbers = 1 << 19;
const directAhead = 8;
const pieceNumbers = 1 << 17;

/**
 * Turns columns, a few thousand rows at a time, into rows of finite numbers. Every few milliseconds it gives the
 * JavaScript thread up and checks the signal.
 */
export class RowTiles {
  /** Rows of a tile at most. */
  readonly rows: number;
  /** Rows that {@link direct} should write at once. */
  readonly directRows: number;
  readonly #columns: number;
  readonly #complete: CompleteRows;
  readonly #turns: Turns;
  readonly #writer: TileWriter;
  readonly #tile: () => Real[];
  readonly #spare: Real[][] = [];
  readonly #pending: Pending[] = [];
  #tiles = 0;
  #out: Real;
  // Where the next tile goes if no row of those before it is left out, and how many numbers are kept so far.
  #at = 0;
  #kept = 0;
  // Of the first tile that was refused.
  #refusal: unknown;

  constructor(
    columns: number,
    dtype: RealDtype,
    complete: CompleteRows,
    signal: AbortSignal | undefined,
    writer: TileWriter = nativeTiles() ?? plainTiles,
  ) {
    this.#columns = columns;
    this.#complete = complete;
    this.#turns = new Turns(signal);
    this.#writer = writer;
    this.rows = Math.max(16, Math.floor(writer.numbers / columns));
    this.directRows = Math.max(1, Math.floor(directNumbers / columns));
    // Views of one array, because the collector of garbage follows each array of a table of thousands of columns.
    this.#tile = () => {
      const numbers = zerosOf(dtype, columns * this.rows) as Real;
      return Array.from({ length: columns }, (_, column) => part(numbers, column, this.rows));
    };
    this.#out = zerosOf(dtype, 0) as Real;
  }

  /** Begins rows at the start of `out`. */
  begin(out: Real): void {
    this.#out = out;
    this.#at = 0;
    this.#kept = 0;
  }

  /** The memory of a column of the current tile. */
  column(index: number): Real {
    if (this.#spare.length === 0) {
      this.#tiles++;
      this.#spare.push(this.#tile());
    }
    return this.#spare[0]![index]!;
  }

  /** Takes the tile's first `rows` rows. Rejects with `ERR_ABORTED` and `ERR_NOT_FINITE`. */
  async write(rows: number): Promise<void> {
    const tile = this.#spare.shift()!;
    this.#push(tile, rows, this.#writer.interleave(tile, rows, this.#out, this.#at));
    while (this.#spare.length === 0 && this.#tiles === this.#writer.ahead) await this.#settleOldest();
    await this.#turns.take();
  }

  /**
   * Takes `rows` rows that `fill` writes into `out` from `at` on; it resolves to true if they are known to be finite.
   * Rejects with `ERR_ABORTED`, `ERR_NOT_FINITE`, and what an earlier `fill` rejected with.
   */
  async direct(rows: number, fill: (out: Real, at: number) => Promise<boolean>): Promise<void> {
    this.#push(undefined, rows, fill(this.#out, this.#at));
    while (this.#pending.length >= directAhead) await this.#settleOldest();
    await this.#turns.take();
  }

  /** The numbers that are kept of all tiles since {@link begin}, once they are there. Rejects with `ERR_NOT_FINITE`. */
  async end(): Promise<number> {
    while (this.#pending.length > 0) await this.#settleOldest();
    return this.#kept;
  }

  /** Rejects with what is wrong with the first tile, or else with `error`, once no tile is worked on. */
  async fail(error: unknown): Promise<never> {
    while (this.#pending.length > 0)
      try {
        await this.#settleOldest();
      } catch {}
    throw this.#refusal ?? error;
  }

  #push(tile: Real[] | undefined, rows: number, areFinite: Promise<boolean>): void {
    // Another may fail before this one is looked at.
    areFinite.catch(() => {});
    this.#pending.push({ tile, rows, at: this.#at, areFinite });
    this.#at += rows * this.#columns;
  }

  async #settleOldest(): Promise<void> {
    const { tile, rows, at, areFinite } = this.#pending.shift()!;
    try {
      const areKnown = await areFinite;
      if (areKnown && this.#kept === at) {
        this.#complete.pass(rows);
        this.#kept += rows * this.#columns;
      } else await this.#keep(rows, at, areKnown);
    } catch (error) {
      this.#refusal ??= error;
      throw error;
    } finally {
      if (tile !== undefined) this.#spare.push(tile);
    }
  }

  // Moves the complete ones of the rows at `at` behind those that are kept.
  async #keep(rows: number, at: number, areFinite: boolean): Promise<void> {
    const columns = this.#columns;
    const pieceRows = Math.max(1, Math.floor(pieceNumbers / columns));
    for (let row = 0; row < rows; row += pieceRows) {
      const taken = Math.min(pieceRows, rows - row);
      const start = at + row * columns;
      let count = taken * columns;
      if (areFinite) this.#complete.pass(taken);
      else count = this.#complete.of(this.#out.subarray(start, start + count)).length;
      if (this.#kept !== start) this.#out.copyWithin(this.#kept, start, start + count);
      this.#kept += count;
      await this.#turns.take();
    }
  }
}

/** 0 if all numbers are finite, NaN otherwise. */
function interleaveAll(columns: readonly Real[], rows: number, out: Real, at: number): number {
  const stride = columns.length;
  let sum = 0;
  let column = 0;
  for (; column + 4 <= stride; column += 4) {
    const [a, b, c, d] = [columns[column]!, columns[column + 1]!, columns[column + 2]!, columns[column + 3]!];
    sum += interleave4(a, b, c, d, rows, out, at + column, stride);
  }
  for (; column < stride; column++) sum += interleave(columns[column]!, rows, out, at + column, stride);
  return sum;
}

/** Writes a column as every `stride`th number of `out`; returns 0 if all are finite, NaN otherwise. */
function interleave(values: Real, rows: number, out: Real, at: number, stride: number): number {
  let sum = 0;
  let to = at;
  for (let row = 0; row < rows; row++, to += stride) {
    const value = values[row]!;
    out[to] = value;
    sum += value - value;
  }
  return sum;
}

/** Writes four columns at once: twice as fast as one by one. */
function interleave4(a: Real, b: Real, c: Real, d: Real, rows: number, out: Real, at: number, stride: number): number {
  let sum = 0;
  let to = at;
  for (let row = 0; row < rows; row++, to += stride) {
    const [p, q, r, s] = [a[row]!, b[row]!, c[row]!, d[row]!];
    out[to] = p;
    out[to + 1] = q;
    out[to + 2] = r;
    out[to + 3] = s;
    sum += p - p + (q - q) + (r - r) + (s - s);
  }
  return sum;
}
