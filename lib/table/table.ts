import type { Missing, Real, RealDtype } from '../dtype.ts';

/** What is known about a table of numbers before its rows. */
export interface TableHead {
  /** Names of the columns; undefined if the file has none. */
  readonly names: readonly string[] | undefined;
  readonly columns: number;
  readonly dtype: RealDtype;
  /** Number of rows; undefined if only reading to the end shows it. */
  readonly rows: number | undefined;
  /** Texts by name, stored in the file if the format has a place for them: Arrow and Parquet. */
  readonly metadata?: { readonly [name: string]: string };
}

/** Writes rows; call one of {@link finish} and {@link discard} to end it. */
export interface TableWriter {
  /** About as many bytes are best written at once, where it matters. */
  readonly pieceBytes?: number | undefined;
  /** Writes whole rows, row-major, of the head's type. The array may be reused once the promise settles. */
  write(values: Real): Promise<void>;
  finish(): Promise<void>;
  /** Removes an unfinished file. Never rejects. */
  discard(): Promise<void>;
}

/** Reads rows, once, in order; {@link close} ends it at any time. */
export interface TableReader {
  /** The head of the columns that are read; `rows` is that of the file. */
  readonly head: TableHead;
  /** Number of rows left out so far because they have a missing value. */
  readonly dropped: number;
  /**
   * The names of the rows that are read so far, of a CSV file that has one more column besides; of a long file only
   * those of the first.
   */
  readonly rowNames?: readonly string[] | undefined;
  /** Whole rows of finite numbers, row-major. Throws when it meets an error in the file. */
  blocks(): AsyncIterable<Real>;
  /** All rows in one array, in place of {@link blocks}, if the reader has a faster way to read them. */
  whole?(): Promise<Real>;
  close(): Promise<void>;
}

/** What a caller requests from the reader of a format. */
export interface ReadRequest {
  readonly columns: readonly string[] | undefined;
  /** `keep` gives every row as it is, with NaN and infinite numbers; CSV has none. */
  readonly missing: Missing | 'keep';
  /** The name of the array to read from an `.npz` file. */
  readonly member?: string | undefined;
  /**
   * For CSV: whether the first row has names, what separates fields, and what begins a line to skip; by default the
   * file decides.
   */
  readonly header?: boolean | undefined;
  readonly delimiter?: string | undefined;
  readonly comment?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with a sentence about anything doubtful in the file. */
  readonly warn?: (sentence: string) => void;
}

/** Writes rows in a format. */
export interface RowWriter extends Pick<TableWriter, 'write' | 'finish' | 'pieceBytes'> {}
