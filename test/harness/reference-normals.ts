import type { Dtype, Real } from '../../lib/dtype.ts';
import { openReference } from '../../lib/reference/device.ts';
import { normalCounter, type Word64 } from '../../lib/stream/counter.ts';

const reference = openReference();

/**
 * Elements [first, first + count) of the normal stream in plain TypeScript, with which the bits of every device are
 * compared.
 */
export function referenceNormals(dtype: Dtype, count: number, seed: Word64, stream: Word64, first: Word64): Real {
  const out = dtype === 'float32' ? new Float32Array(count) : new Float64Array(count);
  const encoder = reference.encoder();
  encoder.fillNormal(out, normalCounter(seed, stream, first));
  encoder.commitSync();
  return out;
}
