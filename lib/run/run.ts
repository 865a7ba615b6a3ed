import { CovariumError } from '../covarium-error.ts';
import type { RealDtype } from '../dtype.ts';
import { bytesOf } from '../dtype.ts';
import type { TableFormat } from '../table/format.ts';

/**
 * All that the rows of a file depend on, except the device: rows [firstRow, firstRow + rows) of a stream. A part of a
 * run is a run of fewer rows. It can be written as JSON directly.
 */
export interface Run {
  /** SHA-256 of the model, by {@link modelHash}. */
  readonly model: string;
  /** Decimal digits, because JSON's numbers are exact only up to 2^53. */
  readonly seed: string;
  readonly stream: string;
  /** Version of the normal stream. */
  readonly normalStream: number;
  readonly firstRow: string;
  readonly rows: number;
  readonly columns: number;
  /** Names of the columns; null if the model has none. */
  readonly names: readonly string[] | null;
  readonly dtype: RealDtype;
  readonly format: TableFormat;
  /** Rows that are computed together; BLAS's rounding depends on them. */
  readonly rowsPerBlock: number;
}

/** The normal stream that this version of covarium draws from. */
export const normalStream = 1;

export const runFields: readonly (keyof Run)[] = [
  'model',
  'seed',
  'stream',
  'normalStream',
  'firstRow',
  'rows',
  'columns',
  'names',
  'dtype',
  'format',
  'rowsPerBlock',
];

// A block is long enough to hide a commit's overhead, and to let BLAS pack the factor for many rows.
const blockBytes = 2 << 20;
const fewestRows = 64;
// A part is long enough to make opening its file worthwhile.
const partBytes = 256 << 20;

/** Rows of a block: a power of two. */
export function rowsPerBlock(columns: number, dtype: RealDtype): number {
  return 2 ** Math.floor(Math.log2(Math.max(fewestRows, blockBytes / (columns * bytesOf(dtype)))));
}

/** Rows of a part of about 256 MiB: whole blocks, so that no block is computed for two parts. */
export function rowsPerPart(columns: number, dtype: RealDtype): number {
  const block = rowsPerBlock(columns, dtype);
  return block * Math.max(1, Math.round(partBytes / (block * columns * bytesOf(dtype))));
}

/** The run of `rows` rows from row `first` of this one. */
export function runWithin(run: Run, first: number, rows: number): Run {
  return { ...run, firstRow: String(BigInt(run.firstRow) + BigInt(first)), rows };
}

/** Throws `ERR_RUN_MISMATCH`, with both values of the first difference, if a file describes another run. */
export function requireSameRun<Told extends object>(path: string, told: Told, wanted: Told): void {
  for (const name of Object.keys(wanted) as (keyof Told & string)[]) {
    const [there, here] = [JSON.stringify(told[name]), JSON.stringify(wanted[name])];
    if (there !== here)
      throw new CovariumError(
        'ERR_RUN_MISMATCH',
        `File (${path}) is of another run: its ${name} is (${there}), and this run's is (${here}).`,
        { path },
      );
  }
}
