import { philox } from '../reference/philox.ts';

/**
 * What makes one lattice rule random: a shift in [0, 1) for each coordinate, and the components of the generating vector beyond those
 * that were searched for. A function of the seed (two words, low first) and the rule's number alone.
 */
export function randomRule(
  seed: Uint32Array,
  rule: number,
  vector: Uint32Array,
  dimensions: number,
): { readonly shifts: Float64Array; readonly generator: Uint32Array } {
  const shifts = new Float64Array(dimensions);
  const generator = new Uint32Array(dimensions);
  const words = new Int32Array(4);
  for (let j = 0; j < dimensions; j++) {
    // The last streams of the seed, which nobody draws normals from.
    philox(j, 0, ~rule, -1, seed[0]!, seed[1]!, words, 0);
    shifts[j] = ((words[0]! >>> 5) * 2 ** 26 + (words[1]! >>> 6)) * 2 ** -53;
    generator[j] = vector[j] ?? words[2]! | 1;
  }
  return { shifts, generator };
}
