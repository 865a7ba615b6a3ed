import { isDetached, isFixed } from '../array/host-memory.ts';
import { Matrix, matrixStorage } from '../array/matrix.ts';
import { requireColumns } from '../array/operand.ts';
import { Storage } from '../array/storage.ts';
import type { OpenBackend } from '../backend-handle.ts';
import { type AbortOptions, describe, named, wholeNumber, wrongArgument } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { bytesOf, knownDtypeOf, type Real, type RealDtype } from '../dtype.ts';
import type { Word64 } from '../stream/counter.ts';

/** The destination of draws: a matrix, count x n, or a typed array of count n. */
export type SampleOut = Matrix | Real;

/** The shape and type of a distribution's draws, and its device. */
interface Sampled<D extends RealDtype = RealDtype> {
  readonly device: OpenBackend;
  readonly dtype: D;
  readonly n: number;
}

/**
 * The matrix to draw into, over the caller's memory. Throws `ERR_SHAPE`, `ERR_CLOSED`, `ERR_FOREIGN_BUFFER`, and
 * `ERR_INVALID_ARGUMENT` for another type, or for memory that may move or that another thread shares.
 */
export function sampleOut<D extends RealDtype>(
  { device, dtype, n }: Sampled<D>,
  count: number,
  out: SampleOut,
): Matrix<D> {
  const isMatrix = out instanceof Matrix;
  const values = named('Out', () => (isMatrix ? matrixStorage(out).operandFor(device) : out));
  if (knownDtypeOf(values) !== dtype)
    throw wrongArgument('out', values, `a Matrix or a typed array of the distribution's type (${dtype})`);
  if (isDetached(values.buffer)) throw new CovariumError('ERR_CLOSED', `\`out\` is detached (${describe(values)}).`);
  if (!isFixed(values.buffer))
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `\`out\` has resizable or shared memory (${describe(values.buffer)}): pass an array of fixed memory.`,
    );
  if (isMatrix) requireColumns('Out', out.columns, n, 'distribution');
  if (isMatrix ? out.rows !== count : values.length !== count * n)
    throw new CovariumError(
      'ERR_SHAPE',
      `\`out\` (${describe(values)}) does not have the shape of (${count}) draws of (${n}) numbers.`,
    );
  return (isMatrix ? out : new Matrix(new Storage(values), count, n)) as Matrix as Matrix<D>;
}

/** Throws `ERR_OUT_OF_RANGE` if count is not a whole number, `ERR_TOO_LARGE` for a sample beyond 2^53 bytes. */
export function requireCount(count: number, { n, dtype }: Omit<Sampled, 'device'>): void {
  wholeNumber('Count', count);
  if (count * n * bytesOf(dtype) > Number.MAX_SAFE_INTEGER)
    throw new CovariumError(
      'ERR_TOO_LARGE',
      `\`count\` is (${count}): so many draws of (${n}) numbers are beyond 2^53 bytes.`,
    );
}

/** Selects a run, and its rows. */
export interface RunOptions {
  /** From 0 to 2^64 - 1; by default 64 random bits. The same seed gives the same normals on every device. */
  readonly seed?: Word64 | undefined;
  /** From 0 to 2^64 - 1; 0 by default. Streams of one seed are independent. */
  readonly stream?: Word64 | undefined;
  /** The first row of the run to draw; 0 by default. Any rows of a run can be drawn separately. */
  readonly firstRow?: Word64 | undefined;
}

/** Selects rows, and their destination. */
export interface SampleSyncOptions extends RunOptions {
  /**
   * The destination of the draws: a matrix, count x n, or a typed array of count n, of the distribution's type. An
   * array passed to an asynchronous call can no longer be transferred to another thread.
   */
  readonly out?: SampleOut | undefined;
  /**
   * True to leave the draws in the memory of a GPU that has its own (`cuda`); false by default. Commands on the device
   * use them there; the first read on the host copies them. On other devices nothing changes.
   */
  readonly onDevice?: boolean | undefined;
}

/** Selects rows and their destination, and a signal to stop. */
export interface SampleOptions extends SampleSyncOptions, AbortOptions {}

export const sampleSyncOptionNames: readonly string[] = ['seed', 'stream', 'firstRow', 'out', 'onDevice'];
export const sampleOptionNames: readonly string[] = [...sampleSyncOptionNames, 'signal'];
