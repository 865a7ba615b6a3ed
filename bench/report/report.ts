import type { Results } from '../results.ts';
import { type Answer, answers, verdictOf } from './answer.ts';
import { detailSentences, headline, leadText, rangeText } from './answer-words.ts';
import { benchmarkLines } from './benchmark-lines.ts';
import { type Block, fold, heading, paragraph, quiet, type Tile, tableBlock } from './block.ts';
import { type Chart, chartName } from './chart.ts';
import { fairCrossovers } from './crossings.ts';
import { group } from './group.ts';
import {
  answerTable,
  crossoverTable,
  ratioTable,
  subnormalTable,
  suiteTable,
  untimedTable,
} from './measurement-tables.ts';
import { reportTitle } from './page-title.ts';
import { caseTitle, isListed, type Panel, panels, panelTitle } from './panel.ts';
import { countText, numberText, ratioText } from './quantity.ts';
import { repeatCommand } from './repeat-command.ts';
import { absences, contenderTable, limitTable, machineTable } from './run-tables.ts';
import { suiteWords } from './suite-words.ts';
import { isTimed } from './timed.ts';
import { warningsOf } from './warnings.ts';

/**
 * The report of a run, with its pictures: the answer first, then one part per suite, then method and data, folded
 * away.
 */
export function report(results: Results, charts: readonly Chart[]): Block[] {
  const all = panels(results);
  const suites = [...new Set(all.map(({ suite }) => suite))];
  const found = answers(results);
  const answersOf = (suite: string) => found.filter(({ panel }) => panel.suite === suite);
  const tiles = suites.flatMap((suite) => tilesOf(suite, suiteId(suites, suite), answersOf(suite)));
  return [
    ...overview(results),
    ...(tiles.length > 1 ? [{ kind: 'tiles', tiles } as const] : []),
    ...suites.flatMap((suite) => {
      const own = all.filter((panel) => panel.suite === suite);
      return suitePart(results, suite, suiteId(suites, suite), own, answersOf(suite), charts);
    }),
    ...methodAndData(results),
  ];
}

/** The `id` of a suite's heading. The index keeps it unique if the names of later suites have the same letters. */
function suiteId(suites: readonly string[], suite: string): string {
  return chartName('suite', suites.indexOf(suite) + 1, suite);
}

function overview(results: Results): Block[] {
  const { machine, contenders, measurements } = results;
  const timed = measurements.filter(isTimed).length;
  const missing = contenders.filter(({ available }) => !available).map(({ name }) => name);
  const title = headline(results);
  const facts = [
    title === reportTitle(results) ? '' : `${reportTitle(results)}, ${countText(machine.processors, 'processor')}.`,
    `${numberText(timed)} of ${countText(measurements.length, 'measurement')} timed; each result was compared before it was timed.`,
    missing.length === 0 ? '' : `Not on this machine: ${missing.join(', ')}.`,
  ];
  const warnings = warningsOf(results);
  return [
    heading(1, title),
    quiet(facts.filter((each) => each !== '').join(' ')),
    ...(warnings.length > 0 ? [{ kind: 'warnings', items: warnings } as const] : []),
  ];
}

/** One for each dtype in which the suite compares something. */
function tilesOf(suite: string, target: string, own: readonly Answer[]): Tile[] {
  const groups = group(own, ({ panel }) => `${panel.dtype}`);
  return groups.map((answers) => {
    const { dtype } = answers[0]!.panel;
    return tileOf(groups.length === 1 ? suite : `${suite}, ${dtype}`, target, answers);
  });
}

function tileOf(title: string, target: string, own: readonly Answer[]): Tile {
  const first = own[0]!;
  const device = [...new Set(own.map(({ leader }) => leader.contender))].join(' or ');
  const verdicts = [...new Set(own.map(({ rival }) => verdictOf(rival)))];
  const [verdict] = verdicts;
  const base = { title, target };
  if (own.length > 1)
    return {
      ...base,
      figure: `${rangeText(own.map(({ rival }) => rival.ratio))}×`,
      text: `as fast as the ${first.againstPeers ? 'fastest rival' : 'next device'} in ${own.length} cases: ${device}`,
      tone: verdicts.length > 1 ? 'plain' : tones[verdict!],
    };
  const { panel, size, rival } = first;
  const where = size === null ? '' : ` at ${panel.axis} ${numberText(size)}`;
  const lead =
    verdict === 'level' ? 'no difference beyond the noise' : size === null ? '' : `${device} ${leadText(first)}`;
  return {
    ...base,
    figure: ratioText(rival.ratio),
    text: `as fast as ${rival.other.contender}${where}${lead === '' ? '' : `; ${lead}`}`,
    tone: tones[verdict!],
  };
}

const tones = { faster: 'good', slower: 'bad', level: 'plain' } as const;

function suitePart(
  results: Results,
  suite: string,
  id: string,
  own: readonly Panel[],
  found: readonly Answer[],
  charts: readonly Chart[],
): Block[] {
  const crossings = fairCrossovers(results);
  const [only] = own;
  const about = suiteWords(suite);
  const isAlone = own.length === 1;
  const intro = about === '' ? [] : [quiet(about)];
  const ratios = suite === 'subnormal' ? subnormalTable(results) : ratioTable(results, suite);
  const rows = (isListed(suite) ? [] : own).flatMap((panel): Block[] => {
    const answer = found.find((each) => isSame(each.panel, panel));
    const met = crossings.filter((each) => isSame(each, panel));
    const sentences = answer === undefined ? [] : detailSentences(answer, met);
    const text = [...(isAlone ? intro : [heading(3, caseTitle(panel))]), ...sentences.map(paragraph)];
    const shown = charts.filter((chart) => isSame(chart.panel, panel) && chart.kind !== 'split');
    return [{ kind: 'pictures', text, charts: shown }];
  });
  const splits = charts.filter((chart) => chart.kind === 'split' && own.some((panel) => isSame(chart.panel, panel)));
  const table = suiteTable(results, suite);
  return [
    heading(2, isAlone ? panelTitle(only!) : suite, id),
    ...(isAlone ? [] : intro),
    ...(isListed(suite) && ratios.rows.length > 0 ? [tableBlock(ratios)] : []),
    ...rows,
    ...(splits.length > 0 ? [fold('What is the time spent on?', { kind: 'pictures', text: [], charts: splits })] : []),
    fold(`All ${numberText(table.rows.length)} times`, tableBlock(table)),
  ];
}

type CaseKey = Pick<Panel, 'suite' | 'case' | 'dtype' | 'count'>;

function isSame(one: CaseKey, other: CaseKey): boolean {
  return (['suite', 'case', 'dtype', 'count'] as const).every((key) => one[key] === other[key]);
}

function methodAndData(results: Results): Block[] {
  const crossovers = crossoverTable(results);
  const untimed = untimedTable(results);
  const missing = absences(results);
  const compared = answerTable(results);
  return [
    heading(2, 'Method and data', 'method-and-data'),
    ...(compared.rows.length > 0 ? [fold('Case by case: device against fastest rival', tableBlock(compared))] : []),
    ...(crossovers.rows.length > 0
      ? [
          fold(
            'Crossovers: from which dimension on one is faster than another',
            paragraph('By the line between the neighbouring sizes, on log axes.'),
            tableBlock(crossovers),
          ),
        ]
      : []),
    ...(untimed.rows.length > 0
      ? [fold(`Wrong, failed, left out: ${countText(untimed.rows.length, 'measurement')}`, tableBlock(untimed))]
      : []),
    fold(
      'Machine and contenders',
      tableBlock(machineTable(results)),
      tableBlock(contenderTable(results)),
      ...(missing.length > 0 ? [{ kind: 'list', items: missing } as const] : []),
    ),
    fold(
      'Limits of the devices',
      paragraph(
        'The best rates that each device reached in this run. A share of the limit is the time that a case would take at these rates, ' +
          'divided by the time it took; above 100% the rates were measured in a slower moment than the case.',
      ),
      results.limits.length > 0 ? tableBlock(limitTable(results)) : paragraph('None was measured.'),
    ),
    fold('How to read the figures', { kind: 'list', items: explanations }),
    fold(
      "Go's benchmark format",
      paragraph(
        'Medians; the last number of a name is that of threads. benchmark.txt has a line for each round, for benchstat.',
      ),
      { kind: 'code', text: benchmarkLines(results), label: 'Benchmark lines' },
    ),
    paragraph('This command repeats the run:'),
    { kind: 'code', text: repeatCommand(results), label: 'The command that repeats this run', wraps: true },
  ];
}

const explanations = [
  'Times are wall time of one run, in this process or in that of the peer.',
  'times as fast: the median time of the other one divided by that of the device, at the largest size that both were timed at. A rival is a peer; ' +
    'where no peer was timed, another device.',
  '99% interval: the ratios that the rounds do not rule out (exact Mann-Whitney test), widened to the quartiles. A device is called faster ' +
    'where all of it lies above 1, and level where it holds 1.',
  'median, quartiles: of the runs of a case, all rounds together; rounds of the contenders alternate.',
  '95% margin: half the width of the 95% confidence interval of the mean, relative to the mean.',
  'relative error: the largest difference from the result compared with, divided by that result’s largest entry. The first device is ' +
    "compared with loops in float64 of the benchmark's own, the others with that device.",
  "relative error, empty: an empty commit or kernel has no result; a peer's own random numbers had their mean and variance checked.",
  'encode, device, read back: as the device reports them; waiting is what is left of the median.',
];
