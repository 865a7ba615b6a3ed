import * as Plot from '../../lib/plot/library.ts';
import type { Results } from '../results.ts';
import { type Answer, comparisons, type Versus } from './answer.ts';
import type { Appearance } from './appearance.ts';
import { type Chart, chartWidth, panelChartName, textWidth } from './chart.ts';
import { dotEntry, header } from './chart-header.ts';
import { group } from './group.ts';
import { axisBelow, logAxis, logScale } from './log-axis.ts';
import { type Panel, panelTitle } from './panel.ts';
import { numberText, ratioText, sizeText, timesText, timeText } from './quantity.ts';
import { rowLayout } from './rows.ts';

const margin = { right: 58, bottom: 58 };
const smallRadius = 3;
const largeRadius = 5.5;

/** The leader against one other contender at one size. */
interface Point extends Versus {
  readonly size: number | null;
  readonly radius: number;
  readonly colour: string;
  /** The largest size is filled, the others are rings. */
  readonly fill: string;
  readonly text: string;
}

/**
 * How many times as fast the panel's leader is as each other contender: a row each, a dot for each size that both were
 * timed at, larger for larger sizes, with the interval of the ratio. Left of 1× the other one is faster.
 */
export function speedUpChart(results: Results, answer: Answer, looks: readonly Appearance[]): Chart {
  const { panel, leader } = answer;
  const name = leader.contender;
  const compared = comparisons(results, answer);
  const sizes = [...new Set(compared.map(({ other }) => other[panel.axis]))]
    .filter((size) => size !== null)
    .sort((a, b) => a - b);
  const radius = (size: number | null) =>
    size === null || sizes.length < 2
      ? largeRadius
      : smallRadius + ((largeRadius - smallRadius) * sizes.indexOf(size)) / (sizes.length - 1);
  const rows = group(compared, ({ other }) => other.contender)
    .map((list) => list.sort((a, b) => (a.other[panel.axis] ?? 0) - (b.other[panel.axis] ?? 0)))
    .map((list) => {
      const look = looks.find(({ contender }) => contender === list[0]!.other.contender)!;
      const points = list.map((each, i): Point => {
        const size = each.other[panel.axis];
        const fill = i === list.length - 1 ? look.colour : 'var(--ground)';
        return { ...each, size, radius: radius(size), colour: look.colour, fill, text: pointText(answer, each) };
      });
      return { label: look.label, item: { points, last: points.at(-1)! } };
    })
    .sort((a, b) => b.item.last.ratio - a.item.last.ratio);
  const { items, y, height, marginLeft, marks } = rowLayout([{ title: '', rows }], 180);
  const points = items.flatMap(({ row, points }) => points.map((point) => ({ ...point, row })));
  const reach = points.flatMap(({ ratio, interval }) => (interval ? [ratio, interval.low, interval.high] : [ratio]));
  const x = logAxis(reach, {
    pixels: chartWidth - marginLeft - margin.right - 16,
    room: (tick) => textWidth(ratioText(tick)) + 14,
    must: [1],
  });
  const label = `How many times as fast ${name} is: ${panelTitle(panel)}`;
  return {
    name: panelChartName('speed-up', panel),
    kind: 'speed-up',
    panel,
    label,
    description: points.map(({ text }) => `${text}.`).join(' '),
    picture: (place) => {
      const top = header(
        {
          subject: place === 'file' ? panelTitle(panel) : '',
          title: `How many times as fast is ${name}?`,
          subtitle: subtitleOf(
            panel,
            sizes,
            points.some(({ interval }) => interval !== undefined),
          ),
          entries: sizes.length < 2 ? [] : sizeEntries(panel, sizes, radius),
        },
        marginLeft,
      );
      return {
        width: chartWidth,
        height: top.height + height + margin.bottom,
        marginTop: top.height,
        marginLeft,
        marginRight: margin.right,
        marginBottom: margin.bottom,
        style: { fontSize: '12px' },
        x: logScale(x),
        y,
        marks: [
          ...top.marks,
          ...axisBelow(x, ratioText, null, true),
          Plot.ruleX([1], { stroke: 'currentColor' }),
          side(`← other is faster`, 'bottom-left', -marginLeft + 2),
          side(`${name} is faster →`, 'bottom-right', margin.right - 2),
          ...marks,
          Plot.link(points, {
            x1: ({ interval, ratio }: Point) => interval?.low ?? ratio,
            x2: ({ interval, ratio }: Point) => interval?.high ?? ratio,
            y: 'row',
            stroke: 'colour',
            strokeWidth: 2,
          }),
          ...points.map((point) =>
            Plot.dot([point], {
              x: 'ratio',
              y: 'row',
              r: point.radius,
              stroke: point.colour,
              strokeWidth: 1.5,
              fill: point.fill,
              ariaLabel: 'text',
              title: 'text',
            }),
          ),
          Plot.text(items, {
            y: 'row',
            text: ({ last }: (typeof items)[number]) => ratioText(last.ratio),
            frameAnchor: 'right',
            textAnchor: 'start',
            dx: 8,
          }),
        ],
      };
    },
  };
}

/** A text below the axis, at one of its ends. */
function side(text: string, frameAnchor: 'bottom-left' | 'bottom-right', dx: number): Plot.Text {
  const textAnchor = frameAnchor === 'bottom-left' ? 'start' : 'end';
  return Plot.text([text], { frameAnchor, textAnchor, lineAnchor: 'top', dx, dy: 32 });
}

function subtitleOf({ axis }: Panel, sizes: readonly number[], hasIntervals: boolean): string {
  return [
    hasIntervals ? 'medians, with 99% intervals' : 'ratio of the medians',
    ...(sizes.length < 2 ? [] : [`at right the largest ${axis}`]),
  ].join('; ');
}

function sizeEntries({ axis }: Panel, sizes: readonly number[], radius: (size: number) => number) {
  // With many sizes, only the smallest and the largest have an entry: dots grow from one to the other.
  const shown = sizes.length <= 4 ? sizes : [sizes[0]!, sizes.at(-1)!];
  return shown.map((size, i) =>
    dotEntry(`${i === 0 ? `${axis} ` : ''}${numberText(size)}`, radius(size), size === sizes.at(-1)),
  );
}

function pointText({ leader, panel }: Answer, { other, ratio, interval }: Versus): string {
  const own = panel.measurements.find(
    (each) => each.contender === leader.contender && each[panel.axis] === other[panel.axis],
  )!;
  const where = sizeText(other);
  const sure = interval === undefined ? '' : `, interval ${timesText(interval.low)} to ${timesText(interval.high)}`;
  const times = `${timeText(own.time!.median)} against ${timeText(other.time.median)}`;
  return `${leader.contender} is ${timesText(ratio)} times as fast as ${other.contender}${where === '' ? '' : `, ${where}`} (${times}${sure})`;
}
