import type * as Plot from '../../lib/plot/library.ts';
import type { PictureOptions } from '../../lib/plot/svg.ts';
import type { Panel } from './panel.ts';

/** A picture of the report: the answer to one question about one panel. */
export interface Chart {
  /** The name of its file, without `.svg`: letters, digits and hyphens. */
  readonly name: string;
  readonly kind: 'time' | 'speed-up' | 'split';
  readonly panel: Panel;
  /** What a screen reader says of the picture, and the alternative text of its file. */
  readonly label: string;
  readonly description: string;
  /** In a file, which may stand alone, the picture names its panel; in the page the heading above it does. */
  readonly picture: (place: 'page' | 'file') => Plot.PlotOptions;
}

export function pictureOptions({ label, description, picture }: Chart, place: 'page' | 'file'): PictureOptions {
  return { ...picture(place), label, description };
}

export type Marks = Plot.Markish[];

/**
 * Narrow, so that its letters are still legible when a phone shows it at 320 pixels; a wide page has several side by
 * side.
 */
export const chartWidth = 420;

/**
 * The width to pass to {@link fitted} for bold letters, which are wider, so that they fit into {@link chartWidth}.
 */
export const boldWidth: number = 0.86 * chartWidth;

/** Pixels of a text in the picture's font; rather too many than too few. */
export function textWidth(text: string): number {
  return 6.6 * text.length;
}

/** The text, cut to the part that fits. */
export function fitted(text: string, pixels: number): string {
  const letters = [...text];
  const most = Math.floor(pixels / 6.6);
  return letters.length <= most ? text : `${letters.slice(0, Math.max(1, most - 1)).join('')}…`;
}

/** The name of a panel's chart: `time-cholesky-in-place-100`. */
export function panelChartName(kind: Chart['kind'], { suite, case: name, dtype, count }: Panel): string {
  return chartName(kind, suite, name === suite ? null : name, dtype, count);
}

/** Joins parts of a name: `time-cholesky-in-place-100`. */
export function chartName(...parts: readonly (string | number | null)[]): string {
  const words = parts.flatMap((part) => `${part ?? ''}`.toLowerCase().match(/[a-z0-9]+/g) ?? []);
  // A file's name has 255 bytes at most, on every system.
  return words.join('-').slice(0, 120);
}

/** The same charts under names that differ. */
export function withUniqueNames(charts: readonly Chart[]): Chart[] {
  const taken = new Set<string>();
  return charts.map((chart) => {
    let name = chart.name;
    for (let i = 2; taken.has(name); ++i) name = `${chart.name}-${i}`;
    taken.add(name);
    return { ...chart, name };
  });
}
