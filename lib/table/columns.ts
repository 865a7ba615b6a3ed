import { loadAddon } from '../addon/native.ts';
import { describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Real, RealDtype } from '../dtype.ts';
import { isSlice, Turns, type Work } from '../work.ts';
import { resultMemory, touch } from './result-memory.ts';
import type { TableHead } from './table.ts';

/**
 * The head's names, or x1, x2, ..., for a format whose columns need distinct names. Throws `ERR_INVALID_ARGUMENT` for a
 * name that occurs twice.
 */
export function* columnNames({ names, columns }: TableHead): Work<readonly string[]> {
  const all = names ?? Array.from({ length: columns }, (_, i) => `x${i + 1}`);
  const [twice] = yield* repeatedNames(all);
  if (twice === undefined) return all;
  throw new CovariumError(
    'ERR_INVALID_ARGUMENT',
    `Column name (${describe(twice)}) occurs twice; pass other \`names\`.`,
  );
}

/** The names that occur more than once, in time that grows with their number: a file may state a million. */
export function* repeatedNames(names: readonly string[]): Work<ReadonlySet<string>> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const [index, name] of names.entries()) {
    if (seen.size === seen.add(name).size) repeated.add(name);
    if (isSlice(index)) yield;
  }
  return repeated;
}

/**
 * Indices of the `wanted` columns of a file, all by default. Throws `ERR_INVALID_ARGUMENT` for a name that the file
 * does not have or has twice, and for one that is wanted twice.
 */
export function* chosenColumns(
  path: string,
  names: readonly string[] | undefined,
  columns: number,
  wanted: readonly string[] | undefined,
): Work<number[]> {
  if (wanted === undefined) return Array.from({ length: columns }, (_, i) => i);
  const refusal = (why: string) => new CovariumError('ERR_INVALID_ARGUMENT', why, { path });
  if (wanted.length === 0) throw refusal(`\`columns\` is empty (0); name at least one column of file (${path}).`);
  const places = new Map<string, number>();
  for (const [index, name] of (names ?? []).entries()) {
    places.set(name, index);
    if (isSlice(index)) yield;
  }
  const repeated = yield* repeatedNames(names ?? []);
  const [again] = yield* repeatedNames(wanted);
  const chosen: number[] = [];
  for (const name of wanted) {
    if (names === undefined)
      throw refusal(
        `File (${path}) has no column names, so column (${describe(name)}) cannot be found; leave \`columns\` out.`,
      );
    if (name === again) throw refusal(`\`columns\` has (${describe(name)}) twice; pass it once.`);
    const index = places.get(name);
    if (index === undefined)
      throw refusal(
        `\`columns\` has (${describe(name)}), which file (${path}) does not have; pass some of (${describe(names.join(', '))}).`,
      );
    if (repeated.has(name))
      throw refusal(`\`columns\` has (${describe(name)}), which file (${path}) has twice; pass others.`);
    chosen.push(index);
    if (isSlice(chosen.length)) yield;
  }
  return chosen;
}

/** Writes rows of `columns` numbers as columns, one each `stride` numbers of `out`, from number `at` of each on. */
type Deinterleave = (values: Real, columns: number, out: Real, stride: number, at: number) => void;

// Rows of a tile, so few that the cache keeps a tile's numbers while its columns are copied.
const tileRows = 512;

/** In plain TypeScript, where there is no addon. */
export const plainDeinterleave: Deinterleave = (values, columns, out, stride, at) => {
  const rows = values.length / columns;
  for (let tile = 0; tile < rows; tile += tileRows) {
    const end = Math.min(tile + tileRows, rows);
    for (let column = 0; column < columns; column++) {
      let from = tile * columns + column;
      let to = column * stride + at + tile;
      for (let row = tile; row < end; row++, from += columns) out[to++] = values[from]!;
    }
  }
};

/** Collects rows as they come, up to a number of rows, and turns them into columns. */
export class ColumnGroup {
  readonly #columns: number;
  readonly #capacity: number;
  readonly #values: Real;
  readonly #deinterleave: Deinterleave;
  #rows = 0;

  constructor(
    columns: number,
    dtype: RealDtype,
    capacity: number,
    deinterleave: Deinterleave = loadAddon().addon?.deinterleave ?? plainDeinterleave,
  ) {
    this.#columns = columns;
    this.#capacity = capacity;
    this.#values = resultMemory(dtype, columns * capacity);
    this.#deinterleave = deinterleave;
  }

  /** As the constructor; the event loop turns while the system gives its memory. */
  static async open(columns: number, dtype: RealDtype, capacity: number): Promise<ColumnGroup> {
    const group = new ColumnGroup(columns, dtype, capacity);
    await touch(group.#values, new Turns(undefined));
    return group;
  }

  get rows(): number {
    return this.#rows;
  }

  get isFull(): boolean {
    return this.#rows === this.#capacity;
  }

  /** Takes rows of `values` from row `start` on, as many as there is room for, and returns their number. */
  take(values: Real, start: number): number {
    const columns = this.#columns;
    const taken = Math.min(this.#capacity - this.#rows, values.length / columns - start);
    const rows = values.subarray(start * columns, (start + taken) * columns);
    this.#deinterleave(rows, columns, this.#values, this.#capacity, this.#rows);
    this.#rows += taken;
    return taken;
  }

  /** The numbers of a column. */
  column(index: number): Real {
    const start = index * this.#capacity;
    return this.#values.subarray(start, start + this.#rows);
  }

  clear(): void {
    this.#rows = 0;
  }
}
