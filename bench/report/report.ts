import type { Results } from '../results.ts';
import { benchmarkLines } from './benchmark-lines.ts';
import { type Block, heading, paragraph, tableBlock } from './block.ts';
import type { Chart } from './chart.ts';
import { crossoverTable, suiteTable, untimedTable } from './measurement-tables.ts';
import { countText } from './quantity.ts';
import { repeatCommand } from './repeat-command.ts';
import { absences, contenderTable, limitTable, machineTable } from './run-tables.ts';
import { suiteWords } from './suite-words.ts';
import { summaryTable } from './summary-table.ts';
import { warningsOf } from './warnings.ts';

/** The report of a run, with its pictures. */
export function report(results: Results, charts: readonly Chart[]): Block[] {
  return [...overview(results), ...suiteParts(results, charts), ...comparisons(results), ...appendix(results)];
}

export function reportTitle({ machine, started }: Results): string {
  return `covarium ${machine.covarium} on ${machine.processor}, ${started.slice(0, 10)}`;
}

function overview(results: Results): Block[] {
  const warnings = warningsOf(results);
  const missing = absences(results);
  const { suites } = results.options;
  return [
    heading(1, reportTitle(results)),
    paragraph(
      `${countText(results.measurements.length, 'measurement')} in ${countText(suites.length, 'suite')} (${suites.join(', ')}). ` +
        'Times are wall time of one run; a result was compared before it was timed.',
    ),
    ...(warnings.length > 0 ? [{ kind: 'warnings', items: warnings } as const] : []),
    heading(2, 'In short'),
    paragraph('The fastest in each case at its largest size, and how many times as long the next one takes.'),
    tableBlock(summaryTable(results)),
    heading(2, 'Machine'),
    tableBlock(machineTable(results)),
    heading(2, 'Contenders'),
    tableBlock(contenderTable(results)),
    ...(missing.length > 0 ? [{ kind: 'list', items: missing } as const] : []),
  ];
}

function suiteParts(results: Results, charts: readonly Chart[]): Block[] {
  const suites = [...new Set(results.measurements.map(({ suite }) => suite))];
  return suites.flatMap((suite): Block[] => {
    const own = charts.filter((chart) => chart.suite === suite);
    const about = suiteWords(suite);
    return [
      heading(2, suite),
      ...(about === '' ? [] : [paragraph(about)]),
      ...(own.length > 0 ? [{ kind: 'pictures', charts: own } as const] : []),
      tableBlock(suiteTable(results, suite)),
    ];
  });
}

function comparisons(results: Results): Block[] {
  const crossovers = crossoverTable(results);
  const untimed = untimedTable(results);
  return [
    heading(2, 'Crossovers'),
    ...(crossovers.rows.length > 0
      ? [
          paragraph(
            'From this dimension on the one is faster than the other, by the line between the neighbouring sizes on log axes.',
          ),
          tableBlock(crossovers),
        ]
      : [paragraph('No contender overtakes another within the dimensions that were measured.')]),
    heading(2, 'Wrong, failed, left out'),
    untimed.rows.length > 0 ? tableBlock(untimed) : paragraph('Nothing: every measurement was timed.'),
  ];
}

function appendix(results: Results): Block[] {
  return [
    heading(2, 'Limits'),
    paragraph(
      'The best rates that each device reached in this run. A share of the limit is the time that a case would take at these rates, divided by the ' +
        'time it took; above 100% the rates were measured in a slower moment than the case.',
    ),
    results.limits.length > 0 ? tableBlock(limitTable(results)) : paragraph('None was measured.'),
    heading(2, 'Reading the figures'),
    {
      kind: 'list',
      items: [
        'median, quartiles: of the runs of a case, all rounds together; rounds of the contenders alternate.',
        'margin: half the width of the 95% confidence interval of the mean, relative to the mean.',
        'differs by: the largest difference from the result compared with, relative to its largest entry, and what is allowed. The first device is ' +
          "compared with loops in float64 of the benchmark's own, the others with that device.",
        "differs by, empty: an empty commit or kernel has no result; a peer's own random numbers had their mean and variance looked at.",
        'speed-ups refer to the slowest device that ran all of a suite, each case at the largest size that it and another were timed at.',
        'encode, device, read back: as the device reports them; waiting is what is left of the median.',
      ],
    },
    heading(2, "Go's benchmark format"),
    paragraph(
      'Medians; the last number of a name is that of threads. benchmark.txt has a line for each round, for benchstat.',
    ),
    { kind: 'code', text: benchmarkLines(results), label: 'Benchmark lines' },
    heading(2, 'Repeat'),
    { kind: 'code', text: repeatCommand(results), label: 'The command that repeats this run' },
  ];
}
