// Axes whose ends and ticks are chosen here. Plot's own choice leaves a range of less than a decade without a number,
// and on log axes it omits the numbers of some ticks even if the ticks are given. So the numbers are a separate mark.
import * as Plot from '../../lib/plot/library.ts';

import { type Marks, textWidth } from './chart.ts';
import { numberText } from './quantity.ts';

interface LogAxis {
  readonly domain: readonly [number, number];
  readonly ticks: readonly number[];
}

/** Plot's options of the scale: values at its ends keep a distance from the frame. */
export function logScale({ domain }: LogAxis, inset = 8): Plot.ScaleOptions {
  return { type: 'log', domain: [...domain], axis: null, inset };
}

/** The ticks of the axis below the frame, a number at each, and lines up from them if requested. */
export function axisBelow(
  { ticks }: LogAxis,
  text: (tick: number) => string,
  label: string | null,
  grid: boolean,
): Marks {
  return [...(grid ? [Plot.gridX(ticks)] : []), Plot.axisX(ticks, { text, label })];
}

/** Likewise left of the frame, with lines across it. */
export function axisLeft({ ticks }: LogAxis, text: (tick: number) => string): Marks {
  return [Plot.gridY(ticks), Plot.axisY(ticks, { text, label: null })];
}

interface LogAxisOptions {
  readonly pixels: number;
  /** Pixels that a tick's number takes along the axis. */
  readonly room: (tick: number) => number;
  /** Ticks that are always shown. */
  readonly must?: readonly number[];
}

const coarse = [1, 2, 5];
const fine = [1, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5, 3, 4, 5, 6, 7, 8, 9];

/**
 * An axis over positive values that ends at ticks on or beyond the smallest and the largest of them, so that every
 * point lies between two numbers. Between the ends stand the powers of ten, then their multiples by 2 and 5, as far as
 * there is room.
 */
export function logAxis(values: readonly number[], { pixels, room, must = [] }: LogAxisOptions): LogAxis {
  const all = [...values, ...must];
  const [least, greatest] = [Math.min(...all), Math.max(...all)];
  const steps = greatest / least > 4 ? coarse : fine;
  const below = stepsAround(least, steps).filter((step) => step <= least);
  const above = stepsAround(greatest, steps).filter((step) => step >= greatest && step > below.at(-1)!);
  let [low, high] = [below.pop()!, above.shift()!];
  // An end moves outwards if its number would touch that of a required tick.
  const touches = (end: number) =>
    must.some((tick) => tick !== end && distance(tick, end, low, high, pixels) < (room(tick) + room(end)) / 2);
  while (touches(low) && below.length > 0) low = below.pop()!;
  while (touches(high) && above.length > 0) high = above.shift()!;
  const inside = stepsBetween(low, high, steps);
  const isPower = (tick: number) => Number.isInteger(Math.log10(tick));
  const candidates = [...must, ...inside.filter(isPower), ...inside];
  return { domain: [low, high], ticks: fittingTicks([low, high], candidates, pixels, room) };
}

/** The multiples of the powers of ten below, at and above a value's own. */
function stepsAround(value: number, steps: readonly number[]): number[] {
  const power = Math.floor(Math.log10(value));
  return stepsBetween(10 ** (power - 1), 10 ** (power + 2), steps);
}

function stepsBetween(low: number, high: number, steps: readonly number[]): number[] {
  const found: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power)
    for (const step of steps) {
      // Division keeps small powers exact: 5 / 10 is 0.5, 5 * 10 ** -1 may not be.
      const tick = power < 0 ? step / 10 ** -power : step * 10 ** power;
      if (tick >= low && tick <= high) found.push(tick);
    }
  return found;
}

/** The ends, and those candidates, in their order, whose numbers touch none that is already placed; ascending. */
function fittingTicks(
  [first, last]: readonly [number, number],
  candidates: readonly number[],
  pixels: number,
  room: (tick: number) => number,
): number[] {
  const touch = (a: number, b: number) => distance(a, b, first, last, pixels) < (room(a) + room(b)) / 2;
  const ticks = [...new Set([first, last])];
  for (const tick of candidates) if (!ticks.some((other) => tick === other || touch(other, tick))) ticks.push(tick);
  return ticks.sort((a, b) => a - b);
}

/** Pixels between two ticks of an axis from `first` to `last`. */
function distance(a: number, b: number, first: number, last: number, pixels: number): number {
  return (pixels * Math.abs(Math.log(a / b))) / Math.log(last / first);
}

/** An axis of `pixels` over the measured sizes. Its ticks are those sizes whose numbers do not touch. */
export function sizeAxis(sizes: readonly number[], pixels: number): LogAxis {
  const ends = [sizes[0]!, sizes.at(-1)!] as const;
  const room = (size: number) => textWidth(numberText(size)) + 6;
  return { domain: ends, ticks: fittingTicks(ends, sizes, pixels, room) };
}
