/**
 * What went wrong, for programs. Every refusal has its own code; the message is for people. Each call that takes
 * options refuses one that it does not know (`ERR_UNKNOWN_OPTION`), and a value of another kind than it takes
 * (`ERR_INVALID_ARGUMENT`).
 *
 * | code | what is wrong | fields |
 * | --- | --- | --- |
 * | `ERR_NOT_POSITIVE_DEFINITE` | a matrix has no Cholesky factor | `pivot`: global, from 0 |
 * | `ERR_SINGULAR` | a matrix has no inverse | `pivot`: global, from 0 |
 * | `ERR_NOT_SYMMETRIC` | two entries of a matrix differ by more than the tolerance | `row`, `column` |
 * | `ERR_NOT_FINITE` | an entry is NaN or infinite | `row`, `column` |
 * | `ERR_SHAPE` | operands do not fit each other | |
 * | `ERR_OUT_OF_RANGE` | a number, an index or a row lies outside of what is possible | |
 * | `ERR_INVALID_ARGUMENT` | an argument is of the wrong kind, or two operands overlap | |
 * | `ERR_UNKNOWN_OPTION` | there is no such option | |
 * | `ERR_TOO_LARGE` | a size is beyond 2^53 bytes, or beyond what a typed array counts | |
 * | `ERR_OUT_OF_MEMORY` | this machine, or the GPU, has not the memory | |
 * | `ERR_CLOSED` | what is used was closed, committed, or transferred to another thread | |
 * | `ERR_FOREIGN_BUFFER` | memory belongs to another device | |
 * | `ERR_DEVICE_FAILED` | a GPU stops while it runs (memory, time, a page fault, removed) | |
 * | `ERR_DEVICE_UNAVAILABLE` | a device can't be had; the message says why | |
 * | `ERR_UNSUPPORTED_DTYPE` | a device computes nothing in this type | |
 * | `ERR_UNSUPPORTED` | a device can't do this, as a factor on a GPU where there is none; a file is right, and no
 * reader of ours takes its kind | `path` of a file | | `ERR_KERNEL_COMPILE` | a kernel's text does not compile |
 * `path`, `line`, `column` (both from 1); `diagnostics` | | `ERR_KERNEL_CHECK` | check mode finds a mistake in a kernel
 * | `path`, `line` (from 1) |
 * | `ERR_NO_COMPILER` | the cpu device needs a C++ compiler for kernels, and finds none | |
 * | `ERR_MALFORMED_CSV`, `ERR_MALFORMED_MODEL` | a file does not say what it should | `path`, `line`, `column` (both
 * from 1) | | `ERR_MALFORMED_NPY`, `ERR_MALFORMED_ARROW`, `ERR_MALFORMED_PARQUET` | a file is not of the format, or not
 * of a kind that is read | `path` | | `ERR_MALFORMED_MOMENTS` | JSON is not that of moments, or of no rows' moments;
 * the message names the field | `path` of a file | | `ERR_MALFORMED_RESULTS` | a file is not the benchmark's; the
 * message names the field | `path` | | `ERR_MALFORMED_MANIFEST` | a manifest, or a run.json, is none | `path` |
 * | `ERR_RUN_MISMATCH` | a file is there, and is of another run than this one | `path` |
 * | `ERR_MANIFEST_MISMATCH` | a file of draws is not as it was written, or its manifest is missing | `path` |
 * | `ERR_MODEL_MISMATCH` | a file of draws is of another model | `path` |
 * | `ERR_DRAWS_MISMATCH` | rows of a file are not those that its seed and stream give | `path`, `row`, `column` (both
 * from 0) | | `ERR_FILE_NOT_FOUND`, `ERR_FILE_UNREADABLE`, `ERR_FILE_UNWRITABLE`, `ERR_DISK_FULL` | a file of the
 * command line | `path` | | `ERR_TOOLCHAIN_MISSING`, `ERR_BUILD_FAILED` | `covarium build-native` lacks a tool, or the
 * compiler fails; the message says which, and what it said | | | `ERR_ABORTED` | an `AbortSignal`, or a device that
 * closes, stops the work | `cause`: the signal's reason | | `ERR_INTERNAL` | a defect of covarium or of a library under
 * it | |
 */
export type ErrorCode =
  | 'ERR_NOT_POSITIVE_DEFINITE'
  | 'ERR_SINGULAR'
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
  | 'ERR_KERNEL_COMPILE'
  | 'ERR_KERNEL_CHECK'
  | 'ERR_NO_COMPILER'
  | 'ERR_MALFORMED_CSV'
  | 'ERR_MALFORMED_NPY'
  | 'ERR_MALFORMED_ARROW'
  | 'ERR_MALFORMED_PARQUET'
  | 'ERR_MALFORMED_MODEL'
  | 'ERR_MALFORMED_MOMENTS'
  | 'ERR_MALFORMED_RESULTS'
  | 'ERR_MALFORMED_MANIFEST'
  | 'ERR_RUN_MISMATCH'
  | 'ERR_MANIFEST_MISMATCH'
  | 'ERR_MODEL_MISMATCH'
  | 'ERR_DRAWS_MISMATCH'
  | 'ERR_FILE_NOT_FOUND'
  | 'ERR_FILE_UNREADABLE'
  | 'ERR_FILE_UNWRITABLE'
  | 'ERR_DISK_FULL'
  | 'ERR_TOOLCHAIN_MISSING'
  | 'ERR_BUILD_FAILED'
  | 'ERR_ABORTED'
  | 'ERR_INTERNAL';

/** One line of what a compiler says. */
export interface Diagnostic {
  /** Only an error keeps a kernel from being made. */
  readonly severity: 'error' | 'warning';
  /** The compiler's sentence. */
  readonly message: string;
  /** The name that the text has: the kernel's, or an included one's. */
  readonly path: string;
  /** Line of the text, from 1. */
  readonly line: number;
  /** Column of the text, from 1. */
  readonly column: number;
}

/** Where a refusal points; each field is present where its code says so (see {@link ErrorCode}). */
export interface ErrorFields {
  /** 0-based index of the first pivot that is not positive. */
  pivot?: number;
  /** 0-based matrix row. */
  row?: number;
  /** Matrix column, 0-based; in a malformed file or a kernel, the column of the text, from 1. */
  column?: number;
  /** Line of a malformed file or a kernel's text, from 1. */
  line?: number;
  /** The file that is meant. */
  path?: string;
  /** All that the compiler of a kernel says. */
  diagnostics?: readonly Diagnostic[];
}

/**
 * The one error class of covarium: a {@link code} for programs, a sentence for people, and the place where it has one.
 */
export class CovariumError extends Error {
  /** Always `CovariumError`. */
  override readonly name: string = 'CovariumError';
  /** What went wrong, for programs. */
  readonly code: ErrorCode;
  /** 0-based index of the first pivot that is not positive. */
  readonly pivot?: number;
  /** 0-based matrix row. */
  readonly row?: number;
  /** Matrix column, 0-based; in a malformed file or a kernel, the column of the text, from 1. */
  readonly column?: number;
  /** Line of a malformed file or a kernel's text, from 1. */
  readonly line?: number;
  /** The file that is meant. */
  readonly path?: string;
  /** All that the compiler of a kernel says. */
  readonly diagnostics?: readonly Diagnostic[];

  /** An error with the fields that its code says. */
  constructor(code: ErrorCode, message: string, { cause, ...fields }: ErrorFields & { cause?: unknown } = {}) {
    super(printable(message), cause === undefined ? undefined : { cause });
    this.code = code;
    Object.assign(this, fields);
  }
}

/**
 * A text without what a terminal would obey: control characters, and those that turn the direction of text, as
 * `\u001b`. A message may quote the name of a file, or what is in it. Line ends and tabs stay.
 */
export function printable(text: string): string {
  return text.replace(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/**
 * Whether a value is an Error, of this realm or another: under Jest native code and Node throw errors of another one.
 */
export function isError(value: unknown): value is Error {
  return value instanceof Error || Object.prototype.toString.call(value) === '[object Error]';
}

/**
 * A module that is loaded as it is needed. Node keeps a failure (too many open files, say) for the life of the process:
 * it is told as `ERR_INTERNAL`.
 */
export async function loading<Module>(module: Promise<Module>): Promise<Module> {
  try {
    return await module;
  } catch (cause) {
    const why = isError(cause) ? cause.message : String(cause);
    const message = `A module of covarium can't be loaded (${why}). Node tries once only: start the process again.`;
    throw new CovariumError('ERR_INTERNAL', message, { cause });
  }
}

const fieldNames = ['pivot', 'row', 'column', 'line', 'path'] as const;

/**
 * Whatever a device throws, as a CovariumError. The addon throws plain Errors with a `code` and the {@link
 * ErrorFields}; an allocation that V8 refuses is a RangeError; anything else is a defect (`ERR_INTERNAL`).
 */
export function fromNative(error: unknown): CovariumError {
  if (error instanceof CovariumError) return error;
  if (!isError(error)) return new CovariumError('ERR_INTERNAL', `A device throws (${String(error)}).`);
  const { code, ...fields } = error as Error & { code?: unknown } & ErrorFields;
  if (typeof code === 'string' && code.startsWith('ERR_')) {
    const kept: ErrorFields = {};
    for (const name of fieldNames) if (fields[name] !== undefined) Object.assign(kept, { [name]: fields[name] });
    return new CovariumError(code as ErrorCode, error.message, kept);
  }
  if (error.name === 'RangeError' && /alloc|invalid (array buffer|typed array) length/i.test(error.message))
    return new CovariumError('ERR_OUT_OF_MEMORY', `Memory can't be had (${error.message}).`, { cause: error });
  return new CovariumError('ERR_INTERNAL', `A device fails (${error.message}).`, { cause: error });
}
