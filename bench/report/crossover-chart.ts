import { Plot } from '../../lib/plot/library.ts';
import type { Crossover } from '../crossover.ts';
import { crossovers } from '../crossover.ts';
import type { Results } from '../results.ts';
import { type Appearance, speedy } from './appearance.ts';
import { type Chart, chartName, chartWidth } from './chart.ts';
import { group } from './group.ts';
import { header } from './header.ts';
import { axisBelow, logScale, sizeAxis } from './log-axis.ts';
import { caseTitle, panelTitle } from './panel.ts';
import { numberText } from './quantity.ts';
import { rowLayout } from './rows.ts';
import { isTimed } from './timed.ts';

/** Crossovers that say something: between contenders that measure speed, one of them at least a device of ours. */
export function fairCrossovers(results: Results): Crossover[] {
  const fair = speedy(results);
  const devices = new Set(results.contenders.filter(({ kind }) => kind === 'device').map(({ name }) => name));
  return crossovers(results).filter(
    ({ slower, faster }) => fair.has(slower) && fair.has(faster) && (devices.has(slower) || devices.has(faster)),
  );
}

interface Meeting extends Crossover {
  readonly before: Appearance;
  readonly after: Appearance;
  readonly text: string;
}

/**
 * Where one contender overtakes another in a suite: who leads in a pair, left and right of the dimension where they
 * meet.
 */
export function crossoverChart(results: Results, suite: string, looks: readonly Appearance[]): Chart | undefined {
  const lookOf = (name: string) => looks.find(({ contender }) => contender === name)!;
  const ours = fairCrossovers(results).filter((each) => each.suite === suite);
  if (ours.length === 0) return undefined;
  const groups = group(ours, (each) => JSON.stringify([each.case, each.count])).map((members) => ({
    title: caseTitle(members[0]!),
    rows: members.map((each) => {
      const label = `${each.faster} over ${each.slower}`;
      const text = `${panelTitle(each)}: ${each.faster} overtakes ${each.slower} at dimension ${numberText(Math.round(each.dimension))}`;
      return { label, item: { ...each, text, before: lookOf(each.slower), after: lookOf(each.faster) } };
    }),
  }));
  const { items, y, height, marginLeft, marks } = rowLayout<Meeting>(groups);
  const top = header({ title: suite, subtitle: 'dimension from which one is faster than the other' }, marginLeft);
  const timed = results.measurements.filter(isTimed).filter((each) => each.suite === suite);
  const sizes = [...new Set(timed.flatMap(({ dimension }) => dimension ?? []))].sort((a, b) => a - b);
  const x = sizeAxis(sizes, chartWidth - marginLeft - 56);
  const lead = (side: 'before' | 'after') =>
    items.map((item) =>
      Plot.ruleY([item], {
        x1: side === 'before' ? () => sizes[0]! : 'dimension',
        x2: side === 'before' ? 'dimension' : () => sizes.at(-1)!,
        y: 'row',
        stroke: item[side].colour,
        strokeWidth: 2,
        strokeDasharray: item[side].dash,
      }),
    );
  return {
    name: chartName('crossover', suite),
    suite,
    options: {
      label: `Where one overtakes another: ${suite}`,
      description: items.map(({ text }) => `${text}.`).join(' '),
      width: chartWidth,
      height: top.height + height + 48,
      marginTop: top.height,
      marginLeft,
      marginRight: 56,
      marginBottom: 48,
      style: { fontSize: '12px' },
      x: logScale(x),
      y,
      marks: [
        ...top.marks,
        ...axisBelow(x, numberText, 'dimension →', true),
        ...marks,
        ...lead('before'),
        ...lead('after'),
        ...items.map((item) =>
          Plot.dot([item], {
            x: 'dimension',
            y: 'row',
            symbol: item.after.symbol as Plot.SymbolType,
            r: 5,
            fill: item.after.colour,
            stroke: 'var(--ground)',
            ariaLabel: 'text',
            title: 'text',
          }),
        ),
        Plot.text(items, {
          y: 'row',
          text: ({ dimension }: Crossover) => numberText(Math.round(dimension)),
          frameAnchor: 'right',
          textAnchor: 'start',
          dx: 8,
        }),
      ],
    },
  };
}
