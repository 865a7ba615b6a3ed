// A comparison as words and tables, independent of the output: the terminal, Markdown and HTML show the same one.
import { type Compared, type Comparison, type Key, type Row, slowerThan, type Verdict } from '../compare.ts';
import { falseAlarms } from '../ratio-interval.ts';
import { type Block, type Cell, heading, paragraph, type Table, type Tone } from '../report/block.ts';
import { timeText } from '../report/quantity.ts';
import { ratioText } from './ratio-text.ts';

interface Section {
  readonly heading: string;
  readonly paragraph: string;
  readonly table: Omit<Table, 'caption'> | null;
}

const plain = (text: string): Cell => ({ text, tone: 'plain' });
const quiet = (text: string): Cell => ({ text, tone: 'quiet' });
const word = (title: string) => ({ title, isFigure: false });
const figure = (title: string) => ({ title, isFigure: true });
const size = (value: number | null) => plain(value === null ? '' : `${value}`);

const tones: Readonly<Record<Verdict, Tone>> = {
  faster: 'good',
  slower: 'bad',
  'within the noise': 'quiet',
  undecided: 'quiet',
  'no measure of speed': 'quiet',
};

export const comparisonTitle = 'Benchmarks compared';

/** Cases slower by more than the ratio `failOver` have their own section; undefined: there is no such section. */
export function comparisonDocument(comparison: Comparison, failOver: number | undefined): Block[] {
  const suites = [...new Set(comparison.rows.map(({ key }) => key.suite))];
  const sections = [
    runs(comparison),
    ...suites.map((suite) => ({
      heading: suite,
      paragraph: '',
      table: rowTable(
        comparison,
        comparison.rows.filter(({ key }) => key.suite === suite),
      ),
    })),
    summary(comparison),
    ...(failOver === undefined ? [] : [overLimit(comparison, failOver)]),
    ...missing(comparison),
    ...differences(comparison),
  ];
  return [heading(1, comparisonTitle), ...sections.flatMap(blocksOf)];
}

function blocksOf({ heading: title, paragraph: text, table }: Section): Block[] {
  return [
    heading(2, title),
    ...(text === '' ? [] : [paragraph(text)]),
    ...(table === null ? [] : [{ kind: 'table', table: { caption: title, ...table } } as const]),
  ];
}

function runs({ runs, sides }: Comparison): Section {
  const base = sides[0]!.label;
  const percent = 100 * (1 - falseAlarms);
  return {
    heading: 'What is compared',
    paragraph:
      `A ratio is a median time to that of ${base}: above 1 is slower. Behind it is its interval, at ${percent}%; ` +
      'a difference is called faster or slower only where 1 lies outside.',
    table: {
      columns: ['run', 'results', 'processor', 'covarium', 'commit', 'begun'].map(word),
      rows: runs.map(({ letter, label, results: { machine, started, partial } }) => [
        plain(letter),
        plain(`${label}${partial ? ' (interrupted: not all was measured)' : ''}`),
        ...[machine.processor, machine.covarium, machine.commit, started].map(plain),
      ]),
    },
  };
}

function rowTable({ sides }: Comparison, rows: readonly Row[]): Section['table'] {
  const [base, ...others] = sides.map(({ label }) => label);
  const hasContender = rows.some(({ key }) => key.contender !== null);
  return {
    columns: [
      word('case'),
      word('dtype'),
      figure('D'),
      figure('N'),
      ...(hasContender ? [word('contender')] : []),
      figure(base!),
      ...others.flatMap((label) => [figure(label), figure(`${label} / ${base}`), word('interval'), word('verdict')]),
    ],
    rows: rows.map(({ key, median, others }) => [
      plain(key.case),
      plain(key.dtype ?? ''),
      size(key.dimension),
      size(key.count),
      ...(hasContender ? [plain(key.contender ?? '')] : []),
      plain(timeText(median)),
      ...others.flatMap(comparedCells),
    ]),
  };
}

function comparedCells(other: Compared | null): Cell[] {
  if (other === null) return [quiet('-'), quiet('-'), quiet(''), quiet('')];
  const { median, ratio, interval, verdict } = other;
  const tone = tones[verdict];
  return [
    plain(timeText(median)),
    { text: ratioText(ratio), tone },
    quiet(interval === null ? '' : `${ratioText(interval.low)} to ${ratioText(interval.high)}`),
    { text: verdict, tone },
  ];
}

function summary({ sides, rows }: Comparison): Section {
  const [base, ...others] = sides.map(({ label }) => label);
  const lines = others.map((label, i) => {
    const verdicts = rows.map((row) => row.others[i]?.verdict);
    const counts = (Object.keys(tones) as Verdict[])
      .map((verdict) => [verdicts.filter((each) => each === verdict).length, verdict] as const)
      .filter(([count]) => count > 0);
    if (counts.length === 0) return `${label} and ${base} were timed in no case together.`;
    return `${label} against ${base}: ${counts.map(([count, verdict]) => `${count} ${verdict}`).join(', ')}.`;
  });
  const undecided = rows.some(({ others }) => others.some((other) => other?.verdict === 'undecided'));
  const advice = "Undecided: too few rounds (five and five are enough), or times that the clock can't tell from 0.";
  return { heading: 'Summary', paragraph: [...lines, ...(undecided ? [advice] : [])].join(' '), table: null };
}

function overLimit(comparison: Comparison, failOver: number): Section {
  const rows = slowerThan(comparison, failOver);
  const heading = `Slower by more than ${failOver}, beyond the noise`;
  if (rows.length === 0) return { heading, paragraph: 'None.', table: null };
  const suites = rows.map(({ key, ...row }) => ({ ...row, key: { ...key, case: `${key.suite}: ${key.case}` } }));
  return { heading, paragraph: '', table: rowTable(comparison, suites) };
}

function missing({ missing }: Comparison): Section[] {
  const groups = new Map<string, { cells: string[]; sizes: string[] }>();
  for (const { key, side, why } of missing) {
    const cells = [side, `${key.suite}: ${key.case}`, key.dtype ?? '', key.contender ?? '', why];
    const id = JSON.stringify(cells);
    const group = groups.get(id) ?? { cells, sizes: [] };
    groups.set(id, { cells, sizes: [...group.sizes, sizeText(key)] });
  }
  if (groups.size === 0) return [];
  const rows = [...groups.values()].map(({ cells: [side, name, dtype, contender, why], sizes }) =>
    [side!, name!, dtype!, contender!, sizes.filter((each) => each !== '').join('; '), why!].map(plain),
  );
  const columns = ['without', 'case', 'dtype', 'contender', 'sizes', 'why'].map(word);
  return [{ heading: 'Timed by one side only', paragraph: '', table: { columns, rows } }];
}

function sizeText({ dimension, count }: Key): string {
  return [dimension === null ? '' : `D = ${dimension}`, count === null ? '' : `N = ${count}`]
    .filter(Boolean)
    .join(', ');
}

function differences({ runs, differences }: Comparison): Section[] {
  if (runs.length < 2) return [];
  const heading = 'What differs between the runs';
  if (differences.length === 0) return [{ heading, paragraph: 'Nothing that the files tell.', table: null }];
  const columns = ['', ...runs.map(({ letter }) => letter)].map(word);
  const rows = differences.map(({ fact, values }) => [fact, ...values].map(plain));
  return [{ heading, paragraph: '', table: { columns, rows } }];
}
