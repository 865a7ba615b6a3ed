import type { Results } from '../results.ts';
import { speedy } from './appearance.ts';
import type { Table } from './block.ts';
import { panels, panelTitle, sizesOf } from './panel.ts';
import { numberText, ratioText, timeText } from './quantity.ts';
import { isTimed } from './timed.ts';

/** Who is fastest in each case at its largest size, and how far ahead. */
export function summaryTable(results: Results): Table {
  const fair = speedy(results);
  const timed = results.measurements.filter(isTimed).filter(({ contender }) => fair.has(contender));
  const rows = panels({ ...results, measurements: timed }).map((panel) => {
    const size = sizesOf(panel).at(-1) ?? null;
    const ranking = panel.measurements
      .filter(isTimed)
      .filter((each) => each[panel.axis] === size)
      .sort((a, b) => a.time.median - b.time.median);
    const [first, second] = [ranking[0]!, ranking[1]];
    return [
      panelTitle(panel),
      size === null ? '' : `${panel.axis} ${numberText(size)}`,
      first.contender,
      timeText(first.time.median),
      second?.contender ?? '',
      second === undefined ? '' : ratioText(second.time.median / first.time.median),
    ];
  });
  return {
    caption: 'The fastest in each case at its largest size',
    columns: [
      { title: 'case' },
      { title: 'size' },
      { title: 'fastest' },
      { title: 'median', isFigure: true },
      { title: 'next' },
      { title: 'takes', isFigure: true },
    ],
    rows,
  };
}
