import type { Real } from '../dtype.ts';
import { fillRadialScales } from '../stream/radial-scales.ts';
import type { Work } from '../work.ts';

const rowsAtOnce = 1024;

/**
 * Each row of `rows` becomes location + scale * row, in float64, by the radial scales of the rows that `counter` names.
 */
export function* stretchRows(
  rows: Real,
  location: Float64Array,
  n: number,
  degreesOfFreedom: number,
  counter: Uint32Array,
): Work {
  const count = rows.length / n;
  const firstRow = (BigInt(counter[5]!) << 32n) + BigInt(counter[4]!);
  const all = new Float64Array(Math.min(count, rowsAtOnce));
  for (let begin = 0; begin < count; begin += rowsAtOnce) {
    const scales = all.subarray(0, Math.min(rowsAtOnce, count - begin));
    fillRadialScales(scales, degreesOfFreedom, counter, firstRow + BigInt(begin));
    for (let row = 0, at = begin * n; row < scales.length; row++) {
      const scale = scales[row]!;
      const own = location.length === n ? 0 : at;
      for (let j = 0; j < n; j++, at++) {
        // A coordinate that does not vary stays where it is, also where the scale is infinite.
        const draw = rows[at]!;
        rows[at] = location[own + j]! + (draw === 0 ? 0 : scale * draw);
      }
    }
    yield;
  }
}
