import { checkOptions } from './check-options.ts';
import { rowsInput } from './distribution-input.ts';
import { drawTask, type SampleOptions, type SampleSyncOptions, sampleOptionNames } from './draw.ts';
import { type Real, zerosOf } from './dtype.ts';
import { type Matrix, type MatrixInput, matrixStorage } from './matrix.ts';
import type { NormalParameters } from './normal-parameters.ts';
import { requireApart, requireRows } from './operand.ts';
import { Storage } from './storage.ts';
import type { Task } from './task.ts';

/** What a sample of a normal takes besides: synchronously. */
export interface AroundSyncOptions extends SampleSyncOptions {
  /** A mean for each row, count x n, in place of the normal's own, which is the default: row r of the sample is means[r] + A z_r. */
  readonly means?: MatrixInput | undefined;
}

/** What a sample of a normal takes besides. */
export interface AroundOptions extends AroundSyncOptions, SampleOptions {}

/** Whether a sample's options say something of means. */
export function saysMeans(options: AroundSyncOptions): boolean {
  return Object.hasOwn(Object(options), 'means');
}

/**
 * Draws `count` rows, each about its own mean: the normals are those of a sample without. Throws as {@link drawTask}; `name` is the caller's
 * word for the means.
 */
export function drawAround(
  parameters: NormalParameters,
  count: number,
  options: AroundOptions,
  name = 'Means',
): Task<Matrix> {
  checkOptions(options, [...sampleOptionNames, 'means']);
  const { means, signal, ...rest } = options;
  const counter = new Uint32Array(6);
  if (means === undefined) return drawTask(parameters, count, rest, counter);
  const { device, dtype, n } = parameters;
  const { values, count: rows } = rowsInput(name, device, means, n);
  const zero = new Storage(zerosOf(dtype, n));
  const task = drawTask({ ...parameters, mean: zero }, count, rest, counter);
  const out = matrixStorage(task.result).values as Real;
  try {
    requireRows(name, rows, count, 'sample', 'rows');
    requireApart('Out', out, name.toLowerCase(), values);
  } catch (error) {
    for (const storage of task.fresh) storage.close();
    throw error;
  }
  return {
    ...task,
    encode: (encoder, scratch) => {
      const around = scratch.input(values, dtype);
      encoder.requireFinite(around, n);
      task.encode(encoder, scratch);
      encoder.sum(out, around, out);
    },
  };
}
