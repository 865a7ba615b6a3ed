import * as Plot from '../../lib/plot/library.ts';
import type { Appearance } from './appearance.ts';
import { type Chart, chartWidth, panelChartName } from './chart.ts';
import { header, seriesEntry } from './chart-header.ts';
import { axisBelow, axisLeft, logAxis, logScale, sizeAxis } from './log-axis.ts';
import { type Panel, panelTitle, sizesOf } from './panel.ts';
import { countText, numberText, timeText } from './quantity.ts';
import { isTimed, type Timed } from './timed.ts';

const margin = { left: 58, right: 32, bottom: 40 };
const frameHeight = 230;

/**
 * Time against size on log axes: one line per contender, with the quartiles. Undefined if fewer than two sizes were
 * timed.
 */
export function timeChart(panel: Panel, looks: readonly Appearance[]): Chart | undefined {
  const { axis } = panel;
  const timed = panel.measurements.filter(isTimed).filter((each) => each[axis] !== null);
  const sizes = sizesOf({ ...panel, measurements: timed });
  if (sizes.length < 2) return undefined;
  const series = looks
    .map((look) => ({ look, points: timed.filter(({ contender }) => contender === look.contender) }))
    .filter(({ points }) => points.length > 0)
    .map(({ look, points }) => ({ look, points: points.sort((a, b) => a[axis]! - b[axis]!) }));
  const entries = series.map(({ look }) => seriesEntry(look));
  const y = logAxis(
    timed.flatMap(({ time }) => [time.p25, time.median, time.p75]),
    { pixels: frameHeight - 16, room: () => 17 },
  );
  const x = sizeAxis(sizes, chartWidth - margin.left - margin.right - 16);
  return {
    name: panelChartName('time', panel),
    kind: 'time',
    panel,
    label: `Time of one run against ${axis}: ${panelTitle(panel)}`,
    description: series.map(({ look, points }) => `${look.label}: ${fromTo(points, axis)}.`).join(' '),
    picture: (place) => {
      const top = header(
        {
          subject: place === 'file' ? panelTitle(panel) : '',
          title: 'How long does one run take?',
          subtitle: `median time and quartiles against ${axis}; lower is faster`,
          entries,
        },
        margin.left,
      );
      return {
        width: chartWidth,
        height: top.height + frameHeight + margin.bottom,
        marginTop: top.height,
        marginLeft: margin.left,
        marginRight: margin.right,
        marginBottom: margin.bottom,
        style: { fontSize: '12px' },
        x: logScale(x),
        y: logScale(y),
        marks: [
          ...top.marks,
          ...axisLeft(y, timeText),
          ...axisBelow(x, numberText, `${axis} →`, false),
          ...series.flatMap(({ look, points }) => seriesMarks(look, points, sizes, axis)),
        ],
      };
    },
  };
}

function seriesMarks(look: Appearance, points: readonly Timed[], sizes: readonly number[], axis: Panel['axis']) {
  const { colour, symbol, dash } = look;
  const x = (each: Timed) => each[axis];
  const label = (each: Timed) => pointText(look, each, axis);
  // A size that a contender was not timed at leaves a gap in its line.
  const line = sizes.map((size) => ({
    size,
    median: points.find((each) => x(each) === size)?.time.median ?? Number.NaN,
  }));
  return [
    Plot.line(line, { x: 'size', y: 'median', stroke: colour, strokeWidth: 1.5, strokeDasharray: dash }),
    Plot.ruleX(points, {
      x,
      y1: (each: Timed) => each.time.p25,
      y2: (each: Timed) => each.time.p75,
      stroke: colour,
      strokeWidth: 7,
      strokeOpacity: 0.35,
    }),
    Plot.dot(points, {
      x,
      y: (each: Timed) => each.time.median,
      symbol: symbol as Plot.SymbolType,
      r: 4,
      fill: colour,
      ariaLabel: label,
      title: label,
    }),
  ];
}

function pointText(look: Appearance, { time, ...measurement }: Timed, axis: Panel['axis']): string {
  const { median, p25, p75, runs } = time;
  const quartiles = `quartiles ${timeText(p25)} to ${timeText(p75)}`;
  return `${look.label}, ${axis} ${numberText(measurement[axis]!)}: ${timeText(median)} (${quartiles}, ${countText(runs, 'run')})`;
}

function fromTo(points: readonly Timed[], axis: Panel['axis']): string {
  const ends = [...new Set([points[0]!, points.at(-1)!])];
  return ends.map((each) => `${timeText(each.time.median)} at ${axis} ${numberText(each[axis]!)}`).join(', ');
}
