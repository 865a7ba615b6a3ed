import { isVectorInput, type RowsInput, rowsInput } from './distribution-input.ts';
import type { Real } from './dtype.ts';
import { Matrix } from './matrix.ts';
import type { NormalParameters } from './normal-parameters.ts';
import { requireColumns } from './operand.ts';
import { Storage } from './storage.ts';
import type { Task } from './task.ts';
import { Vector } from './vector.ts';

/** mean + L z for one z, or for each row z; with an inverse factor W, mean + the solution y of W y = z. */
export function transformTask(parameters: NormalParameters, z: RowsInput): Task<Matrix | Vector> {
  const { device, dtype, n, inverse } = parameters;
  // A bare typed array is one vector here, so that its length doesn't decide what comes back.
  if (ArrayBuffer.isView(z)) requireColumns('Input', z.length, n, 'distribution');
  const { values, count } = rowsInput('Input', device, z, dtype, n);
  const written = Storage.forResult(device, dtype, count * n);
  const out = written.values as Real;
  const mean = parameters.mean.values as Real;
  const factor = parameters.factor.values as Real;
  return {
    device,
    encode: (encoder) => {
      encoder.requireFinite(values, n);
      encoder.copy(values, out);
      if (inverse) encoder.triangularSolve(factor, out, n, false);
      else encoder.triangularProduct(factor, out, n, false);
      encoder.addRow(out, mean, 1);
    },
    reachable: [values],
    result: isVectorInput(z, n) ? new Vector(written) : new Matrix(written, count, n),
    written,
    fresh: [written],
  };
}
