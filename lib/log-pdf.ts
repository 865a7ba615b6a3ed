import { type RowsInput, rowsInput } from './distribution-input.ts';
import type { Real } from './dtype.ts';
import type { NormalParameters } from './normal-parameters.ts';
import { Storage } from './storage.ts';
import type { Task } from './task.ts';
import { Vector } from './vector.ts';

/** Logarithm of the density at each row: -(n ln 2 pi + ln det covariance + |w|^2) / 2, where L w = row - mean. */
export function logPdfTask(parameters: NormalParameters, rows: RowsInput, logDeterminant: number): Task<Vector> {
  const { device, dtype, n, inverse } = parameters;
  const { values, count } = rowsInput('Input', device, rows, n);
  const constant = -(n * Math.log(2 * Math.PI) + logDeterminant) / 2;
  const written = Storage.forResult(device, dtype, count);
  const out = written.values as Real;
  const mean = parameters.mean.values as Real;
  const factor = parameters.factor.values as Real;
  return {
    device,
    encode: (encoder, scratch) => {
      const input = scratch.input(values, dtype);
      encoder.requireFinite(input, n);
      encoder.logDensity(factor, mean, input, out, inverse, constant);
    },
    reachable: [],
    result: new Vector(written),
    written,
    fresh: [written],
  };
}
