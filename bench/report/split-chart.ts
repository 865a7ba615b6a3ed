import * as Plot from '../../lib/plot/library.ts';
import { seriesColours } from '../../lib/plot/svg.ts';
import type { Split } from '../results.ts';
import type { Appearance } from './appearance.ts';
import { type Chart, chartWidth, panelChartName } from './chart.ts';
import { fillEntry, header } from './chart-header.ts';
import { group } from './group.ts';
import { caseTitle, type Panel, panelTitle } from './panel.ts';
import { numberText, shareText, sizeText, timeText } from './quantity.ts';
import { type Placed, rowLayout } from './rows.ts';
import { isTimed, type Timed } from './timed.ts';

interface Stage {
  readonly key: keyof Split;
  readonly name: string;
  readonly letter: string;
  readonly colour: string;
}

/** The parts in the order in which they happen; a letter in the bar tells them apart, in addition to the colour. */
const stages: readonly Stage[] = [
  { key: 'encode', name: 'encode', letter: 'E', colour: seriesColours[4]! },
  { key: 'device', name: 'device', letter: 'D', colour: seriesColours[5]! },
  { key: 'readBack', name: 'read back', letter: 'R', colour: seriesColours[6]! },
  { key: 'rest', name: 'waiting', letter: 'W', colour: seriesColours[7]! },
];

interface Bar {
  readonly look: Appearance;
  readonly measurement: Timed & { readonly split: Split };
}

interface Part {
  readonly row: string;
  readonly from: number;
  readonly to: number;
  readonly colour: string;
  readonly letter: string;
  readonly text: string;
}

/** What a run's time is spent on, as shares stacked to 100%. Undefined where no device reports it. */
export function splitChart(panel: Panel, looks: readonly Appearance[]): Chart | undefined {
  const bars = panel.measurements.flatMap((measurement): Bar[] => {
    const look = looks.find(({ contender }) => contender === measurement.contender);
    const { split } = measurement;
    return look !== undefined && isTimed(measurement) && split !== null
      ? [{ look, measurement: { ...measurement, split } }]
      : [];
  });
  if (bars.length === 0) return undefined;
  const groups = group(bars, ({ measurement }) => `${measurement[panel.axis]}`).map((bars) => {
    const size = bars[0]!.measurement[panel.axis];
    const title = size === null ? '' : `${panel.axis} ${numberText(size)}`;
    return { title, rows: bars.map((item) => ({ label: item.look.label, item })) };
  });
  const { items, y, height, marginLeft, marks } = rowLayout(groups);
  const stacks = items.flatMap(partsOf);
  // Parts that no run spent time on need no entry in the legend.
  const drawn = stages.filter(({ letter }) => stacks.some((part) => part.letter === letter));
  const entries = drawn.map(({ name, letter, colour }) => fillEntry(`${letter} ${name}`, colour));
  return {
    name: panelChartName('split', panel),
    kind: 'split',
    panel,
    label: `What the time is spent on: ${panelTitle(panel)}`,
    description: stacks.map(({ text }) => `${text}.`).join(' '),
    picture: (place) => {
      const top = header(
        {
          subject: place === 'file' ? panelTitle(panel) : '',
          // On the page, the question is the title of the fold that holds all of a suite's charts.
          title: place === 'file' ? 'What is the time spent on?' : caseTitle(panel),
          subtitle: 'shares of the median time, which stands at the right',
          entries,
        },
        marginLeft,
      );
      return {
        width: chartWidth,
        height: top.height + height + 44,
        marginTop: top.height,
        marginLeft,
        marginRight: 66,
        marginBottom: 44,
        style: { fontSize: '12px' },
        x: { domain: [0, 1], ticks: [0, 0.25, 0.5, 0.75, 1], tickFormat: shareText, label: 'share of the time →' },
        y,
        marks: [
          ...top.marks,
          ...marks,
          Plot.barX(stacks, {
            x1: 'from',
            x2: 'to',
            y: 'row',
            fill: 'colour',
            stroke: 'var(--ground)',
            strokeWidth: 0.5,
            ariaLabel: 'text',
            title: 'text',
          }),
          Plot.text(
            stacks.filter(({ from, to }) => to - from > 0.06),
            { x: ({ from, to }: Part) => (from + to) / 2, y: 'row', text: 'letter', fill: 'var(--ground)' },
          ),
          Plot.text(items, {
            y: 'row',
            text: ({ measurement }: Bar) => timeText(measurement.time.median),
            frameAnchor: 'right',
            textAnchor: 'start',
            dx: 6,
          }),
        ],
      };
    },
  };
}

/** Parts that took time. The rest is the median of the whole minus the medians of the parts, and may be negative. */
function partsOf({ row, look, measurement }: Placed<Bar>): Part[] {
  const { split } = measurement;
  const whole = stages.reduce((sum, { key }) => sum + Math.max(0, split[key]), 0);
  let at = 0;
  return stages.flatMap(({ key, name, letter, colour }) => {
    if (split[key] <= 0) return [];
    const from = at;
    at += split[key] / whole;
    const where = [look.label, sizeText(measurement)].filter((part) => part !== '').join(', ');
    const text = `${where}: ${name} ${timeText(split[key])} (${shareText(split[key] / whole)})`;
    return [{ row, from, to: at, colour, letter, text }];
  });
}
