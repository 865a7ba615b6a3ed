import * as Plot from '../../lib/plot/library.ts';
import type { Appearance } from './appearance.ts';
import { boldWidth, chartWidth, fitted, type Marks, textWidth } from './chart.ts';

interface Header {
  readonly marks: Marks;
  /** Pixels that the header takes above the frame. */
  readonly height: number;
}

interface HeaderText {
  /** What is measured; '' where the page says it. */
  readonly subject: string;
  /** The question. */
  readonly title: string;
  /** What the picture shows. */
  readonly subtitle: string;
  /** The legend. */
  readonly entries?: readonly Entry[];
}

export interface Entry {
  readonly label: string;
  /** Draws the key, its middle `dx` and `dy` from the frame's upper left corner. */
  readonly key: (dx: number, dy: number) => Marks;
}

const rowHeight = 18;
const keyWidth = 26;

/** Subject, title, subtitle and legend above the frame, which begins `marginLeft` from the picture's edge. */
export function header({ subject, title, subtitle, entries = [] }: HeaderText, marginLeft: number): Header {
  const rows = rowsOf(entries);
  const lines = [
    { words: fitted(subject, chartWidth), look: {} },
    { words: fitted(title, boldWidth), look: { fontWeight: 'bold' } },
    { words: fitted(subtitle, chartWidth), look: { fillOpacity: 0.8 } },
  ].filter(({ words }) => words !== '');
  const height = (lines.length + rows.length) * rowHeight + 10;
  const at = (row: number, x: number) => ({ dx: x - marginLeft, dy: (row + 0.5) * rowHeight - height });
  const text = (words: string, place: { dx: number; dy: number }, more: object = {}) =>
    Plot.text([words], { frameAnchor: 'top-left', textAnchor: 'start', lineAnchor: 'middle', ...place, ...more });
  return {
    height,
    marks: [
      ...lines.map(({ words, look }, i) => text(words, at(i, 2), look)),
      ...rows.flatMap((row, i) =>
        row.flatMap(({ entry, x }) => {
          const { dx, dy } = at(lines.length + i, x + keyWidth / 2);
          return [
            ...entry.key(dx, dy),
            text(fitted(entry.label, chartWidth - keyWidth), at(lines.length + i, x + keyWidth)),
          ];
        }),
      ),
    ],
  };
}

/** Entries in as few rows as hold them. */
function rowsOf(entries: readonly Entry[]): { entry: Entry; x: number }[][] {
  const rows: { entry: Entry; x: number }[][] = [];
  let x = chartWidth;
  for (const entry of entries) {
    const width = keyWidth + textWidth(entry.label) + 14;
    if (x + width > chartWidth) {
      rows.push([]);
      x = 0;
    }
    rows.at(-1)!.push({ entry, x });
    x += width;
  }
  return rows;
}

/** A stroke with the contender's dash, and its symbol on it. */
export function seriesEntry({ label, colour, symbol, dash }: Appearance): Entry {
  return {
    label,
    key: (dx, dy) => [
      Plot.vector([0], {
        frameAnchor: 'top-left',
        anchor: 'middle',
        rotate: 90,
        length: keyWidth - 6,
        shape: stroke,
        stroke: colour,
        strokeWidth: 1.5,
        strokeDasharray: dash,
        dx,
        dy,
      }),
      Plot.dot([0], { frameAnchor: 'top-left', symbol: symbol as Plot.SymbolType, r: 4, fill: colour, dx, dy }),
    ],
  };
}

/** A dot as large as those of the picture: filled, or a ring. */
export function dotEntry(label: string, radius: number, isFilled: boolean): Entry {
  const fill = isFilled ? 'currentColor' : 'var(--ground)';
  return {
    label,
    key: (dx, dy) => [
      Plot.dot([0], { frameAnchor: 'top-left', r: radius, stroke: 'currentColor', strokeWidth: 1.5, fill, dx, dy }),
    ],
  };
}

/** A filled square. */
export function fillEntry(label: string, colour: string): Entry {
  return {
    label,
    key: (dx, dy) => [Plot.dot([0], { frameAnchor: 'top-left', symbol: 'square', r: 6, fill: colour, dx, dy })],
  };
}

/** Plot's vectors without their head. */
const stroke: Plot.VectorShape = {
  draw(context, length) {
    context.moveTo(0, 0);
    context.lineTo(0, -length);
  },
};
