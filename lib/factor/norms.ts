import type { Encoder } from '../backend.ts';
import { dtypeOf, type Real } from '../dtype.ts';
import type { Scratch } from '../scratch.ts';

/** out[r] = constant - |w|^2 / 2 for each row w of n numbers. */
export function norms(encoder: Encoder, w: Real, out: Real, n: number, constant: number, scratch: Scratch): void {
  const dtype = dtypeOf(out);
  encoder.squaredNorms(w, out, n);
  encoder.scaleColumns(out, scratch.copy(new Float64Array([-0.5]), dtype));
  encoder.addRow(out, scratch.copy(new Float64Array([1]), dtype), constant);
}
