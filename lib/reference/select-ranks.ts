import type { Real } from '../dtype.ts';
import type { Work } from '../work.ts';

/** {@link Encoder.selectRanks}. */
export function* selectRanks(kept: Real, lengths: Uint32Array, ranks: Uint32Array, out: Real): Work {
  const capacity = out.length === 0 ? 0 : kept.length / out.length;
  for (let slot = 0; slot < out.length; slot++) {
    const [from, length] = [slot * capacity, Math.min(lengths[slot]!, capacity)];
    if (ranks[slot]! < length) out[slot] = numberOfRank(kept.subarray(from, from + length), ranks[slot]!);
    yield;
  }
}

/** The number of a rank among others, whose order changes (C. A. R. Hoare, Algorithm 65: Find, 1961). */
function numberOfRank(numbers: Real, rank: number): number {
  let [from, to] = [0, numbers.length - 1];
  while (from < to) {
    const pivot = numbers[(from + to) >> 1]!;
    let [low, high] = [from, to];
    while (low <= high) {
      while (numbers[low]! < pivot) low++;
      while (numbers[high]! > pivot) high--;
      if (low > high) break;
      const number = numbers[low]!;
      numbers[low++] = numbers[high]!;
      numbers[high--] = number;
    }
    if (rank <= high) to = high;
    else if (rank >= low) from = low;
    else break;
  }
  return numbers[rank]!;
}
