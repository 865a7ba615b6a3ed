import type { Missing, Real, RealDtype } from '../dtype.ts';

/** What a table of numbers says of itself before its rows. */
export interface TableHead {
  /** Of the columns; undefined where the file has none. */
  readonly names: readonly string[] | undefined;
  readonly columns: number;
  readonly dtype: RealDtype;
  /** Undefined where only reading to the end tells. */
  readonly rows: number | undefined;
  /** Texts by name that are kept in the file where the format has a place for them: Arrow and Parquet. */
  readonly metadata?: { readonly [name: string]: string };
}

/** Rows go in; one of {@link finish} and {@link discard} ends it. */
export interface TableWriter {
  /** Whole rows, row-major, of the head's type. The array may be used again once the promise settles. */
  write(values: Real): Promise<void>;
  finish(): Promise<void>;
  /** Leaves nothing of an unfinished file behind. Never rejects. */
  discard(): Promise<void>;
}

/** Rows come out, once, in order; {@link close} ends it at any time. */
export interface TableReader {
  /** Of the columns that are read; its rows are those of the file. */
  readonly head: TableHead;
  /** Rows that were left out so far, since a value of theirs is missing. */
  readonly dropped: number;
  /** Whole rows of finite numbers, row-major. Throws what is wrong with the file where it is found. */
  blocks(): AsyncIterable<Real>;
  /** All rows in one array, in place of {@link blocks}, where the reader has a quicker way to that. */
  whole?(): Promise<Real>;
  close(): Promise<void>;
}

/** What the reader of a format is asked for. */
export interface ReadRequest {
  readonly columns: readonly string[] | undefined;
  readonly missing: Missing;
  /** The array to read of an `.npz` file. */
  readonly member?: string | undefined;
  /**
   * Of CSV: whether the first row has the names, what parts fields, and what begins a line to skip; the file tells
   * where it is left out.
   */
  readonly header?: boolean | undefined;
  readonly delimiter?: string | undefined;
  readonly comment?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Is told of doubts about the file, a sentence each. */
  readonly warn?: (sentence: string) => void;
}

/** What a format makes of rows. */
export type RowWriter = Pick<TableWriter, 'write' | 'finish'>;
