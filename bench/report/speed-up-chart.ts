import { Plot } from '../../lib/plot/library.ts';
import type { Results } from '../results.ts';
import { type Appearance, speedy } from './appearance.ts';
import { baseContender } from './base-contender.ts';
import { type Chart, chartName, chartWidth } from './chart.ts';
import { header } from './header.ts';
import { axisBelow, logAxis, logScale } from './log-axis.ts';
import { caseTitle, type Panel, panels, sizesOf } from './panel.ts';
import { numberText, ratioText, sizeText, timeText } from './quantity.ts';
import { type RowGroup, rowLayout } from './rows.ts';
import { isTimed } from './timed.ts';

/** How many times as fast as the base a contender is. */
interface SpeedUp {
  readonly look: Appearance;
  readonly ratio: number;
  readonly text: string;
}

/**
 * A suite's speed-ups over its base contender, each case at the largest size that the base and another were timed at.
 */
export function speedUpChart(results: Results, suite: string, looks: readonly Appearance[]): Chart | undefined {
  const base = baseContender(results, suite);
  if (base === undefined) return undefined;
  const fair = looks.filter(({ contender }) => speedy(results).has(contender));
  const groups = panels(results)
    .filter((panel) => panel.suite === suite)
    .map((panel) => speedUps(panel, base, fair))
    .filter(({ rows }) => rows.length > 1);
  if (groups.length === 0) return undefined;
  const { items, y, height, marginLeft, marks } = rowLayout(groups);
  const top = header({ title: suite, subtitle: `how many times as fast as ${base}` }, marginLeft);
  const x = logAxis([1, ...items.map(({ ratio }) => ratio)]);
  return {
    name: chartName('speed-up', suite),
    suite,
    options: {
      label: `Speed-up over ${base}: ${suite}`,
      description: items.map(({ text }) => `${text}.`).join(' '),
      width: chartWidth,
      height: top.height + height + 48,
      marginTop: top.height,
      marginLeft,
      marginRight: 66,
      marginBottom: 48,
      style: { fontSize: '12px' },
      x: logScale(x),
      y,
      marks: [
        ...top.marks,
        ...axisBelow(x, ratioText, `times as fast as ${base} →`, true),
        Plot.barX(items, {
          x1: () => 1,
          x2: 'ratio',
          y: 'row',
          fill: ({ look }: SpeedUp) => look.colour,
          ariaLabel: 'text',
          title: 'text',
        }),
        Plot.ruleX([1], { stroke: 'currentColor' }),
        ...marks,
        Plot.text(items, {
          x: ({ ratio }: SpeedUp) => Math.max(1, ratio),
          y: 'row',
          text: ({ ratio }: SpeedUp) => ratioText(ratio),
          textAnchor: 'start',
          dx: 5,
        }),
      ],
    },
  };
}

function speedUps(panel: Panel, base: string, looks: readonly Appearance[]): RowGroup<SpeedUp> {
  const timed = panel.measurements
    .filter(isTimed)
    .filter(({ contender }) => looks.some((look) => look.contender === contender));
  const at = (size: number | null) => timed.filter((each) => each[panel.axis] === size);
  const isShared = (size: number) => at(size).length > 1 && at(size).some(({ contender }) => contender === base);
  const largest = sizesOf(panel).filter(isShared).at(-1) ?? null;
  const there = at(largest);
  const baseTime = there.find(({ contender }) => contender === base)?.time.median;
  const size = largest === null ? '' : `, ${panel.axis} ${numberText(largest)}`;
  const title = `${caseTitle(panel)}${size}`;
  if (baseTime === undefined) return { title, rows: [] };
  const rows = there.map(({ contender, time, ...each }) => {
    const look = looks.find((look) => look.contender === contender)!;
    const ratio = baseTime / time.median;
    const where = [each.case, sizeText(each)].filter((part) => part !== '').join(', ');
    const text = `${look.label}, ${where}: ${ratioText(ratio)} as fast as ${base} (${timeText(time.median)} against ${timeText(baseTime)})`;
    return { label: look.label, item: { look, ratio, text } };
  });
  return { title, rows: rows.sort((a, b) => b.item.ratio - a.item.ratio) };
}
