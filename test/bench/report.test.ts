// What a report says, read as text; test/bench/report-page.test.ts opens it in a browser.
//
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseResults } from '../../bench/read-results.ts';
import { answerOf, answers, verdictOf } from '../../bench/report/answer.ts';
import { detailSentences, headline, rangeText } from '../../bench/report/answer-words.ts';
import { appearances } from '../../bench/report/appearance.ts';
import { benchmarkLines, benchmarkRounds } from '../../bench/report/benchmark-lines.ts';
import { chartName, withUniqueNames } from '../../bench/report/chart.ts';
import { chartsOf } from '../../bench/report/charts.ts';
import { fairCrossovers } from '../../bench/report/crossings.ts';
import { logAxis, sizeAxis } from '../../bench/report/log-axis.ts';
import { escapeMarkdown, markdown } from '../../bench/report/markdown.ts';
import { subnormalTable } from '../../bench/report/measurement-tables.ts';
import { panels } from '../../bench/report/panel.ts';
import { numberText, rateText, ratioText, shareText, timeText } from '../../bench/report/quantity.ts';
import { repeatCommand } from '../../bench/report/repeat-command.ts';
import { report } from '../../bench/report/report.ts';
import { rowLayout } from '../../bench/report/rows.ts';
import { suiteWords } from '../../bench/report/suite-words.ts';
import { terminalSummary } from '../../bench/report/terminal.ts';
import { isTimed } from '../../bench/report/timed.ts';
import { warningsOf } from '../../bench/report/warnings.ts';
import { writeReport } from '../../bench/report/write-report.ts';
import type { Results } from '../../bench/results.ts';
import { suites } from '../../bench/suites.ts';
import { hostile, madeResults } from './made-results.ts';

const results = madeResults();
const timed = results.measurements.filter(isTimed);

test('The made-up results are valid.', () => {
  assert.equal(parseResults(JSON.stringify(results), 'made'), results);
});

test('Figures have three digits and the unit that reads best.', () => {
  assert.equal([0.31, 9.999, 999.4, 999.6, 1070, 118_000_000, 2.5e9, 1.234e12].map(timeText), [
    '0.31 ns',
    '10 ns',
    '999 ns',
    '1 µs',
    '1.07 µs',
    '118 ms',
    '2.5 s',
    '1230 s',
  ]);
  assert.is(rateText(433.4e9, 'FLOP/s'), '433 GFLOP/s');
  assert.is(rateText(0.5, '/s'), '0.5 /s');
  assert.equal([12.34, 1150, 0.5, 0.000452].map(ratioText), ['12.3×', '1150×', '0.5×', '0.00045×']);
  assert.equal([0, 0.0082, 0.0994, 0.82, 1.02].map(shareText), ['0%', '0.82%', '9.9%', '82%', '102%']);
  assert.equal([1, 2048, 10_000, 1e6].map(numberText), ['1', '2048', '10,000', '1,000,000']);
});

test('An axis ends at ticks on or beyond its values, and the numbers of its ticks do not touch.', () => {
  const pixels = 230;
  const room = 17;
  for (const values of [[5], [1, 1.01], [3, 40], [1e-3, 1e9], [0.2, 0.5, 0.9], [12_400, 507e6], [0.97, 200]])
    for (const must of [[], [1]]) {
      const { domain, ticks } = logAxis(values, { pixels, room: () => room, must });
      assert.equal([ticks[0], ticks.at(-1)], [...domain]);
      for (const value of [...values, ...must])
        assert.ok(domain[0] <= value && value <= domain[1], `${value}: ${domain}`);
      for (const tick of must) assert.ok(ticks.includes(tick), `${values}: ${ticks}`);
      const at = (tick: number) => (pixels * Math.log(tick / domain[0])) / Math.log(domain[1] / domain[0]);
      for (const [i, tick] of ticks.slice(1).entries())
        assert.ok(at(tick) - at(ticks[i]!) >= room - 1e-9, `${values}, ${must}: ${ticks}`);
    }
  assert.equal(logAxis([12_400, 507e6], { pixels, room: () => room }).domain, [10_000, 1e9]);
  assert.equal(sizeAxis([64, 256, 1000, 2048], 350).ticks, [64, 256, 1000, 2048]);
  assert.equal(sizeAxis([1000, 1001, 1002, 2048], 350).ticks, [1000, 2048]);
  assert.equal(sizeAxis([7], 350).ticks, [7]);
});

test('Contenders differ in colour, symbol and dash, and a stand-in is marked.', () => {
  const looks = appearances(results);
  assert.equal(
    looks.map(({ contender }) => contender),
    results.contenders.filter(({ available }) => available).map(({ name }) => name),
  );
  const keys = looks.map(({ colour, symbol, dash }) => `${colour} ${symbol} ${dash}`);
  assert.is(new Set(keys).size, looks.length);
  assert.equal(
    looks.filter(({ label }) => label.includes('no measure of speed')).map(({ contender }) => contender),
    ['softmetal'],
  );
});

const panelOf = ({ measurements }: Pick<Results, 'measurements'>) =>
  panels({ ...results, measurements }).find(({ suite }) => suite === 'transform-normal')!;
const answerIn = (run: Results) => answerOf(run, panelOf(run))!;

test('The answer compares the fastest device with the fastest peer, at the largest size that both were timed at.', () => {
  const { leader, rival, size, sizes, againstPeers } = answerIn(results);
  assert.equal(
    [leader.contender, rival.other.contender, size, againstPeers],
    ['metal', 'numpy-by-hand', 2048, true],
    'not softmetal, and no other device of ours',
  );
  assert.is(rival.ratio, rival.other.time.median / leader.time.median);
  assert.equal(sizes, [64, 256, 1000, 2048]);
  // If the largest size has no peer, the next smaller size with one is used.
  const peers = /ml-matrix|numpy|script/;
  const without = {
    ...results,
    measurements: timed.filter((each) => !(each.dimension === 2048 && peers.test(each.contender))),
  };
  assert.is(answerIn(without).size, 1000);
  const alone = { ...results, measurements: timed.filter(({ contender }) => !peers.test(contender)) };
  assert.equal([answerIn(alone).rival.other.contender, answerIn(alone).againstPeers], ['cpu', false]);
  const peersOnly = { ...results, measurements: timed.filter(({ contender }) => /ml-matrix|numpy/.test(contender)) };
  assert.is(answerIn(peersOnly).leader.contender, 'numpy-by-hand');
  const one = { ...results, measurements: timed.filter(({ contender }) => contender === 'cpu') };
  assert.is(answerOf(one, panelOf(one)), undefined, 'nothing to compare with');
});

/** Two contenders at three sizes, each median with five rounds about it. */
function duel(cpu: readonly number[], numpy: readonly number[], spread = 0.01): Results {
  const [some] = timed;
  const of = (contender: string, medians: readonly number[]) =>
    medians.map((median, i) => {
      const rounds = [-1, -0.5, 0, 0.5, 1].map((part) => median * (1 + spread * part));
      const time = { ...some!.time, median, p25: rounds[1]!, p75: rounds[3]!, rounds };
      return { ...some!, contender, dimension: 10 ** (i + 1), time };
    });
  return { ...results, measurements: [...of('cpu', cpu), ...of('numpy', numpy)] };
}

test('A device leads from the size on from which it is faster than every rival, beyond the noise.', () => {
  const lead = (run: Results) => [verdictOf(answerIn(run).rival), answerIn(run).ahead];
  assert.equal(lead(duel([30, 200, 300], [20, 400, 900])), ['faster', [100, 1000]]);
  assert.equal(lead(duel([10, 200, 300], [20, 400, 900])), ['faster', [10, 100, 1000]]);
  assert.equal(
    lead(duel([10, 200, 300], [20, 100, 900])),
    ['faster', [1000]],
    'a lead that is lost again does not count',
  );
  assert.equal(lead(duel([10, 200, 300], [20, 400, 200])), ['slower', []]);
  assert.equal(lead(duel([10, 200, 300], [20, 400, 310], 0.1)), ['level', []]);
});

test('The answer in words says who, how many times, against whom, and from which size on.', () => {
  const words = (run: Results) => detailSentences(answerIn(run), fairCrossovers(run)).join(' ');
  const winner = duel([30, 200, 300], [20, 400, 900]);
  assert.is(headline(winner), 'cpu is 3 times as fast as numpy, its fastest rival, at dimension 1000.');
  assert.match(
    words(winner),
    /^cpu is 3 times as fast as numpy, its fastest rival, at dimension 1000: 300 ns against 900 ns \(99% interval of the ratio: 2\.9\d to 3\.0\d\)\. cpu is faster than every rival from dimension 100 on\. It overtakes numpy at about dimension 2\d\.$/,
  );
  const loses = duel([10, 200, 300], [20, 400, 200]);
  assert.is(headline(loses), 'numpy is 1.5 times as fast as cpu at dimension 1000.');
  assert.match(
    words(loses),
    / cpu does not lead at the largest dimension\. It is overtaken by numpy at about dimension \d+\.$/,
  );
  assert.is(
    headline(duel([1, 2, 300], [2, 3, 310], 0.1)),
    'cpu and numpy are equally fast within the noise at dimension 1000.',
  );
  const led = answers(results).filter(({ leader }) => leader.contender === 'cpu');
  const wins = led.map(({ rival }) => rival.ratio).filter((ratio) => ratio > 1);
  assert.is(
    headline(results),
    `cpu is ${rangeText(wins)} times as fast as its fastest rival in 5 of 8 cases, each at its largest size.`,
  );
  const example = new URL('../../docs/example-report/results.json', import.meta.url);
  assert.match(
    headline(parseResults(readFileSync(example, 'utf8'), 'example')),
    /^cpu is [\d.]+ to [\d.]+ times as fast as its fastest rival in (all )?\d+( of \d+)? cases/,
  );
  assert.match(
    headline({ ...results, measurements: [] }),
    /^covarium 0\.1\.0 on /,
    'without an answer, what was measured',
  );
});

test('A suite has a tile for each dtype: with the figure of a single case, or with the range of several.', () => {
  const tiles = report(results, []).flatMap((block) => (block.kind === 'tiles' ? block.tiles : []));
  assert.equal(
    tiles.map(({ title }) => title),
    ['transform-normal', 'sampling, float32', 'sampling, float64', 'normals', 'call'],
  );
  const [one, several] = tiles;
  assert.is(one!.figure, ratioText(answerIn(results).rival.ratio));
  const ratios = answers(results)
    .filter(({ panel }) => panel.suite === 'sampling' && panel.dtype === 'float32')
    .map(({ rival }) => rival.ratio);
  assert.is(several!.figure, `${numberOf(Math.min(...ratios))} to ${ratioText(Math.max(...ratios))}`);
});

const numberOf = (ratio: number) => ratioText(ratio).replace('×', '');

test('There is a picture of time for each case and count with several sizes, and other pictures if they have something to show.', () => {
  const names = chartsOf(results).map(({ name }) => name);
  const count = (kind: string) => names.filter((name) => name.startsWith(kind)).length;
  assert.equal([count('time-'), count('split-'), count('speed-up-')], [6, 8, 8]);
  assert.is(new Set(names).size, names.length);
  const none: Results = { ...results, measurements: results.measurements.filter((each) => !isTimed(each)) };
  assert.equal(chartsOf(none), []);
  const one = { ...results, measurements: timed.filter(({ dimension }) => dimension === 64) };
  assert.not(chartsOf(one).some(({ name }) => name.startsWith('time-')));
});

test('Names of pictures are safe file names, and unique.', () => {
  assert.is(chartName('time', 'Some/../Suite', '<a b>', 10), 'time-some-suite-a-b-10');
  assert.ok(chartName('time', 'x '.repeat(300)).length <= 120);
  const [chart] = chartsOf(results);
  assert.equal(
    withUniqueNames([chart!, chart!, chart!]).map(({ name }) => name.replace(chart!.name, '')),
    ['', '-2', '-3'],
  );
});

test('Crossovers leave out stand-ins, and peers among themselves.', () => {
  const pairs = fairCrossovers(results).map(({ slower, faster }) => [slower, faster]);
  assert.ok(pairs.length > 5);
  const devices = ['metal', 'cpu', 'cpu-1', 'reference'];
  for (const pair of pairs) {
    assert.ok(
      pair.some((name) => devices.includes(name)),
      `${pair}`,
    );
    assert.not(pair.includes('softmetal'));
  }
});

test('Warnings name everything that makes figures doubtful, and a sound run has none.', () => {
  const text = warningsOf(results).join('\n');
  for (const part of [
    'partial',
    'softmetal',
    '1 result came out wrong',
    'numpy',
    'failed',
    '(5.10)',
    'battery',
    'OPENBLAS_NUM_THREADS=2',
    'no commit',
    'margin above 10%',
  ])
    assert.ok(text.includes(part), part);
  const drifting = timed.map((each) => ({ ...each, time: { ...each.time, rounds: [100, 126] } }));
  assert.match(warningsOf({ ...results, measurements: drifting }).join('\n'), /89 of 89 times differ/);
  const sound: Results = {
    ...results,
    partial: false,
    machine: { ...results.machine, load: 0.2, power: 'mains', environment: {}, commit: 'abc' },
    contenders: results.contenders.filter(({ measuresSpeed }) => measuresSpeed),
    measurements: timed.map((each) => ({ ...each, time: { ...each.time, relativeMargin: 0.02 } })),
  };
  assert.equal(warningsOf(sound), []);
  assert.match(warningsOf({ ...sound, options: { ...sound.options, quick: true } })[0]!, /quick/);
  assert.match(warningsOf({ ...sound, measurements: [] })[0]!, /Nothing was timed/);
});

test('Text stays text in Markdown.', () => {
  assert.is(
    escapeMarkdown('a|b *c* _d_ e_f `g` [h](i) <j> & ~k~ $l$\nm'),
    'a\\|b \\*c\\* \\_d\\_ e_f \\`g\\` \\[h\\](i) &lt;j&gt; &amp; \\~k\\~ \\$l\\$ m',
  );
  assert.equal(['# a', '- b', '1. c', '+d', '1.5 e'].map(escapeMarkdown), [
    '\\# a',
    '\\- b',
    '1\\. c',
    '\\+d',
    '1.5 e',
  ]);
  const text = markdown(report(results, chartsOf(results)));
  const prose = text.replace(/^```\n[\s\S]*?^```$/gm, '');
  const folded = /^<details><summary>[^<>]+<\/summary>$|^<\/details>$/gm;
  assert.ok(prose.match(folded)!.length > 10);
  assert.not.match(prose.replace(folded, ''), /<(?!br)/, 'no other tag');
  // A row has as many cells as its head, whatever its text.
  let columns = 0;
  for (const line of prose.split('\n')) {
    const cells = line.startsWith('|') ? line.replace(/\\\|/g, '').split('|').length : 0;
    if (cells > 0 && columns > 0) assert.is(cells, columns, line);
    columns = cells;
  }
  const code = markdown([{ kind: 'code', text: 'a\n````\nb', label: '' }]);
  assert.is(code, '`````\na\n````\nb\n`````\n');
});

test('The report has every measurement, every absence and every reason.', () => {
  const text = markdown(report(results, chartsOf(results)));
  const rows = text.split('\n').filter((line) => line.startsWith('| '));
  for (const { suite, dimension, time, contender } of timed) {
    const parts = [
      escapeMarkdown(contender),
      timeText(time.median),
      `${timeText(time.p25)} to ${timeText(time.p75)}`,
      dimension === null ? '' : `${dimension}`,
    ];
    assert.ok(
      rows.some((row) => parts.every((part) => row.includes(`| ${part} |`) || part === '')),
      `${suite} ${parts}`,
    );
  }
  for (const part of [
    'Python has no module torch.',
    'It would take about 40 s a run.',
    'One number \\| is off. Its error relative to reference is 0.31, where 1.6e-5 is allowed.',
    escapeMarkdown(hostile),
  ])
    assert.ok(text.includes(part), part);
  for (const chart of chartsOf(results)) assert.ok(text.includes(`](${chart.name}.svg)`));
});

test("Benchmark lines are in Go's format, with a name for each measurement.", () => {
  const lines = benchmarkLines(results).split('\n');
  const benchmarks = lines.filter((line) => line.startsWith('Benchmark'));
  assert.is(benchmarks.length, timed.length);
  assert.is(new Set(benchmarks.map((line) => line.split('\t')[0])).size, timed.length);
  for (const line of benchmarks) assert.match(line, /^Benchmark\p{Lu}[^\s]*-\d+\t\d+\t[\d.]+ ns\/op$/u);
  for (const line of lines.slice(0, -benchmarks.length)) assert.match(line, /^[a-z]+: .+$/);
  const metal = timed.find(({ contender }) => contender === 'metal')!;
  assert.is(
    benchmarks[0],
    `BenchmarkTransformNormal/case=one-draw/dtype=float32/contender=metal/dimension=64-1\t${metal.time.runs}\t${metal.time.median} ns/op`,
  );
  const rounds = benchmarkRounds(results)
    .split('\n')
    .filter((line) => line.startsWith('Benchmark'));
  assert.is(rounds.length, 3 * timed.length);
});

test('The command repeats the run.', () => {
  assert.is(
    repeatCommand(results),
    'covarium bench transform-normal sampling normals call --dimensions 64,256,1000,2048 --counts 1,100 --dtypes float32,float64 --rounds 3 --time 500 ' +
      '--devices metal,cpu,cpu-1,reference,softmetal --output report/',
  );
  const contenders = results.contenders.filter(({ kind }) => kind === 'device');
  const options = { ...results.options, quick: true, suites: ["it's; rm -rf"], counts: [] };
  assert.is(
    repeatCommand({ ...results, contenders: contenders.slice(0, 1), options }),
    "covarium bench 'it'\\''s; rm -rf' --quick --dimensions 64,256,1000,2048 --dtypes float32,float64 --rounds 3 --time 500 --devices metal --no-peers --output report/",
  );
});

test('The summary fits its terminal, has no control character, and names contenders without a column.', () => {
  const named = hostile.replace('<', '\u001b[31m<');
  const text = stripVTControlCharacters(
    terminalSummary(
      JSON.parse(
        JSON.stringify(results).replaceAll(JSON.stringify(hostile).slice(1, -1), JSON.stringify(named).slice(1, -1)),
      ),
      100,
    ),
  );
  const lines = text.split('\n');
  const table = lines.slice(
    0,
    lines.findIndex((line) => line.startsWith('More in report.md')),
  );
  assert.is(table.length, 9, 'a head and a line a case');
  for (const line of table) assert.ok([...line].length <= 100, line);
  assert.match(lines[1]!, /2048 +2\.\d+ ms/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  assert.not.match(text, /[\u0000-\u0009\u000b-\u001f]/);
  assert.match(text, /More in report.md: .*numpy-by-hand/);
});

test('All files are written, and nothing else; a path that cannot be a folder is refused.', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'covarium-report-'));
  try {
    const names = await writeReport(results, join(folder, 'new', 'report'));
    assert.equal(readdirSync(join(folder, 'new', 'report')).sort(), [...names].sort());
    assert.is(names.filter((name) => name.endsWith('.svg')).length, chartsOf(results).length);
    assert.match(readFileSync(join(folder, 'new', 'report', 'benchmark.txt'), 'utf8'), /ns\/op\n$/);
    writeFileSync(join(folder, 'file'), '');
    try {
      await writeReport(results, join(folder, 'file'));
      assert.unreachable();
    } catch (error) {
      assert.is((error as { code: string }).code, 'ERR_FILE_UNWRITABLE');
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('The report describes every suite, except suites of a later covarium.', () => {
  for (const { name } of suites) assert.match(suiteWords(name), /^\S.*\.$/, name);
  assert.equal([suiteWords('later'), suiteWords('constructor')], ['', '']);
  const text = markdown(report(results, []));
  assert.ok(text.includes(suiteWords('sampling')));
});

test('The suite subnormal has a table of each case beside the same without subnormal entries.', () => {
  const [one] = timed;
  const of = (name: string, factor: number) => ({
    ...one!,
    ...{ suite: 'subnormal', case: name, time: { ...one!.time, median: one!.time.median * factor } },
  });
  const measurements = [of('factor kept', 1), of('factor kept, subnormal entries', 5), of('factor included', 1)];
  const rows = subnormalTable({ ...results, measurements }).rows;
  assert.equal(
    rows.map((row) => [row[0], row.at(-1)]),
    [['factor kept', '5']],
  );
  assert.match(markdown(report({ ...results, measurements }, [])), 'with / without');
});

test('A label of wide letters has room beside the frame.', () => {
  const { marginLeft } = rowLayout([{ title: '', rows: [{ label: 'numpy-by-hand', item: {} }] }]);
  // Its width in Verdana at 12 pixels is 8.07 em, and it is placed 8 pixels left of the frame.
  assert.ok(marginLeft >= 8 + 8.07 * 12, `${marginLeft}`);
});

test.run();
