import { parseHTML } from 'linkedom';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { compare, type Row, slowerThan, type Verdict } from '../../bench/compare.ts';
import { comparisonDocument, comparisonTitle } from '../../bench/comparison/document.ts';
import { ratioText } from '../../bench/comparison/ratio-text.ts';
import { terminalText } from '../../bench/comparison/terminal.ts';
import { html as htmlText } from '../../bench/report/html.ts';
import { markdown as markdownText } from '../../bench/report/markdown.ts';
import { pageScript } from '../../bench/report/page-script.ts';
import type { Measurement, Results } from '../../bench/results.ts';
import { throwsCode } from '../harness/throws-code.ts';
import { contender, machine, measurement, results, time, untimed } from './some-results.ts';

const run = (label: string, measurements: readonly Measurement[], fields: Partial<Results> = {}) => ({
  label,
  results: results({ limits: [], measurements, ...fields }),
});
const at = (dimension: number, median: number, fields: Partial<Measurement> = {}) =>
  measurement({ dimension, time: time(median), ...fields });
const verdicts = (rows: readonly Row[]): (Verdict | undefined)[] =>
  rows.flatMap((row) => row.others.map((other) => other?.verdict));

const before = run('a', [at(1, 100), at(2, 100), at(3, 100), at(4, 100, { contender: 'reference' }), at(9, 100)]);
const after = run('b', [
  at(3, 100.5),
  at(2, 50),
  at(1, 150),
  at(4, 109, { contender: 'reference' }),
  at(4, 100),
  untimed('failed', 'It fails.', { dimension: 9 }),
]);
const comparison = compare([before, after]);

test('Measurements are matched by suite, case, dtype, dimension, count and contender, in any order.', () => {
  const { rows, sides } = comparison;
  assert.equal(
    sides.map(({ label }) => label),
    ['A', 'B'],
  );
  assert.equal(
    rows.map(({ key, others }) => [key.dimension, key.contender, others[0]!.ratio]),
    [
      [1, 'cpu', 1.5],
      [2, 'cpu', 0.5],
      [3, 'cpu', 1.005],
      [4, 'reference', 1.09],
    ],
  );
  assert.equal(verdicts(rows), ['slower', 'faster', 'within the noise', 'slower']);
  const one = { count: 1, suite: 'sampling', case: 'kept' };
  const base = run('a', [at(1, 1, one), at(1, 2, { ...one, count: 2 }), at(1, 3, { ...one, suite: 'other' })]);
  const other = run('b', [
    at(1, 10, one),
    at(1, 10, { ...one, case: 'included' }),
    at(1, 10, { ...one, count: null }),
    at(1, 10, { ...one, dtype: 'float64' }),
  ]);
  assert.equal(
    compare([base, other]).rows.map(({ others }) => others[0]!.ratio),
    [10],
  );
});

test('A case that only one side was timed in is listed with the reason; a case that none was timed in is not.', () => {
  assert.equal(
    comparison.missing.map(({ key, side, why }) => [key.dimension, key.contender, side, why]),
    [
      [9, 'cpu', 'B', 'failed: It fails.'],
      [4, 'cpu', 'A', 'not in it'],
    ],
  );
  const nowhere = run('a', [untimed('left out', 'It is long.', { dimension: 7 })]);
  assert.equal(compare([nowhere, nowhere]).missing, []);
});

test('--fail-over counts cases that are slower beyond the noise and by more than the ratio.', () => {
  const dimensions = (ratio: number) => slowerThan(comparison, ratio).map(({ key }) => key.dimension);
  assert.equal(dimensions(1), [1, 4]);
  assert.equal(dimensions(1.1), [1]);
  assert.equal(dimensions(1.5), []);
  const wide = { median: 200, p25: 90, p75: 210, runs: 100, relativeMargin: 1, rounds: [90, 200, 200, 210, 210] };
  const noisy = compare([run('a', [at(1, 100)]), run('b', [measurement({ dimension: 1, time: wide })])]);
  assert.equal(verdicts(noisy.rows), ['within the noise']);
  assert.equal(slowerThan(noisy, 1.1), [], 'twice the time, but within the noise');
});

test('Contenders of one file are compared with the first one named.', () => {
  const both = run('a', [at(1, 100), at(1, 10, { contender: 'reference' }), at(2, 1, { contender: 'reference' })]);
  const { rows, sides, missing } = compare([both], ['reference', 'cpu']);
  assert.equal(
    sides.map(({ label }) => label),
    ['reference', 'cpu'],
  );
  assert.equal(
    rows.map(({ key, others }) => [key.dimension, key.contender, others[0]!.ratio, others[0]!.verdict]),
    [[1, null, 10, 'slower']],
  );
  assert.equal(
    missing.map(({ key, side, why }) => [key.dimension, side, why]),
    [[2, 'cpu', 'not in it']],
  );
  const absent = compare([both], ['reference', 'metal']).missing[0]!;
  assert.is(absent.why, 'not available: There is no Metal here.');
});

test('Contenders of several files are all compared with the first contender of the first file.', () => {
  const [a, b] = [2, 5].map((factor) =>
    run('x', [at(1, 100 * factor), at(1, 1000 * factor, { contender: 'reference' })]),
  );
  const { rows, sides } = compare([a!, b!], ['cpu', 'reference']);
  assert.equal(
    sides.map(({ label }) => label),
    ['A cpu', 'A reference', 'B cpu', 'B reference'],
  );
  assert.equal(
    rows[0]!.others.map((other) => other!.ratio),
    [10, 2.5, 25],
  );
});

test('With too few rounds, or against a software stand-in, a case is undecided, even at a large ratio.', () => {
  const short = at(1, 1, { time: time(1, { rounds: [1, 1, 1] }) });
  const few = compare([run('a', [at(1, 100)]), run('b', [short])]);
  assert.equal(verdicts(few.rows), ['undecided']);
  assert.match(terminalText(comparisonDocument(few, undefined)), 'too few rounds');
  const soft = { contenders: [contender('cpu'), contender('softmetal', { measuresSpeed: false })] };
  const stand = run('a', [at(1, 100), at(1, 900, { contender: 'softmetal' })], soft);
  const against = compare([stand], ['cpu', 'softmetal']);
  assert.equal(verdicts(against.rows), ['no measure of speed']);
  assert.equal(slowerThan(against, 1), []);
});

test('Too few files or contenders are refused, and so is a contender that is missing or named twice.', async () => {
  const refusal = async (message: string, ...arguments_: Parameters<typeof compare>) =>
    assert.is((await throwsCode('ERR_INVALID_ARGUMENT', () => compare(...arguments_))).message, message);
  await refusal('Files (1) and contenders (0) are too few to compare: two of either are needed.', [before]);
  await refusal('Files (1) and contenders (1) are too few to compare: two of either are needed.', [before], ['cpu']);
  await refusal('Contender (gpu) is not in (a), which has (reference, cpu, metal).', [before, after], ['cpu', 'gpu']);
  await refusal('Contender (cpu) is named twice.', [before], ['cpu', 'cpu']);
});

test('Only facts that differ between the machines are reported.', () => {
  const other = run('b', [], {
    machine: { ...machine, processor: 'Another', load: null, environment: { OMP_NUM_THREADS: '4' } },
    contenders: [contender('cpu', { about: 'another BLAS', threads: 4 }), contender('numpy')],
    partial: true,
  });
  assert.equal(
    compare([before, other]).differences.map(({ fact, values }) => [fact, ...values]),
    [
      ['processor', 'A processor', 'Another'],
      ['load', '0.5', ''],
      ['OPENBLAS_NUM_THREADS', '2', ''],
      ['interrupted', 'no', 'yes'],
      ['reference', 'a BLAS', ''],
      ['reference, threads', '1', ''],
      ['cpu', 'a BLAS', 'another BLAS'],
      ['cpu, threads', '2', '4'],
      ['metal', 'not available: There is no Metal here.', ''],
      ['OMP_NUM_THREADS', '', '4'],
      ['numpy', '', 'a BLAS'],
      ['numpy, threads', '', '2'],
      ['numpy, blas', '', 'OpenBLAS 0.3.21'],
    ],
  );
  assert.equal(compare([before, before]).differences, []);
});

test('Terminal, Markdown and HTML show the same figures.', () => {
  const document = comparisonDocument(comparison, 1.1);
  const [terminal, markdown] = [terminalText(document), markdownText(document)];
  assert.match(
    terminal,
    /^square {2,}float32 {2,}1 {2,}cpu {2,}100 ns {2,}150 ns {2,}1\.50 {2}1\.47 to 1\.53 {2}slower$/m,
  );
  assert.match(
    markdown,
    /^\| square \| float32 \| 1 \| {2}\| cpu \| 100 ns \| 150 ns \| \*\*1\.50\*\* \| 1\.47 to 1\.53 \| \*\*slower\*\* \|$/m,
  );
  assert.match(terminal, 'B against A: 1 faster, 2 slower, 1 within the noise.');
  const { document: page } = parseHTML(htmlText(comparisonTitle, document));
  const rows = [...page.querySelectorAll('tr')].map((row) =>
    [...row.children].map((cell) => cell.textContent).join('|'),
  );
  assert.ok(rows.includes('square|float32|1||cpu|100 ns|150 ns|1.50|1.47 to 1.53|slower'), rows.join('\n'));
  assert.ok(
    rows.includes('matrix-product: square|float32|1||cpu|100 ns|150 ns|1.50|1.47 to 1.53|slower'),
    'over the limit',
  );
  assert.ok(rows.includes('B|matrix-product: square|float32|cpu|D = 9|failed: It fails.'), rows.join('\n'));
  assert.is(
    [...page.querySelectorAll('tr td.bad')].length,
    6,
    'ratio and verdict of two rows, and of one over the limit',
  );
});

test('Text from a file stays text: no markup, no extra cell, no control character for the terminal.', () => {
  const hostile = '<script src="x">|`\n\u001b[31m';
  const evil = run(hostile, [at(1, 100, { case: hostile })], { machine: { ...machine, processor: hostile } });
  const document = comparisonDocument(compare([before, evil]), undefined);
  const html = htmlText(comparisonTitle, document);
  assert.is(html.split('<script').length - 1, 1, "the page's own alone");
  assert.ok(html.includes(`<script>${pageScript}</script>`));
  const { document: page } = parseHTML(html);
  assert.ok([...page.querySelectorAll('td')].some((cell) => cell.textContent === hostile.replace('\u001b', '\ufffd')));
  assert.equal([...page.querySelectorAll('[src], [href]:not([href="data:,"], [href^="#"])')], []);
  const markdown = markdownText(document);
  assert.not.match(markdown, '<script');
  const tables = markdown.split('\n\n').filter((part) => part.startsWith('|'));
  for (const table of tables) {
    const widths = table
      .trim()
      .split('\n')
      .map((line) => line.replaceAll('\\|', '').split('|').length);
    assert.is(new Set(widths).size, 1, table);
  }
  assert.not.match(terminalText(document), '\u001b[31m');
});

test('Each column of a comparison has a name.', () => {
  const document = comparisonDocument(compare([run('a', [at(1, 100)]), run('b', [at(1, 300)])]), undefined);
  const { document: page } = parseHTML(htmlText(comparisonTitle, document));
  const headings = [...page.querySelectorAll('thead th')].map((cell) => cell.textContent);
  assert.ok(headings.includes('verdict'), headings.join());
  assert.not.ok(headings.includes(''), headings.join());
});

test('Ratios are short.', () => {
  assert.equal([1, 1.005, 0.1, 0.00213456, 99.5, 117.8, Infinity, NaN].map(ratioText), [
    '1.00',
    '1.00',
    '0.10',
    '0.00213',
    '99.50',
    '118',
    '-',
    '-',
  ]);
});

test.run();
