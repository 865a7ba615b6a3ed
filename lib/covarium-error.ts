/**
 * What went wrong, for programs. Every refusal has its own code; the message is for people.
 *
 * | code | fields |
 * | --- | --- |
 * | `ERR_NOT_POSITIVE_DEFINITE` | `pivot`: global, from 0 |
 * | `ERR_NOT_SYMMETRIC` | `row`, `column` |
 * | `ERR_NOT_FINITE` | `row`, `column` |
 * | `ERR_SHAPE`, `ERR_OUT_OF_RANGE`, `ERR_INVALID_ARGUMENT`, `ERR_UNKNOWN_OPTION` | |
 * | `ERR_TOO_LARGE`, `ERR_OUT_OF_MEMORY` | |
 * | `ERR_CLOSED`, `ERR_FOREIGN_BUFFER` | |
 * | `ERR_DEVICE_FAILED`: a GPU stops while it runs (memory, time, a page fault, removed) | |
 * | `ERR_DEVICE_UNAVAILABLE`, `ERR_UNSUPPORTED_DTYPE`, `ERR_UNSUPPORTED` | |
 * | `ERR_MALFORMED_CSV`, `ERR_MALFORMED_NPY`, `ERR_MALFORMED_MODEL` | `path`, `line`, `column` (both from 1) |
 * | `ERR_FILE_NOT_FOUND`, `ERR_FILE_UNREADABLE`, `ERR_FILE_UNWRITABLE`, `ERR_DISK_FULL` | `path` |
 * | `ERR_ABORTED` | `cause`: the signal's reason |
 * | `ERR_INTERNAL` | a defect of covarium or of a library under it |
 */
export type ErrorCode =
  | 'ERR_NOT_POSITIVE_DEFINITE'
  | 'ERR_NOT_SYMMETRIC'
  | 'ERR_NOT_FINITE'
  | 'ERR_SHAPE'
  | 'ERR_OUT_OF_RANGE'
  | 'ERR_INVALID_ARGUMENT'
  | 'ERR_UNKNOWN_OPTION'
  | 'ERR_TOO_LARGE'
  | 'ERR_OUT_OF_MEMORY'
  | 'ERR_CLOSED'
  | 'ERR_FOREIGN_BUFFER'
  | 'ERR_DEVICE_UNAVAILABLE'
  | 'ERR_DEVICE_FAILED'
  | 'ERR_UNSUPPORTED_DTYPE'
  | 'ERR_UNSUPPORTED'
  | 'ERR_MALFORMED_CSV'
  | 'ERR_MALFORMED_NPY'
  | 'ERR_MALFORMED_MODEL'
  | 'ERR_FILE_NOT_FOUND'
  | 'ERR_FILE_UNREADABLE'
  | 'ERR_FILE_UNWRITABLE'
  | 'ERR_DISK_FULL'
  | 'ERR_ABORTED'
  | 'ERR_INTERNAL';

/** Where a refusal points; each field is present where its code says so (see {@link ErrorCode}). */
export interface ErrorFields {
  /** 0-based index of the first pivot that is not positive. */
  pivot?: number;
  /** 0-based matrix row. */
  row?: number;
  /** Matrix column, 0-based; in a malformed file, the column of the text, from 1. */
  column?: number;
  /** Line of a malformed file, from 1. */
  line?: number;
  path?: string;
}

/** The one error class of covarium: a {@link code} for programs, a sentence for people, and the place where it has one. */
export class CovariumError extends Error {
  override readonly name: string = 'CovariumError';
  readonly code: ErrorCode;
  readonly pivot?: number;
  readonly row?: number;
  readonly column?: number;
  readonly line?: number;
  readonly path?: string;

  constructor(code: ErrorCode, message: string, { cause, ...fields }: ErrorFields & { cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    Object.assign(this, fields);
  }
}
