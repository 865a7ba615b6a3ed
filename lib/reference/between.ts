import type { Real } from '../dtype.ts';
import type { Work } from '../work.ts';

const rowsAtOnce = 256;

/** {@link Encoder.countBetween}. */
export function* countBetween(rows: Real, limits: Real, kept: Real, counts: Uint32Array, n: number): Work {
  const slots = limits.length / 2;
  const capacity = slots === 0 ? 0 : kept.length / slots;
  for (let from = 0; from < rows.length; from += n * rowsAtOnce) {
    const to = Math.min(rows.length, from + n * rowsAtOnce);
    for (let slot = 0; slot < slots; slot++) {
      const [lower, upper] = [limits[slot]!, limits[slots + slot]!];
      for (let at = from + (slot % n); at < to; at += n) {
        const x = rows[at]!;
        if (x < lower) counts[slot]! += 1;
        if (!(x >= lower && x <= upper)) continue;
        const place = counts[slots + slot]!;
        counts[slots + slot] = place + 1;
        if (place < capacity) kept[slot * capacity + place] = x;
      }
    }
    yield;
  }
}
