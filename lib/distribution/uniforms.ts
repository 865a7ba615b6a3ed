import { hostZeros } from '../array/host-memory.ts';
import { cdf } from '../probability/standard-normal.ts';
import { fillNormal } from '../stream/fill-normal.ts';
import { isSlice, type Work } from '../work.ts';

/** Uniform numbers between 0 and 1: element first ... of a stream of normals, by their distribution function. */
export function* uniforms(length: number, counter: Uint32Array): Work<Float64Array> {
  const values = hostZeros(length);
  yield* fillNormal(values, counter);
  for (let i = 0; i < length; i++) {
    values[i] = cdf(values[i]!);
    if (isSlice(i)) yield;
  }
  return values;
}
