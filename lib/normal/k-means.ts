import { uniforms } from '../distribution/uniforms.ts';
import { part } from '../dtype.ts';
import { normalCounter, type Word64 } from '../stream/counter.ts';
import { isSlice, type Work } from '../work.ts';

const clusterings = 10;

/**
 * Clusters of rows by k-means in units of the columns' deviations, whose first centres are chosen by k-means++ (Arthur
 * and Vassilvitskii 2007). For each of `size` clusters: 1 for its rows, 0 for the others.
 */
export function* clusters(
  values: Float64Array,
  variances: Float64Array,
  size: number,
  seed: Word64,
): Work<Float64Array[]> {
  const n = variances.length;
  const count = values.length / n;
  const scale = variances.map((variance) => (variance > 0 ? 1 / variance : 0));
  const distance = (row: number, centre: Float64Array) => {
    let sum = 0;
    for (let j = 0; j < n; j++) sum += (values[row * n + j]! - centre[j]!) ** 2 * scale[j]!;
    return sum;
  };
  const rowAt = (row: number) => values.slice(row * n, (row + 1) * n);
  const random = yield* uniforms(size, normalCounter(seed, 0, 0));
  const centres = [rowAt(Math.min(count - 1, Math.floor(random[0]! * count)))];
  const nearest = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
  for (let k = 1; k < size; k++) {
    let total = 0;
    for (let row = 0; row < count; row++) {
      nearest[row] = Math.min(nearest[row]!, distance(row, centres[k - 1]!));
      total += nearest[row]!;
      if (isSlice(row)) yield;
    }
    let left = random[k]! * total;
    let row = 0;
    while (row < count - 1 && left >= nearest[row]!) left -= nearest[row++]!;
    centres.push(rowAt(row));
  }
  const own = new Int32Array(count);
  for (let turn = 0; turn < clusterings; turn++) {
    const members = new Float64Array(size);
    const sums = new Float64Array(size * n);
    for (let row = 0; row < count; row++) {
      let best = Number.POSITIVE_INFINITY;
      for (let k = 0; k < size; k++) {
        const far = distance(row, centres[k]!);
        if (far < best) {
          best = far;
          own[row] = k;
        }
      }
      members[own[row]!]!++;
      for (let j = 0; j < n; j++) sums[own[row]! * n + j]! += values[row * n + j]!;
      if (isSlice(row)) yield;
    }
    for (let k = 0; k < size; k++)
      if (members[k]! > 0) centres[k] = part(sums, k, n).map((sum) => sum / members[k]!) as Float64Array<ArrayBuffer>;
  }
  const shares = Array.from({ length: size }, () => new Float64Array(count));
  for (let row = 0; row < count; row++) {
    shares[own[row]!]![row] = 1;
    if (isSlice(row)) yield;
  }
  return shares;
}
