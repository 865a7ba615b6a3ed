import type { RowsInput } from '../array/inputs.ts';
import { Matrix } from '../array/matrix.ts';
import { Storage } from '../array/storage.ts';
import { step, type Task, type Tasks } from '../command/task.ts';
import { type RealDtype, zerosOf } from '../dtype.ts';
import { probabilityRows, quantiles, requireProbabilities, transformTask } from '../normal/transform.ts';
import { studentQuantile } from '../probability/f-quantile.ts';
import type { StudentParameters } from './parameters.ts';

/**
 * location + A t for each row of probabilities, where t is the inverse of the transformation of M. Rosenblatt, Remarks
 * on a multivariate transformation, The Annals of Mathematical Statistics 23 (1952), for the Student-t with location 0
 * and scale I: t_k is the quantile of its conditional on the coordinates before it, which has nu + k degrees of freedom
 * (k from 0). The device computes A t in a unit in which no entry of t exceeds 1; the host stretches it in float64, as
 * it stretches a draw.
 */
export function* studentQuantiles<D extends RealDtype>(
  { normal, nu }: StudentParameters<D>,
  probabilities: RowsInput,
): Tasks<Matrix<D>> {
  if (nu === Number.POSITIVE_INFINITY) return yield* quantiles(normal, probabilities);
  const { device, dtype, n, factor } = normal;
  const { width } = factor;
  const rows = probabilityRows(device, probabilities, width, n);
  yield* requireProbabilities(rows);
  const { count } = rows;
  const values = new Float64Array(rows.values);
  const units = new Float64Array(count);
  for (let row = 0; row < count; row++) {
    units[row] = toStudent(values.subarray(row * width, (row + 1) * width), nu);
    yield;
  }
  const location = new Float64Array(normal.mean.values);
  const zero = new Storage(zerosOf(dtype, n));
  const matrix = Matrix.from(values, { rows: count, columns: width });
  const task = transformTask({ ...normal, mean: zero }, matrix) as Task<Matrix<D>>;
  return yield* step({
    ...task,
    after: () => {
      const out = task.written.values;
      for (let at = 0; at < out.length; at++) {
        const j = at % n;
        // 0 times Infinity is NaN, but means 0 here.
        if (out[at] !== 0) out[at] = location[j]! + units[(at - j) / n]! * out[at]!;
        else out[at] = location[j]!;
      }
    },
  });
}

/** Replaces the probabilities by t in a unit of its own, and returns the unit, at least 1. */
function toStudent(row: Float64Array, nu: number): number {
  let unit = 1;
  let radius = Math.sqrt(nu); // sqrt(nu + t_0^2 + ...), in the unit
  for (let k = 0; k < row.length; k++) {
    const t = (radius * studentQuantile(row[k]!, nu + k)) / Math.sqrt(nu + k);
    const size = Math.abs(t);
    if (size > 1) {
      for (let i = 0; i < k; i++) row[i] = row[i]! / size;
      radius /= size;
      unit *= size;
    }
    row[k] = size > 1 ? Math.sign(t) : t;
    radius = Math.hypot(radius, row[k]!);
  }
  return unit;
}
