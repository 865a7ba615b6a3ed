import { aboutRows, type RowsInput, rowsInput } from '../array/inputs.ts';
import { Matrix, type MatrixInput, matrixStorage } from '../array/matrix.ts';
import { Storage } from '../array/storage.ts';
import { Volume, volumeStorage } from '../array/volume.ts';
import { firstNotFinite, named, wrongArgument } from '../check.ts';
import { Search } from '../command/search.ts';
import { resultTask, type Task, taskOf } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { type RunOptions, requireCount, sampleOut } from '../distribution/sample-options.ts';
import { bytesOf, part, type Real, type RealDtype, type Values, zerosOf } from '../dtype.ts';
import type { LowerFactor } from '../factor/lower-factor.ts';
import { firstElement, normalCounter, randomSeed } from '../stream/counter.ts';
import { type BatchParameters, type BatchShape, parametersAt } from './batch.ts';
import { farLogDensities } from './density.ts';

/** The seed, first stream and first row of a run: distribution b draws from stream + b. */
export function batchRun(options: RunOptions, size: number): Required<{ [Name in keyof RunOptions]: bigint | number }> {
  const { seed = randomSeed(), stream = 0, firstRow = 0 } = options;
  normalCounter(seed, stream, 0);
  const last = BigInt(stream) + BigInt(size - 1);
  if (last < 1n << 64n) return { seed, stream, firstRow };
  throw new CovariumError(
    'ERR_OUT_OF_RANGE',
    `\`stream\` is (${stream}): a batch of (${size}) distributions takes those to (${last}), beyond 2^64 - 1.`,
  );
}

/** Selects a run and its destination. */
export interface VolumeSyncOptions extends RunOptions {
  /**
   * The destination of the draws: a volume of width n, height `count` and depth B, or a typed array of as many numbers,
   * of the batch's type; by default new memory. An array passed to an asynchronous call can no longer be transferred to
   * another thread.
   */
  readonly out?: Volume | Real | undefined;
}

/** Draws of all normals, B x count x n. */
export function drawBatch<D extends RealDtype>(
  parameters: BatchParameters<D>,
  count: number,
  options: VolumeSyncOptions,
): Task<Volume<D>> {
  const { device, size, n, means, factors } = parameters;
  const { seed, stream, firstRow } = batchRun(options, size);
  const counter = normalCounter(seed, stream, firstElement(firstRow, count, n));
  const target = batchOut(parameters, count, options.out);
  const out = target.written.valuesFor(device) as Values as Real;
  return taskOf({
    device,
    encode: (encoder) => encoder.sampleBatch(factors.values as Real, means.values as Real, out, n, counter),
    reachable: options.out === undefined ? [] : [out],
    result: target.volume,
    written: target.written,
    fresh: options.out === undefined ? [target.written] : [],
  });
}

/** A volume for `count` draws of each: the caller's, over the caller's array, or a new one. */
export function batchOut<D extends RealDtype>(
  { device, dtype, size, n }: BatchShape<D>,
  count: number,
  out: Volume | Real | undefined,
): { readonly volume: Volume<D>; readonly written: Storage<D> } {
  requireCount(count, { dtype, n: n * size });
  if (count < 1) throw new CovariumError('ERR_OUT_OF_RANGE', `\`count\` is (${count}): a volume has at least one row.`);
  if (out instanceof Volume) {
    if (out.width !== n || out.height !== count || out.depth !== size)
      throw new CovariumError(
        'ERR_SHAPE',
        `\`out\` is (${out.size.join(' x ')}), but the draws are (${n} x ${count} x ${size}).`,
      );
    const values = named('Out', () => volumeStorage(out).valuesFor(device)) as Real;
    sampleOut({ device, dtype, n }, count * size, values);
    return { volume: out as Volume as Volume<D>, written: volumeStorage(out) as Storage as Storage<D> };
  }
  const written =
    out === undefined
      ? named('Count', () => Storage.forResult(device, dtype, size * count * n))
      : matrixStorage(sampleOut({ device, dtype, n }, count * size, out));
  return { volume: new Volume(written, [n, count, size]), written };
}

/** Rows for a batch. */
export interface BatchRows {
  readonly values: Values;
  /** Of each distribution. */
  readonly count: number;
  /** Numbers of what a message calls a row. */
  readonly columns: number;
}

/** The same rows for all: count x n, or one vector of n. */
export function sharedRows({ device, n }: BatchShape, rows: RowsInput): BatchRows {
  return { ...rowsInput('Input', device, rows, n), columns: n };
}

/** Rows of its own for each distribution: one in a matrix (B x n), m in a volume (width n, height m, depth B). */
export function ownRows({ device, size, n }: BatchShape, rows: MatrixInput | Volume): BatchRows {
  if (rows === undefined) throw wrongArgument('rows', rows, 'rows (B x n) or a Volume');
  if (!(rows instanceof Volume)) {
    const { values, count } = rowsInput('Input', device, rows, n);
    if (count !== size)
      throw new CovariumError('ERR_SHAPE', `\`rows\` has (${count}) rows, but the batch has (${size}) distributions.`);
    return { values, count: 1, columns: n };
  }
  if (rows.width !== n || rows.depth !== size)
    throw new CovariumError(
      'ERR_SHAPE',
      `\`rows\` is a volume of (${rows.size.join(' x ')}): its width is not (${n}), or its depth not (${size}).`,
    );
  return {
    values: named('rows', () => volumeStorage(rows).valuesFor(device)),
    count: rows.height,
    columns: n * rows.height,
  };
}

/** Log densities of each normal at its rows: B x count. */
export function logDensities<D extends RealDtype>(
  parameters: BatchParameters<D>,
  { values, count, columns }: BatchRows,
  constants: Float64Array,
): Task<Matrix<D>> {
  const { device, dtype, size, n, means, factors } = parameters;
  const search = new Search();
  const wrap = (written: Storage<D>) => new Matrix(written, size, count);
  const task = resultTask({ device, dtype }, size * count, wrap, (encoder, out, scratch) => {
    const input = scratch.input(values, dtype);
    encoder.requireFinite(input, columns);
    encoder.logDensityBatch(factors.values as Real, means.values as Real, input, out, n, constants);
    search.recordFinite(device, encoder, out);
  });
  const { values: out } = task.written;
  const isOwn = values.length > count * n;
  return {
    ...task,
    explain: (error) => aboutRows('Input', error, values, columns),
    again: function* () {
      if (!search.isDue) return;
      const first = firstNotFinite(out);
      yield;
      for (let b = Math.floor(first / count); b < size; b++) {
        const numbers = out.subarray(b * count, (b + 1) * count);
        const rows = isOwn ? values.subarray(b * count * n, (b + 1) * count * n) : values;
        yield* farLogDensities(parametersAt(parameters, b), () => rows, constants[b]!, numbers as Real);
      }
    },
  };
}

// Of draws of one normal: a smaller matrix costs less than its memory and its command.
const ownMemoryBytes = 1 << 16;

/** A matrix of draws for each: small ones are views of one array, large ones have memory of their own. */
export function drawMatrices<D extends RealDtype>(
  parameters: BatchParameters<D>,
  count: number,
  options: RunOptions,
): Task<Matrix<D>[]> {
  const { device, dtype, size, n, means, factors } = parameters;
  requireCount(count, parameters);
  const { seed, stream, firstRow } = batchRun(options, size);
  const first = firstElement(firstRow, count, n);
  const length = count * n;
  if (length * bytesOf(dtype) < ownMemoryBytes) {
    requireCount(count, { dtype, n: n * size });
    const block = new Storage(
      named('Count', () => zerosOf(dtype, size * length)),
      undefined,
      device,
    );
    const out = block.values as Values as Real;
    const views = Array.from({ length: size }, (_, b) => {
      const view = part(out, b, length) as Values as Values<D>;
      return new Matrix(new Storage(view, undefined, device), count, n);
    });
    const counter = normalCounter(seed, stream, first);
    return taskOf({
      device,
      encode: (encoder) => {
        if (length > 0) encoder.sampleBatch(factors.values as Real, means.values as Real, out, n, counter);
      },
      reachable: [out],
      result: views,
      written: block,
    });
  }
  const own = named('Count', () => Storage.allForResult(device, dtype, Array<number>(size).fill(length)));
  return taskOf({
    device,
    encode: (encoder) => {
      for (const [b, each] of own.entries()) {
        const { mean, factor } = parametersAt(parameters, b);
        const counter = normalCounter(seed, BigInt(stream) + BigInt(b), first);
        encoder.sample(
          (factor as LowerFactor).lower,
          mean.values as Real,
          each.values as Values as Real,
          false,
          counter,
        );
      }
    },
    result: own.map((storage) => new Matrix(storage, count, n)),
    written: own[0]!,
    fresh: own,
  });
}
