import type { RowsInput } from '../distribution-input.ts';
import { Matrix } from '../matrix.ts';
import type { NormalParameters } from '../normal-parameters.ts';
import { quantile } from '../probability/standard-normal.ts';
import type { Task } from '../task.ts';
import { transformTask } from '../transform.ts';
import { probabilityRows } from './probability-rows.ts';

/** mean + A z for each row of probabilities, where z are the standard normal's quantiles. */
export function quantileTask(parameters: NormalParameters, probabilities: RowsInput): Task<Matrix> {
  const { device, factor } = parameters;
  const { width } = factor;
  const { values, count } = probabilityRows(device, probabilities, width);
  const matrix = Matrix.from(values.map(quantile), { rows: count, columns: width });
  return transformTask(parameters, matrix) as Task<Matrix>;
}
