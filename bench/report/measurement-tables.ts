// Tables of measurements: what was timed, what was not, and who overtakes whom.
import type { Check, Measurement, Results } from '../results.ts';
import type { Table } from './block.ts';
import { fairCrossovers } from './crossover-chart.ts';
import { numberText, shareText, timeText } from './quantity.ts';
import { isTimed } from './timed.ts';

const number = (value: number | null) => (value === null ? '' : numberText(value));

/** Every measurement of a suite; one without a time says why. */
export function suiteTable({ measurements }: Results, suite: string): Table {
  const figure = (title: string) => ({ title, isFigure: true });
  return {
    caption: `Times: ${suite}`,
    columns: [
      { title: 'case' },
      figure('dimension'),
      figure('count'),
      { title: 'contender' },
      figure('median'),
      figure('quartiles'),
      figure('margin'),
      figure('runs'),
      figure('of the limit'),
      figure('differs by'),
    ],
    rows: measurements.filter((each) => each.suite === suite).map(row),
  };
}

function row(measurement: Measurement): string[] {
  const { case: name, dimension, count, contender, state, check, shareOfLimit } = measurement;
  const where = [name, number(dimension), number(count), contender];
  const difference = check === null ? '' : checkText(check);
  if (!isTimed(measurement)) return [...where, state, '', '', '', '', difference];
  const { median, p25, p75, relativeMargin, runs } = measurement.time;
  return [
    ...where,
    timeText(median),
    `${timeText(p25)} to ${timeText(p75)}`,
    `±${shareText(relativeMargin)}`,
    numberText(runs),
    shareOfLimit === null ? '' : shareText(shareOfLimit),
    difference,
  ];
}

function checkText({ error, tolerance }: Check): string {
  const short = (value: number) =>
    value < 0.001 && value > 0 ? value.toExponential(1) : `${Number(value.toPrecision(2))}`;
  if (tolerance === 0) return error === 0 ? 'same bits' : `${short(error)}, 0 allowed`;
  return `${short(error)} of ${short(tolerance)}`;
}

/** What has no time, with the reason. */
export function untimedTable({ measurements }: Results): Table {
  return {
    caption: 'What was not timed',
    columns: [
      { title: 'suite' },
      { title: 'case' },
      { title: 'dimension', isFigure: true },
      { title: 'count', isFigure: true },
      { title: 'contender' },
      { title: 'state' },
      { title: 'reason' },
    ],
    rows: measurements
      .filter((each) => !isTimed(each))
      .map(({ suite, case: name, dimension, count, contender, state, reason, check }) => {
        const figures = check === null ? '' : ` It differs from ${check.against} by ${checkText(check)}.`;
        return [suite, name, number(dimension), number(count), contender, state, `${reason}${figures}`];
      }),
  };
}

export function crossoverTable(results: Results): Table {
  return {
    caption: 'Where one contender overtakes another',
    columns: [
      { title: 'suite' },
      { title: 'case' },
      { title: 'count', isFigure: true },
      { title: 'faster' },
      { title: 'than' },
      { title: 'from dimension', isFigure: true },
    ],
    rows: fairCrossovers(results).map(({ suite, case: name, count, faster, slower, dimension }) => [
      suite,
      name,
      number(count),
      faster,
      slower,
      numberText(Math.round(dimension)),
    ]),
  };
}
