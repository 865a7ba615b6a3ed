import type { Plot } from '../../lib/plot/library.ts';
import type { PictureOptions } from '../../lib/plot/svg.ts';

/** A picture of the report. */
export interface Chart {
  /** The name of its file, without `.svg`: letters, digits and hyphens. */
  readonly name: string;
  readonly suite: string;
  readonly options: PictureOptions;
}

export type Marks = Plot.Markish[];

/**
 * Narrow, so that its letters are still read where a phone shows it at 320 pixels; a wide page has several side by
 * side.
 */
export const chartWidth = 440;

/** Room for letters of the picture's usual width, where bold ones stand. */
export const boldWidth: number = 0.86 * chartWidth;

/** Pixels of a text in the picture's letters, rather more than fewer. */
export function textWidth(text: string): number {
  return 6.6 * text.length;
}

/** The text, cut to what fits. */
export function fitted(text: string, pixels: number): string {
  const letters = [...text];
  const most = Math.floor(pixels / 6.6);
  return letters.length <= most ? text : `${letters.slice(0, Math.max(1, most - 1)).join('')}…`;
}

/** Parts of a name as one: `time-cholesky-in-place-100`. */
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
