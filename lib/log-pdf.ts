import { type RowsInput, rowsInput } from './distribution-input.ts';
import type { Real } from './dtype.ts';
import type { Factor } from './factor/factor.ts';
import type { NormalParameters } from './normal-parameters.ts';
import { Storage } from './storage.ts';
import type { Task } from './task.ts';
import { Vector } from './vector.ts';

/** constant - d^2 / 2 for each row, where d is its Mahalanobis distance from the mean. */
export function logDensityTask(
  { device, dtype, n, mean, factor }: NormalParameters,
  rows: RowsInput,
  constant: number,
): Task<Vector> {
  const { values, count } = rowsInput('Input', device, rows, n);
  const written = Storage.forResult(device, dtype, count);
  const out = written.values as Real;
  return {
    device,
    encode: (encoder, scratch) => {
      const input = scratch.input(values, dtype);
      encoder.requireFinite(input, n);
      factor.logDensity(encoder, mean.values as Real, input, out, constant, scratch);
    },
    reachable: [],
    result: new Vector(written),
    written,
    fresh: [written],
  };
}

/** Of a normal: its log density is {@link normalConstant} - d^2 / 2. A singular one's is on the support, of dimension `rank`. */
export function normalConstant({ factor }: NormalParameters): number {
  return -(factor.rank * Math.log(2 * Math.PI) + factor.logDeterminant) / 2;
}

/** Differential entropy in nats; of a singular normal that on its support. */
export function normalEntropy({ rank, logDeterminant }: Pick<Factor, 'rank' | 'logDeterminant'>): number {
  return (rank * (1 + Math.log(2 * Math.PI)) + logDeterminant) / 2;
}

/** The densities, of a task of their logarithms. */
export function densities(task: Task<Vector>): Task<Vector> {
  return mapped(task, Math.exp);
}

/** Mahalanobis distances from the mean: never -0. */
export function mahalanobisTask(parameters: NormalParameters, rows: RowsInput): Task<Vector> {
  return mapped(logDensityTask(parameters, rows, 0), (value) => Math.sqrt(Math.abs(2 * value)));
}

/** A task whose numbers the host maps one by one, once they are computed. */
function mapped(task: Task<Vector>, map: (value: number) => number): Task<Vector> {
  return {
    ...task,
    after: () => {
      task.after?.();
      const { values } = task.written;
      for (let i = 0; i < values.length; i++) values[i] = map(values[i]!);
    },
  };
}
