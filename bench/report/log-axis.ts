// Axes whose ends and ticks are chosen here: Plot's own choice leaves a range of less than a decade without a number,
// and even of ticks that it is given it leaves some without one on log axes. So the numbers are a mark of their own.
import { Plot } from '../../lib/plot/library.ts';

import type { Marks } from './chart.ts';
import { numberText } from './quantity.ts';

export interface LogAxis {
  readonly domain: readonly [number, number];
  readonly ticks: readonly number[];
}

/** What Plot is told of the scale. */
export function logScale({ domain }: LogAxis): Plot.ScaleOptions {
  return { type: 'log', domain: [...domain], axis: null };
}

/** The ticks of the axis below the frame, a number at each, and lines up from them if asked for. */
export function axisBelow({ ticks }: LogAxis, text: (tick: number) => string, label: string, grid: boolean): Marks {
  return [...(grid ? [Plot.gridX(ticks)] : []), Plot.axisX(ticks, { text, label })];
}

/** Likewise left of the frame, with lines across it. */
export function axisLeft({ ticks }: LogAxis, text: (tick: number) => string): Marks {
  return [Plot.gridY(ticks), Plot.axisY(ticks, { text, label: null })];
}

/** An axis over positive values: powers of ten, or 1, 2 and 5 of each where there would be fewer than three. */
export function logAxis(values: readonly number[]): LogAxis {
  const low = Math.min(...values) / 1.2;
  const high = Math.max(...values) * 1.2;
  for (const steps of [[1], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9]]) {
    const ticks = ticksWithin(low, high, steps);
    if (ticks.length >= 3) return { domain: [low, high], ticks: thinned(ticks, 8) };
  }
  return { domain: [low, high], ticks: [...new Set([Math.min(...values), Math.max(...values)])] };
}

function ticksWithin(low: number, high: number, steps: readonly number[]): number[] {
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power)
    for (const step of steps) {
      // Division keeps small powers exact: 5 / 10 is 0.5, 5 * 10 ** -1 may not be.
      const tick = power < 0 ? step / 10 ** -power : step * 10 ** power;
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  return ticks;
}

function thinned(ticks: readonly number[], most: number): number[] {
  const step = Math.ceil(ticks.length / most);
  return ticks.filter((_, i) => i % step === 0);
}

/** An axis over the sizes that were measured, which are its ticks as far as their numbers do not touch on `pixels`. */
export function sizeAxis(sizes: readonly number[], pixels: number): LogAxis {
  const [first, last] = [sizes[0]!, sizes.at(-1)!];
  const at = (size: number) => (pixels * Math.log(size / first)) / Math.log(last / first);
  const halfWidth = (size: number) => 3.5 * numberText(size).length + 4;
  const touch = (a: number, b: number) => Math.abs(at(a) - at(b)) < halfWidth(a) + halfWidth(b);
  const ticks = [...new Set([first, last])];
  for (const size of sizes.slice(1, -1)) if (!ticks.some((tick) => touch(tick, size))) ticks.push(size);
  return { domain: [first / 1.05, last * 1.05], ticks: ticks.sort((a, b) => a - b) };
}
