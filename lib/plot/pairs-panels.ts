import type { LineOptions, Markish } from '@observablehq/plot';
import { CovariumError } from '../covarium-error.ts';
import { ellipse, ellipseRadius } from './ellipse.ts';
import { type Bar, histogram, normalDensity } from './histogram.ts';
import * as Plot from './library.ts';
import { type DotStyle, dots } from './panel.ts';
import { evenRows, type Points } from './points.ts';
import { seriesColours } from './svg.ts';

/** The content of a pairs plot of n columns. */
export interface Pairs {
  /** Names of the columns. */
  readonly columns: readonly string[];
  /** The model: n means, and n rows of n covariances, positive semidefinite, with variances above 0. */
  readonly mean: readonly number[];
  readonly covariance: readonly (readonly number[])[];
  /** Rows of n finite numbers, like `data`. */
  readonly draws: Points;
  readonly data?: Points;
}

type AxisRange = readonly [low: number, high: number];

export const drawsColour: string = seriesColours[0]!;
export const dataColour: string = seriesColours[1]!;

const drawsDots: DotStyle = { colour: drawsColour, sizePixels: 2.2, opacity: 0.4, shape: 'round' };
const dataDots: DotStyle = { colour: dataColour, sizePixels: 2.8, opacity: 0.7, shape: 'square' };

/**
 * The range of the shown numbers of column `i`, including the whole 95% ellipses. Throws `ERR_OUT_OF_RANGE` if its ends
 * are equal, or infinitely far apart.
 */
export function rangeOf({ columns, mean, covariance, draws, data }: Pairs, i: number, limit: number): AxisRange {
  const n = columns.length;
  const reach = ellipseRadius(0.95) * Math.sqrt(covariance[i]![i]!);
  let low = mean[i]! - reach;
  let high = mean[i]! + reach;
  for (const points of data === undefined ? [draws] : [draws, data])
    for (const row of evenRows(points.rows, limit)) {
      low = Math.min(low, points.values[row * n + i]!);
      high = Math.max(high, points.values[row * n + i]!);
    }
  if (low < high && Number.isFinite(high - low)) return [low, high];
  throw new CovariumError(
    'ERR_OUT_OF_RANGE',
    `Column (${columns[i]}) cannot be drawn: it reaches from (${low}) to (${high}).`,
  );
}

/** The number of rows with a number outside of its column's range: no panel shows them completely. */
export function rowsOutside({ values, rows }: Points, ranges: readonly AxisRange[]): number {
  const n = ranges.length;
  let count = 0;
  for (let row = 0; row < rows; row++)
    if (ranges.some(([low, high], i) => values[row * n + i]! < low || values[row * n + i]! > high)) count++;
  return count;
}

/** Draws, data above them, and the ellipses of the model above both: column `i` upwards, column `j` to the right. */
export function scatterMarks(
  { columns, mean, covariance, draws, data }: Pairs,
  i: number,
  j: number,
  limit: number,
): Markish[] {
  const n = columns.length;
  const margin = {
    mean: [mean[j]!, mean[i]!],
    covariance: [covariance[j]![j]!, covariance[i]![j]!, covariance[i]![i]!],
  } as const;
  const outline = (share: number, style: LineOptions) => {
    const points = ellipse(margin, share);
    return Plot.line([...points, points[0]!], { strokeWidth: 1.5, ...style });
  };
  return [
    dots(draws, n, [j, i], limit, drawsDots),
    data && dots(data, n, [j, i], limit, dataDots),
    outline(0.5, {}),
    outline(0.95, { strokeDasharray: '5 3' }),
  ];
}

/**
 * The histograms of column `i` (draws filled, data as an outline) and the model's density, and their greatest height.
 */
export function marginalMarks(
  { columns, mean, covariance, draws, data }: Pairs,
  i: number,
  range: AxisRange,
): { marks: Markish[]; y: AxisRange } {
  const n = columns.length;
  const variance = covariance[i]![i]!;
  const drawsBars = histogram(draws, i, n, range);
  const dataBars = data === undefined ? [] : histogram(data, i, n, range);
  const top = Math.max(
    normalDensity(mean[i]!, mean[i]!, variance),
    ...[...drawsBars, ...dataBars].map((bar) => bar.density),
  );
  const curve = curvePlaces(range, mean[i]!, Math.sqrt(variance), n).map(
    (x) => [x, normalDensity(x, mean[i]!, variance)] as const,
  );
  const marks = [
    Plot.areaY(steps(drawsBars), { x: '0', y1: 0, y2: '1', fill: drawsColour, fillOpacity: 0.3 }),
    Plot.line(steps(dataBars), { stroke: dataColour, strokeWidth: 1.5 }),
    Plot.line(curve, { strokeWidth: 1.5 }),
  ];
  // Leaves room above for the word density, which takes a larger share of a smaller panel.
  return { marks, y: [0, top * (1.05 + n / 32)] };
}

/** Where a density is computed: as finely as a panel is large, and also around the mean where that misses its shape. */
function curvePlaces([low, high]: AxisRange, mean: number, deviation: number, n: number): number[] {
  const intervals = Math.ceil(512 / n);
  const even = Array.from({ length: intervals + 1 }, (_, k) => low + (k / intervals) * (high - low));
  if (high - low <= (intervals * deviation) / 4) return even;
  const around = Array.from({ length: 41 }, (_, k) => mean + (k / 4 - 5) * deviation);
  return [...even, ...around.filter((x) => x > low && x < high)].sort((a, b) => a - b);
}

function steps(bars: readonly Bar[]): [x: number, y: number][] {
  return bars.flatMap(({ from, to, density }): [number, number][] => [
    [from, density],
    [to, density],
  ]);
}
