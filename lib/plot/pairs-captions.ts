import { dataColour, drawsColour, type Pairs } from './pairs-panels.ts';
import { correlations, correlationsOf, type Points } from './points.ts';

/** Words of one colour, the page's own by default. */
export interface Span {
  readonly text: string;
  readonly colour?: string;
}

/**
 * The lines of the legend: what each colour and shape is, and how many rows are dots (`limit` at most; all without
 * dots).
 */
export function captions({ columns, draws, data }: Pairs, limit?: number): Span[][] {
  const rows: Span[] = [{ text: `\u25cf ${amount(draws, limit)} draws`, colour: drawsColour }];
  if (data !== undefined) rows.push({ text: `\u25a0 ${amount(data, limit)} rows of data`, colour: dataColour });
  const model = columns.length === 1 ? '\u2014 density of the model' : '\u2014 density and 50% ellipse of the model';
  return [rows, [{ text: model }, ...(columns.length === 1 ? [] : [{ text: '\u2013 \u2013 95% ellipse' }])]];
}

/** The correlations of columns i and j, a line each for model, data and draws. */
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

/** The picture in words, as text, for a screen reader. */
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
  const shown = `${amount(draws)} draws${data === undefined ? '' : ` and ${amount(data)} rows of data`}`;
  return [
    columns.length === 1
      ? `Histogram of ${shown}, with the density of the model.`
      : `Histograms and scatter panels of ${shown}, with the density of the model and the ellipses that hold 50% and 95% of it.`,
    `Mean and standard deviation of the model: ${centres.join('; ')}.`,
    ...(relations.length === 0 ? [] : [`Correlations: ${relations.join('; ')}.`]),
  ].join(' ');
}

function amount({ rows, of = rows }: Points, limit: number = rows): string {
  const shown = Math.min(rows, limit);
  return shown === of ? grouped(of) : `${grouped(shown)} of ${grouped(of)}`;
}

function grouped(count: number): string {
  return count.toLocaleString('en');
}

function figure(correlation: number): string {
  return Number.isNaN(correlation) ? 'none' : correlation.toFixed(2).replace('-', '\u2212');
}

function short(value: number): string {
  return String(Number(value.toPrecision(4)));
}
