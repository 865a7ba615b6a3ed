import { CovariumError } from './covarium-error.ts';
import { bytesOf, type Real } from './dtype.ts';
import { Matrix, matrixStorage } from './matrix.ts';
import { firstElement, normalCounter, type Word64 } from './normal-counter.ts';
import type { NormalParameters } from './normal-parameters.ts';
import { randomSeed } from './random-seed.ts';
import { type SampleOut, sampleOut } from './sample-out.ts';
import { Storage } from './storage.ts';
import type { Task } from './task.ts';
import { wholeNumber } from './whole-number.ts';

/** Which rows of which run. */
export interface RunOptions {
  /** From 0 to 2^64 - 1; 64 random bits where omitted. The same seed gives the same normals on every device. */
  readonly seed?: Word64 | undefined;
  /** From 0 to 2^64 - 1; 0 by default. Streams of one seed are independent. */
  readonly stream?: Word64 | undefined;
  /** The first row of the run to draw; 0 by default. Any rows of a run can be drawn alone. */
  readonly firstRow?: Word64 | undefined;
}

/** Which rows, and where to. */
export interface SampleSyncOptions extends RunOptions {
  /**
   * Where the draws go: a matrix, count x n, or a typed array of count n, of the distribution's type. An array given to an
   * asynchronous call can no longer be transferred to another thread.
   */
  readonly out?: SampleOut | undefined;
}

/** Which rows, where to, and until when. */
export interface SampleOptions extends SampleSyncOptions {
  /** Stops the work at the next block of rows; the promise rejects with `ERR_ABORTED`. */
  readonly signal?: AbortSignal | undefined;
}

export const sampleSyncOptionNames: readonly string[] = ['seed', 'stream', 'firstRow', 'out'];
export const sampleOptionNames: readonly string[] = [...sampleSyncOptionNames, 'signal'];

/** Draws `count` rows; `counter` is overwritten, and read until the commit has run. Throws what {@link MultivariateNormal.sample} does. */
export function drawTask(
  parameters: NormalParameters,
  count: number,
  options: SampleSyncOptions,
  counter: Uint32Array,
): Task<Matrix> {
  const { device, dtype, n, mean, factor } = parameters;
  requireCount(count, parameters);
  const first = firstElement(options.firstRow ?? 0, count, factor.width);
  normalCounter(options.seed ?? randomSeed(), options.stream ?? 0, first, counter);
  const target = options.out;
  const result =
    target === undefined
      ? new Matrix(Storage.forResult(device, dtype, count * n), count, n)
      : sampleOut(parameters, count, target);
  const written = matrixStorage(result);
  const out = written.valuesFor(device) as Real;
  return {
    device,
    encode: (encoder, scratch) => factor.sample(encoder, mean.values as Real, out, counter, scratch),
    reachable: target === undefined ? [] : [out],
    result,
    written,
    fresh: target === undefined ? [written] : [],
  };
}

/** Throws `ERR_OUT_OF_RANGE` for a count that isn't a whole number, `ERR_TOO_LARGE` for a sample beyond 2^53 bytes. */
export function requireCount(count: number, { n, dtype }: Pick<NormalParameters, 'n' | 'dtype'>): void {
  wholeNumber('Count', count);
  if (count * n * bytesOf(dtype) > Number.MAX_SAFE_INTEGER)
    throw new CovariumError('ERR_TOO_LARGE', `Sample of (${count}) rows of dimension (${n}) is beyond 2^53 bytes.`);
}
