import { shortened, textWidth, wrapped } from './letters.ts';
import { captions, correlationLines, description, pictureName, type Span } from './pairs-captions.ts';
import { marginalMarks, type Pairs, rangeOf, rowsOutside, scatterMarks } from './pairs-panels.ts';
import { panel } from './panel.ts';
import { escapeMarkup, svgFileOf } from './svg.ts';
import { baseText, scaleThatFits, type Tick, ticks, tickText } from './ticks.ts';

/** The most columns that a pairs plot shows. */
export const maximumColumns = 8;

/** The most rows of draws, or of data, that a panel shows as dots; more would not be visible. */
export const maximumDots = 1500;

// Dots in all panels together, so that the file stays below 300 kB.
const maximumDotsInAll = 7800;
const leftPixels = 80;
const firstLinePixels = 46;
const linePixels = 18;
const titleLinePixels = 24;
const belowPixels = 52;
// Space for the ticks of a density, between two panels and to the right of the last.
const besidePixels = 50;
const gapPixels = 8;

// On a phone the picture is half as wide, so its text is larger in proportion.
// What fits there also fits elsewhere.
const wordPixels = 16;
// Its letters are bold, and so wider.
const titlePixels = 20 * 1.1;
const sheet =
  '.pairs .words{font-size:12px}.pairs .title{font-size:16px;font-weight:600}' +
  '@media(max-width:480px){.pairs{font-size:14px}.pairs .words{font-size:16px}.pairs .title{font-size:20px}}';

/** The most rows that a panel shows as dots if there are `n` columns. */
export function dotsShown(n: number): number {
  return Math.min(maximumDots, Math.floor(maximumDotsInAll / Math.max(1, (n * (n - 1)) / 2)));
}

/**
 * Draws and data of a normal as an SVG file that follows the reader's colour scheme. Below the diagonal is a scatter
 * panel for each pair of columns, with the ellipses that hold 50% and 95% of the model; on it the histogram of each
 * column, with the model's density; above it the correlations. Throws `ERR_OUT_OF_RANGE` for a column whose numbers are
 * too close together, or too far apart, to be drawn.
 */
export function pairsPlot({ title, ...pairs }: Pairs & { readonly title: string }): string {
  const { columns } = pairs;
  const n = columns.length;
  const limit = dotsShown(n);
  const ranges = columns.map((_, i) => rangeOf(pairs, i, limit));
  const outside = {
    draws: rowsOutside(pairs.draws, ranges),
    data: pairs.data === undefined ? 0 : rowsOutside(pairs.data, ranges),
  };
  const side = Math.min(440, Math.max(100, Math.round(640 / n)));
  const left = (column: number) => leftPixels + column * (side + besidePixels);
  const across = left(n) - 16;
  const titleLines = wrapped(title, across / titlePixels);
  const legend = captions(pairs, n === 1 ? undefined : limit, outside).flatMap((line) => legendLines(line, across));
  const legendTop = firstLinePixels + (titleLines.length - 1) * titleLinePixels;
  const topPixels = legendTop + legend.length * linePixels - 2;
  const top = (row: number) => topPixels + row * (side + gapPixels);
  const width = left(n);
  const height = top(n) - gapPixels + belowPixels;

  const scales = ranges.map(([low, high]) => scaleThatFits(low, high, side));
  const drawn = columns.flatMap((_, i) =>
    columns.slice(0, i + 1).map((_, j) => {
      const place = { left: left(j), top: top(i), side, x: ranges[j]!, xTicks: i === n - 1 ? scales[j]!.ticks : [] };
      if (j < i)
        return panel({
          ...place,
          marks: scatterMarks(pairs, i, j, limit),
          y: ranges[i]!,
          yTicks: j === 0 ? scales[i]!.ticks : [],
        });
      // The left edge has the ticks of the column, the right edge those of the density.
      const { marks, y } = marginalMarks(pairs, i, ranges[i]!);
      return panel({ ...place, marks, y, yTicks: [], rightTicks: densityTicks(y, side) });
    }),
  );
  const densities = columns.map((_, i) => densityText(left(i) + side - 7, top(i) + 11));

  const correlation = correlationLines(pairs);
  const correlations = columns.flatMap((_, i) =>
    columns.slice(i + 1).flatMap((_, k) => {
      const lines = correlation(i, i + 1 + k);
      const first = top(i) + side / 2 - (lines.length - 1) * 9;
      return lines.map((line, at) => words(left(i + 1 + k) + side / 2, first + at * 18, [line]));
    }),
  );

  // The vertical axis of the first row is the density, not its column.
  const names = columns.flatMap((name, i) => [
    nameText(name, scales[i]!.base, Math.min(side / 12, (side + 40) / wordPixels), left(i) + side / 2, height - 14),
    ...(i === 0
      ? []
      : [nameText(name, scales[i]!.base, (side + gapPixels) / wordPixels, 18, top(i) + side / 2, 'rotate(-90)')]),
  ]);
  const key = legend.map((spans, line) => words(8, legendTop + linePixels * line, spans, 'start'));
  const heading = titleLines.map(
    (line, at) =>
      `<text class="title" x="8" y="${22 + at * titleLinePixels}" text-anchor="start">${escapeMarkup(line)}</text>`,
  );
  return svgFileOf(
    `<svg xmlns="http://www.w3.org/2000/svg" class="pairs" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
      `role="img" aria-label="${escapeMarkup(pictureName(title))}" aria-description="${escapeMarkup(description(pairs))}" fill="currentColor" ` +
      'font-family="system-ui, sans-serif" font-size="10" text-anchor="middle" style="color:var(--ink);max-width:100%;height:auto">' +
      `<style>${sheet}</style>${[...heading, ...key, ...drawn, ...densities, ...correlations, ...names].join('\n')}</svg>`,
  );
}

/** Ticks of a density, from 0; there must be room for the word above the last. */
function densityTicks([low, high]: readonly [number, number], side: number): Tick[] {
  return ticks(low, 0.85 * high, side < 150 ? 3 : 4).map((value) => ({ value, text: tickText(value) }));
}

function densityText(x: number, y: number): string {
  return `<text x="${x}" y="${y}" dy="0.32em" text-anchor="end">density</text>`;
}

function words(x: number, y: number, spans: readonly Span[], anchor = 'middle'): string {
  const parts = spans.map(
    ({ text, colour = 'currentColor' }) => `<tspan fill="${colour}">${escapeMarkup(text)}</tspan>`,
  );
  return `<text class="words" x="${x}" y="${y}" dy="0.32em" text-anchor="${anchor}">${parts.join(' \u2003')}</text>`;
}

/** A line of the legend, or the lines that it is parted into where it is wider than the picture. */
function legendLines(line: readonly Span[], across: number): (readonly Span[])[] {
  const room = across / wordPixels;
  if (line.reduce((sum, { text }) => sum + textWidth(text) + 1.4, 0) <= room) return [line];
  return line.flatMap((span) => wrapped(span.text, room).map((text) => [{ ...span, text }]));
}

// A name longer than its panel is shortened, but not what is taken off the labels; hovering shows all of it.
function nameText(name: string, base: number, width: number, x: number, y: number, turn = ''): string {
  const end = baseText(base);
  const shown = shortened(name, width - textWidth(end)) + end;
  const place = `translate(${x},${y}) ${turn}`.trim();
  return `<text class="words" transform="${place}" dy="0.32em"><title>${escapeMarkup(name + end)}</title>${escapeMarkup(shown)}</text>`;
}
