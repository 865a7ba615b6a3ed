import { uniforms } from '../distribution/uniforms.ts';
import { part } from '../dtype.ts';
import { normalCounter, type Word64 } from '../stream/counter.ts';
import { isSlice, type Work } from '../work.ts';

const clusterings = 10;

/**
 * Clusters of rows by k-means in units of the columns' deviations, whose first centres are chosen by k-means++ (Arthur
 * and Vassilvitskii 2007). Of a few rows that are drawn for a centre, that one is taken which leaves the rows nearest
 * to their centres, as scikit-learn does: fewer fits end with two centres in one cluster. For each of `size` clusters:
 * 1 for its rows, 0 for the others.
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
  const tries = 2 + Math.floor(Math.log(size));
  const random = yield* uniforms(1 + (size - 1) * tries, normalCounter(seed, 0, 0));
  const centres: Float64Array[] = [];
  // Of each row the squared distance from the nearest centre, and their sum.
  let nearest = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
  let total = Number.POSITIVE_INFINITY;
  const rowAtShare = (share: number) => {
    let left = share * total;
    let row = 0;
    while (row < count - 1 && left >= nearest[row]!) left -= nearest[row++]!;
    return row;
  };
  for (let k = 0; k < size; k++) {
    const drawn =
      k === 0
        ? [Math.min(count - 1, Math.floor(random[0]! * count))]
        : Array.from(random.subarray(1 + (k - 1) * tries, 1 + k * tries), rowAtShare);
    const before = nearest;
    total = Number.POSITIVE_INFINITY;
    for (const at of new Set(drawn)) {
      const centre = rowAt(at);
      const tried = new Float64Array(count);
      let sum = 0;
      for (let row = 0; row < count; row++) {
        tried[row] = Math.min(before[row]!, distance(row, centre));
        sum += tried[row]!;
        if (isSlice(row)) yield;
      }
      if (centres[k] === undefined || sum < total) [total, nearest, centres[k]] = [sum, tried, centre];
    }
  }
  const own = new Int32Array(count);
  for (let turn = 0; turn < clusterings; turn++) {
    const members = new Float64Array(size);
    const sums = new Float64Array(size * n);
    let isSettled = turn > 0;
    for (let row = 0; row < count; row++) {
      let best = Number.POSITIVE_INFINITY;
      const before = own[row]!;
      for (let k = 0; k < size; k++) {
        const far = distance(row, centres[k]!);
        if (far < best) {
          best = far;
          own[row] = k;
        }
      }
      isSettled &&= own[row] === before;
      members[own[row]!]!++;
      for (let j = 0; j < n; j++) sums[own[row]! * n + j]! += values[row * n + j]!;
      if (isSlice(row)) yield;
    }
    if (isSettled) break;
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
