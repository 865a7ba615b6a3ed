/**
 * What went wrong, for programs; the message is for people. Each call that takes options refuses an unknown option
 * (`ERR_UNKNOWN_OPTION`), and a value of the wrong kind (`ERR_INVALID_ARGUMENT`). If a getter, a proxy or an iterable
 * of the caller throws, its error is passed on unchanged. The exception is a stream that is read as a file: its error
 * becomes the cause of `ERR_FILE_UNREADABLE`.
 *
 * | code | what is wrong | fields |
 * | --- | --- | --- |
 * | `ERR_NOT_POSITIVE_DEFINITE` | a matrix has no Cholesky factor | `pivot`: global, from 0 |
 * | `ERR_SINGULAR` | a matrix has no inverse | `pivot`: global, from 0 |
 * | `ERR_NOT_SYMMETRIC` | two entries of a matrix differ by more than the tolerance | `row`, `column` |
 * | `ERR_NOT_FINITE` | an entry is NaN or infinite | `row`, `column` |
 * | `ERR_SHAPE` | operands do not fit each other | |
 * | `ERR_OUT_OF_RANGE` | a number, an index or a row is outside its range | |
 * | `ERR_INVALID_ARGUMENT` | an argument is of the wrong kind, or two operands overlap | |
 * | `ERR_UNKNOWN_OPTION` | there is no such option | |
 * | `ERR_TOO_LARGE` | a size is beyond 2^53 bytes, or beyond the longest typed array | |
 * | `ERR_OUT_OF_MEMORY` | this machine, or the GPU, does not have enough memory | |
 * | `ERR_CLOSED` | an object was closed, committed, or transferred to another thread | |
 * | `ERR_FOREIGN_BUFFER` | memory belongs to another device | |
 * | `ERR_DEVICE_FAILED` | a GPU stopped while it ran (memory, time, a page fault, removed) | |
 * | `ERR_DEVICE_UNAVAILABLE` | a device is not available; the message says why | |
 * | `ERR_UNSUPPORTED_DTYPE` | a device does not compute in this type | |
 * | `ERR_UNSUPPORTED` | a device does not support this, such as a factor on a GPU that has none; or a valid file is of a kind that is not read | `path` of a file |
 * | `ERR_KERNEL_COMPILE` | a kernel's text does not compile | `path`, `line`, `column` (both from 1); `diagnostics` |
 * | `ERR_KERNEL_CHECK` | check mode finds a mistake in a kernel | `path`, `line` (from 1) |
 * | `ERR_NO_COMPILER` | the cpu device needs a C++ compiler for kernels, and does not find one | |
 * | `ERR_MALFORMED_CSV`, `ERR_MALFORMED_MODEL` | a file is not a valid CSV file or model | `path`, `line`, `column` (both from 1) |
 * | `ERR_MALFORMED_NPY`, `ERR_MALFORMED_ARROW`, `ERR_MALFORMED_PARQUET` | a file contradicts its format | `path` |
 * | `ERR_MALFORMED_MOMENTS` | JSON does not describe moments, or no rows have these moments; the message names the field | `path` of a file |
 * | `ERR_MALFORMED_RESULTS` | a file is not a report of the benchmark; the message names the field | `path` |
 * | `ERR_MALFORMED_MANIFEST` | a manifest or a run.json is malformed | `path` |
 * | `ERR_RUN_MISMATCH` | a file exists and belongs to another run | `path` |
 * | `ERR_MANIFEST_MISMATCH` | a file of draws has changed since it was written, or its manifest is missing | `path` |
 * | `ERR_MODEL_MISMATCH` | a file of draws belongs to another model | `path` |
 * | `ERR_DRAWS_MISMATCH` | rows of a file differ from those of its seed and stream | `path`, `row`, `column` (both from 0) |
 * | `ERR_FILE_NOT_FOUND`, `ERR_FILE_UNREADABLE`, `ERR_FILE_UNWRITABLE`, `ERR_DISK_FULL` | a file of the command line | `path` |
 * | `ERR_TOOLCHAIN_MISSING`, `ERR_BUILD_FAILED` | `covarium build-native` lacks a tool, or the compiler fails; the message says which, with the compiler's output | |
 * | `ERR_ABORTED` | an `AbortSignal`, or a device that closes, stops the work | `cause`: the signal's reason |
 * | `ERR_INTERNAL` | a defect of covarium or of a library under it | |
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

/** One message of a compiler. */
export interface Diagnostic {
  /** Only an error prevents the kernel from being made. */
  readonly severity: 'error' | 'warning';
  /** The compiler's sentence. */
  readonly message: string;
  /** The name of the text: the kernel's, or that of an included text. */
  readonly path: string;
  /** Line of the text, from 1. */
  readonly line: number;
  /** Column of the text, from 1. */
  readonly column: number;
}

/** The place of an error; each field is present if its code says so (see {@link ErrorCode}). */
export interface ErrorFields {
  /** 0-based index of the matrix, or the distribution, in its batch. */
  matrix?: number;
  /** 0-based index of the first pivot that is not positive. */
  pivot?: number;
  /** 0-based matrix row. */
  row?: number;
  /** Matrix column, 0-based; in a malformed file or a kernel, the column of the text, from 1. */
  column?: number;
  /** Line of a malformed file or a kernel's text, from 1. */
  line?: number;
  /** The path of the file. */
  path?: string;
  /** All messages of the kernel's compiler. */
  diagnostics?: readonly Diagnostic[];
}

// At most so many of covarium's own functions, the asynchronous ones included, lie between the one that throws and the
// caller's. By default V8 shows ten in all, and the caller looks for a line of its own.
const ownFrames = 20;
const defaultFrames = 10;

/** Raises the number of frames in the stacks of new errors; returns the number to set back, undefined if it stays. */
function showMoreFrames(): number | undefined {
  // Under `--frozen-intrinsics` it cannot be set. Whoever has lowered it wants short stacks.
  const { value, writable } = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit') ?? {};
  if (!writable || !(value >= defaultFrames)) return undefined;
  Error.stackTraceLimit = value + ownFrames;
  return value;
}

/**
 * The only error class of covarium: a {@link code} for programs, a sentence for people, and the place if there is one.
 */
export class CovariumError extends Error {
  /** Always `CovariumError`. */
  override readonly name: string = 'CovariumError';
  /** What went wrong, for programs. */
  readonly code: ErrorCode;
  // Declared only: a field that is undefined would be shown by console.log.
  /** 0-based index of the matrix, or the distribution, in its batch. */
  declare readonly matrix?: number;
  /** 0-based index of the first pivot that is not positive. */
  declare readonly pivot?: number;
  /** 0-based matrix row. */
  declare readonly row?: number;
  /** Matrix column, 0-based; in a malformed file or a kernel, the column of the text, from 1. */
  declare readonly column?: number;
  /** Line of a malformed file or a kernel's text, from 1. */
  declare readonly line?: number;
  /** The path of the file. */
  declare readonly path?: string;
  /** All messages of the kernel's compiler. */
  declare readonly diagnostics?: readonly Diagnostic[];

  /** An error with the fields that its code names. */
  constructor(code: ErrorCode, message: string, { cause, ...fields }: ErrorFields & { cause?: unknown } = {}) {
    const frames = showMoreFrames();
    super(printable(message), cause === undefined ? undefined : { cause });
    if (frames !== undefined) Error.stackTraceLimit = frames;
    this.code = code;
    Object.assign(this, fields);
  }
}

/**
 * A text without characters that a terminal obeys: control characters, and those that change the direction of text,
 * shown as `\u001b`. A message may quote the name or the content of a file. Line ends and tabs stay.
 */
export function printable(text: string): string {
  return text.replace(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/**
 * True if a value is an Error, of this realm or another: under Jest, native code and Node throw errors of another
 * realm.
 */
export function isError(value: unknown): value is Error {
  return value instanceof Error || Object.prototype.toString.call(value) === '[object Error]';
}

/**
 * A module that is loaded when it is needed. Node remembers a failure (such as too many open files) for the life of the
 * process, so it becomes `ERR_INTERNAL`.
 */
export async function loading<Module>(module: Promise<Module>): Promise<Module> {
  try {
    return await module;
  } catch (cause) {
    const why = isError(cause) ? cause.message : String(cause);
    const message = `A module of covarium cannot be loaded (${why}). Node tries only once: restart the process.`;
    throw new CovariumError('ERR_INTERNAL', message, { cause });
  }
}

const fieldNames = ['matrix', 'pivot', 'row', 'column', 'line', 'path'] as const;

/**
 * An error of a device, as a CovariumError. The addon throws plain Errors with a `code` and the {@link ErrorFields}; an
 * allocation that V8 refuses is a RangeError; anything else is a defect (`ERR_INTERNAL`).
 */
export function fromNative(error: unknown): CovariumError {
  if (error instanceof CovariumError) return error;
  if (!isError(error)) return new CovariumError('ERR_INTERNAL', `A device threw (${String(error)}).`);
  const { code, ...fields } = error as Error & { code?: unknown } & ErrorFields;
  // Of Node's permission model, whose code is not one of ours.
  if (code === 'ERR_ACCESS_DENIED') {
    const { permission, resource = '' } = error as { permission?: string; resource?: string };
    const said = `File (${resource}) may not be used under Node's permission model (${permission}).`;
    return new CovariumError('ERR_FILE_UNREADABLE', said, { path: resource, cause: error });
  }
  if (typeof code === 'string' && code.startsWith('ERR_')) {
    const kept: ErrorFields = {};
    for (const name of fieldNames) if (fields[name] !== undefined) Object.assign(kept, { [name]: fields[name] });
    return new CovariumError(code as ErrorCode, error.message, kept);
  }
  if (error.name === 'RangeError' && /alloc|invalid (array buffer|typed array) length/i.test(error.message))
    return new CovariumError('ERR_OUT_OF_MEMORY', `Cannot allocate memory (${error.message}).`, { cause: error });
  return new CovariumError('ERR_INTERNAL', `A device failed (${error.message}).`, { cause: error });
}
