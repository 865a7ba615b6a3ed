import { loadAddon } from '../../lib/addon/native.ts';
import type { Backend, Encoder } from '../../lib/backend.ts';
import { openReference } from '../../lib/reference/device.ts';
import { counterOf } from '../harness/naive.ts';

export const openMetal = (): Backend => loadAddon().addon!.openDevice('metal', { threads: 2 });
export const counter = (seed: number): Uint32Array => counterOf(seed, 0, 0);

/** The elements of the stream `seed` from element 0 on. */
export function normals(seed: number, length: number): Float32Array {
  const reference = openReference();
  const values = new Float32Array(length);
  const encoder = reference.encoder();
  encoder.fillNormal(values, counter(seed));
  encoder.commitSync();
  reference.close();
  return values;
}

/** Records with `record` and commits. */
export function commit(
  device: Backend,
  record: (encoder: Encoder) => void,
): { encoder: Encoder; done: Promise<unknown> } {
  const encoder = device.encoder();
  record(encoder);
  const done = encoder.commit();
  // A test awaits the promise later, when it may have been rejected already.
  done.catch(() => {});
  return { encoder, done };
}
