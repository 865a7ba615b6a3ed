import * as Plot from '../../lib/plot/library.ts';
import { boldWidth, fitted, type Marks, textWidth } from './chart.ts';

/** Rows of a picture under a title of their own. */
export interface RowGroup<T> {
  readonly title: string;
  readonly rows: readonly { readonly label: string; readonly item: T }[];
}

/** An item with the place of its row on the band scale. */
export type Placed<T> = T & { readonly row: string };

interface RowLayout<T> {
  readonly items: readonly Placed<T>[];
  readonly y: Plot.ScaleOptions;
  /** Height of the frame, without margins. */
  readonly height: number;
  readonly marginLeft: number;
  /** The titles and the labels. */
  readonly marks: Marks;
}

const [leastRowHeight, greatestRowHeight] = [19, 28];
const widestLabel = 190;

/**
 * Lays rows out below each other: a title has a row of its own, labels stand left of the frame. Few rows spread over
 * `height` pixels.
 */
export function rowLayout<T extends object>(groups: readonly RowGroup<T>[], height = 0): RowLayout<T> {
  const lines = groups.flatMap(({ title, rows }, g) => [
    ...(title === '' ? [] : [{ row: `${g}`, title }]),
    ...rows.map((each, r) => ({ row: `${g}.${r}`, ...each })),
  ]);
  const rowHeight = Math.min(greatestRowHeight, Math.max(leastRowHeight, Math.floor(height / lines.length)));
  const titles = lines.filter((line) => 'title' in line);
  const rows = lines.filter((line) => 'item' in line);
  const longest = Math.max(...rows.map(({ label }) => textWidth(label)));
  // Letters such as m, w and p are wider than the mean, and a name may have many of them.
  const marginLeft = 12 + Math.min(widestLabel, Math.ceil(1.2 * longest));
  return {
    items: rows.map(({ row, item }) => ({ ...item, row })),
    y: { type: 'band', domain: lines.map(({ row }) => row), padding: 0.2, axis: null, label: null },
    height: lines.length * rowHeight,
    marginLeft,
    marks: [
      Plot.text(titles, {
        y: 'row',
        text: ({ title }: { title: string }) => fitted(title, boldWidth),
        frameAnchor: 'left',
        textAnchor: 'start',
        dx: -marginLeft + 2,
        fontWeight: 'bold',
        // This outline hides lines behind the letters.
        stroke: 'var(--ground)',
        fill: 'currentColor',
        strokeWidth: 4,
      }),
      Plot.text(rows, {
        y: 'row',
        text: ({ label }: { label: string }) => fitted(label, widestLabel),
        frameAnchor: 'left',
        textAnchor: 'end',
        dx: -8,
      }),
    ],
  };
}
