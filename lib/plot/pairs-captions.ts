import { dataColour, drawsColour, type Pairs } from './pairs-panels.ts';
import { correlations, correlationsOf, type Points } from './points.ts';

/** Text of one colour, by default that of the page. */
export interface Span {
  readonly text: string;
  readonly colour?: string;
}

/** How many rows of draws and data reach beyond the panels. */
interface Outside {
  readonly draws: number;
  readonly data: number;
}

/**
 * The lines of the legend: the meaning of each colour and shape, how many rows were read, how many of them are dots (at
 * most `limit`; all by default), and how many rows lie beyond the panels.
 */
export function captions({ columns, draws, data }: Pairs, limit?: number, outside?: Outside): Span[][] {
  const rows: Span[] = [{ text: `\u25cf ${amount(draws, drawsNoun, limit)}`, colour: drawsColour }];
  if (data !== undefined) rows.push({ text: `\u25a0 ${amount(data, dataNoun, limit)}`, colour: dataColour });
  const model = columns.length === 1 ? '\u2014 density of the normal' : '\u2014 density and 50% ellipse of the normal';
  const beyond = [
    ...(outside?.draws ? [counted(outside.draws, drawsNoun)] : []),
    ...(outside?.data ? [counted(outside.data, dataNoun)] : []),
  ];
  return [
    rows,
    [{ text: model }, ...(columns.length === 1 ? [] : [{ text: '\u2013 \u2013 95% ellipse' }])],
    ...(beyond.length === 0 ? [] : [[{ text: `Beyond the panels, not shown whole: ${beyond.join(' and ')}` }]]),
  ];
}

/** The correlations of columns i and j, one line each for model, data and draws. */
export function correlationLines({ columns, covariance, draws, data }: Pairs): (i: number, j: number) => Span[] {
  const n = columns.length;
  const model = correlationsOf((i, j) => covariance[i]![j]!, n);
  const ofData = data && correlations(data, n);
  const ofDraws = correlations(draws, n);
  return (i, j) => {
    const at = i * n + j;
    const lines: Span[] = [{ text: 'correlation' }, { text: `model ${figure(model[at]!)}` }];
    if (ofData !== undefined) lines.push({ text: `data ${figure(ofData[at]!)}`, colour: dataColour });
    return [...lines, { text: `draws ${figure(ofDraws[at]!)}`, colour: drawsColour }];
  };
}

/** The name of the picture for a screen reader, which announces none for a blank title. */
export function pictureName(title: string): string {
  return title.trim() === '' ? 'Draws and the model that they come from' : title;
}

/** A description of the picture for a screen reader. */
export function description(pairs: Pairs): string {
  const { columns, mean, covariance, draws, data } = pairs;
  const lines = correlationLines(pairs);
  const centres = columns.map((name, i) => `${name}: ${short(mean[i]!)} and ${short(Math.sqrt(covariance[i]![i]!))}`);
  const relations = columns.flatMap((name, i) =>
    columns.slice(0, i).map((other, j) => {
      const [, ...found] = lines(i, j);
      return `${other} and ${name}: ${found.map(({ text }) => text).join(', ')}`;
    }),
  );
  const shown = `${amount(draws, drawsNoun)}${data === undefined ? '' : ` and ${amount(data, dataNoun)}`}`;
  return [
    columns.length === 1
      ? `Histogram of ${shown}, with the density of the normal.`
      : `Histograms and scatter panels of ${shown}, with the density of the normal and the ellipses that hold 50% and 95% of it.`,
    `Mean and standard deviation of the model: ${centres.join('; ')}.`,
    ...(relations.length === 0 ? [] : [`Correlations: ${relations.join('; ')}.`]),
  ].join(' ');
}

interface Noun {
  readonly one: string;
  readonly many: string;
}

const drawsNoun: Noun = { one: 'draw', many: 'draws' };
const dataNoun: Noun = { one: 'row of data', many: 'rows of data' };

/**
 * `1,500 of 5,000 draws, 1,300 of them as dots`; parts that equal the whole are not said. Rows with missing values
 * follow in parentheses.
 */
function amount({ rows, of = rows, dropped = 0 }: Points, noun: Noun, limit: number = rows): string {
  const read = rows === of ? counted(of, noun) : `${grouped(rows)} of ${counted(of, noun)}`;
  const shown = limit < rows ? `${read}, ${grouped(limit)} of them as dots` : read;
  return dropped === 0 ? shown : `${shown} (${grouped(dropped)} with missing values left out)`;
}

function counted(count: number, { one, many }: Noun): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

function grouped(count: number): string {
  return count.toLocaleString('en');
}

function figure(correlation: number): string {
  if (Number.isNaN(correlation)) return 'none';
  // A correlation that rounds to 0 gets no sign.
  return correlation
    .toFixed(2)
    .replace(/^-(?!0\.00$)/, '\u2212')
    .replace('-', '');
}

function short(value: number): string {
  return String(Number(value.toPrecision(4)));
}
