import { type RowsInput, rowsInput } from '../distribution-input.ts';
import type { Real } from '../dtype.ts';
import { Matrix } from '../matrix.ts';
import type { NormalParameters } from '../normal-parameters.ts';
import { Storage } from '../storage.ts';
import type { Task } from '../task.ts';

/** The gradient of the log density at each row, by the row: the solution y of covariance y = mean - row. */
export function scoreTask({ device, dtype, n, mean, factor }: NormalParameters, rows: RowsInput): Task<Matrix> {
  const { values, count } = rowsInput('Input', device, rows, n);
  const written = Storage.forResult(device, dtype, count * n);
  const out = written.values as Real;
  return {
    device,
    encode: (encoder, scratch) => {
      const input = scratch.input(values, dtype);
      encoder.requireFinite(input, n);
      encoder.copy(input, out);
      encoder.addRow(out, mean.values as Real, -1);
      factor.solve(encoder, out, scratch);
    },
    // No command changes a sign alone.
    after: () => {
      for (let i = 0; i < out.length; i++) out[i] = 0 - out[i]!;
    },
    reachable: [],
    result: new Matrix(written, count, n),
    written,
    fresh: [written],
  };
}
