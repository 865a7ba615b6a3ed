// Tables of measurements: what was timed, what was not, and which contender overtakes which.
import type { Check, Measurement, Results } from '../results.ts';
import { baseCase } from '../suites/subnormal.ts';
import { answers } from './answer.ts';
import { leadText } from './answer-words.ts';
import type { Table } from './block.ts';
import { fairCrossovers } from './crossings.ts';
import { group } from './group.ts';
import { panelTitle } from './panel.ts';
import { memoryText, numberText, shareText, timesText, timeText } from './quantity.ts';
import { isTimed } from './timed.ts';

const number = (value: number | null) => (value === null ? '' : numberText(value));

/** Every measurement of a suite, with its state where it has no time; the case is named where there are several. */
export function suiteTable({ measurements }: Results, suite: string): Table {
  const figure = (title: string) => ({ title, isFigure: true });
  const own = measurements.filter((each) => each.suite === suite);
  const hasUse = own.some(({ use }) => use !== undefined);
  const hasCases = new Set(own.map((each) => each.case)).size > 1;
  return {
    caption: `Times: ${suite}`,
    columns: [
      { title: 'case' },
      { title: 'dtype' },
      figure('dimension'),
      figure('count'),
      { title: 'contender' },
      figure('median'),
      figure('quartiles'),
      figure('95% margin'),
      figure('runs'),
      figure('share of the limit'),
      figure('relative error'),
      figure('allowed error'),
      ...(hasUse ? [figure('peak memory'), figure('longest hold')] : []),
    ],
    rows: own.map((each) => [...row(hasCases ? each : { ...each, case: '' }), ...(hasUse ? useTexts(each) : [])]),
  };
}

function row(measurement: Measurement): string[] {
  const { case: name, dtype, dimension, count, contender, state, check, shareOfLimit } = measurement;
  const where = [name, dtype ?? '', number(dimension), number(count), contender];
  const errors = check === null ? ['', ''] : errorTexts(check);
  if (!isTimed(measurement)) return [...where, state, '', '', '', '', ...errors];
  const { median, p25, p75, relativeMargin, runs } = measurement.time;
  return [
    ...where,
    timeText(median),
    `${timeText(p25)} to ${timeText(p75)}`,
    `±${shareText(relativeMargin)}`,
    numberText(runs),
    shareOfLimit === null ? '' : shareText(shareOfLimit),
    ...errors,
  ];
}

/** Memory of one run, and how long it holds the event loop, where they are known. */
export function useTexts({ use }: Measurement): [memory: string, hold: string] {
  const { peakMemory = null, longestHold = null } = use ?? {};
  return [peakMemory === null ? '' : memoryText(peakMemory), longestHold === null ? '' : timeText(longestHold)];
}

/** The error and the largest that is allowed, relative to the largest entry. */
function errorTexts({ error, tolerance }: Check): [error: string, allowed: string] {
  const short = (value: number) =>
    value < 0.001 && value > 0 ? value.toExponential(1) : `${Number(value.toPrecision(2))}`;
  return [short(error), tolerance === 0 ? '0 (same bits)' : short(tolerance)];
}

/** The measurements without a time, with the reason. */
export function untimedTable({ measurements }: Results): Table {
  return {
    caption: 'What was not timed',
    columns: [
      { title: 'suite' },
      { title: 'case' },
      { title: 'dtype' },
      { title: 'dimension', isFigure: true },
      { title: 'count', isFigure: true },
      { title: 'contender' },
      { title: 'state' },
      { title: 'reason' },
    ],
    rows: measurements
      .filter((each) => !isTimed(each))
      .map(({ suite, case: name, dtype, dimension, count, contender, state, reason, check }) => {
        const [error, allowed] = check === null ? [] : errorTexts(check);
        const figures =
          check === null ? '' : ` Its error relative to ${check.against} is ${error}, where ${allowed} is allowed.`;
        return [suite, name, dtype ?? '', number(dimension), number(count), contender, state, `${reason}${figures}`];
      }),
  };
}

/** One row per case: our fastest device and its fastest rival at the largest size that both were timed at. */
export function answerTable(results: Results): Table {
  const figure = (title: string) => ({ title, isFigure: true });
  return {
    caption: 'Our fastest device against its fastest rival, case by case',
    columns: [
      { title: 'case' },
      { title: 'size' },
      { title: 'device' },
      figure('time of the device'),
      { title: 'fastest rival' },
      figure('time of the rival'),
      figure('times as fast'),
      figure('99% interval'),
      { title: 'the device' },
    ],
    rows: answers(results).map((answer) => {
      const { panel, size, leader, rival } = answer;
      const { interval } = rival;
      return [
        panelTitle(panel),
        size === null ? '' : `${panel.axis} ${numberText(size)}`,
        leader.contender,
        timeText(leader.time.median),
        rival.other.contender,
        timeText(rival.other.time.median),
        timesText(rival.ratio),
        interval === undefined ? 'too few rounds' : `${timesText(interval.low)} to ${timesText(interval.high)}`,
        size === null ? '' : leadText(answer),
      ];
    }),
  };
}

/**
 * One row per case and size: the fastest device beside the fastest peer, the device that is furthest behind first.
 */
export function ratioTable(results: Results, suite: string): Table {
  const figure = (title: string) => ({ title, isFigure: true });
  const isPeer = new Set(results.contenders.filter(({ kind }) => kind === 'peer').map(({ name }) => name));
  const timed = results.measurements.filter((each) => each.suite === suite).filter(isTimed);
  const cases = group(timed, ({ case: name, dtype, dimension, count }) =>
    JSON.stringify([name, dtype, dimension, count]),
  );
  const rows = cases.flatMap((own) => {
    const sorted = own.toSorted((a, b) => a.time.median - b.time.median);
    const device = sorted.find(({ contender }) => !isPeer.has(contender));
    const peer = sorted.find(({ contender }) => isPeer.has(contender));
    if (device === undefined || peer === undefined) return [];
    return [{ device, peer, ratio: device.time.median / peer.time.median }];
  });
  return {
    caption: `Beside the fastest peer: ${suite}`,
    columns: [
      ...[{ title: 'case' }, { title: 'dtype' }, figure('dimension'), figure('count')],
      ...[{ title: 'device' }, figure('time of the device')],
      ...[{ title: 'peer' }, figure('time of the peer'), figure('device / peer')],
    ],
    rows: rows
      .sort((a, b) => b.ratio - a.ratio)
      .map(({ device, peer, ratio }) => [
        ...[device.case, device.dtype ?? '', number(device.dimension), number(device.count)],
        ...[device.contender, timeText(device.time.median), peer.contender, timeText(peer.time.median)],
        timesText(ratio),
      ]),
  };
}

/** One row per case, size and contender: its time with subnormal entries beside that without. */
export function subnormalTable(results: Results): Table {
  const figure = (title: string) => ({ title, isFigure: true });
  const timed = results.measurements.filter(({ suite }) => suite === 'subnormal').filter(isTimed);
  const pairs = group(timed, ({ case: name, dtype, dimension, count, contender }) =>
    JSON.stringify([baseCase(name), dtype, dimension, count, contender]),
  );
  return {
    caption: 'Beside the same case without subnormal entries',
    columns: [
      ...[{ title: 'case' }, { title: 'dtype' }, figure('dimension'), figure('count'), { title: 'contender' }],
      ...[figure('without'), figure('with'), figure('with / without')],
    ],
    rows: pairs.flatMap((pair) => {
      const without = pair.find((each) => each.case === baseCase(each.case));
      const subnormal = pair.find((each) => each.case !== baseCase(each.case));
      if (without === undefined || subnormal === undefined) return [];
      const { case: name, dtype, dimension, count, contender } = without;
      return [
        [
          ...[name, dtype ?? '', number(dimension), number(count), contender],
          ...[timeText(without.time.median), timeText(subnormal.time.median)],
          timesText(subnormal.time.median / without.time.median),
        ],
      ];
    }),
  };
}

export function crossoverTable(results: Results): Table {
  return {
    caption: 'Where one contender overtakes another',
    columns: [
      { title: 'suite' },
      { title: 'case' },
      { title: 'dtype' },
      { title: 'count', isFigure: true },
      { title: 'faster' },
      { title: 'than' },
      { title: 'from dimension', isFigure: true },
    ],
    rows: fairCrossovers(results).map(({ suite, case: name, dtype, count, faster, slower, dimension }) => [
      suite,
      name,
      dtype ?? '',
      number(count),
      faster,
      slower,
      numberText(Math.round(dimension)),
    ]),
  };
}
