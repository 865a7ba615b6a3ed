import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Results } from '../../bench/results.ts';
import { contender, measurement, results, time } from '../bench/some-results.ts';
import { run as runCommand, runProcess } from '../harness/command-line.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-compare-'));
const at = (name: string) => join(folder, name);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const run = (...command: string[]) => runCommand(['compare', ...command]);

/** A folder with the results.json of one case with this median. */
function report(name: string, median: number, fields: Partial<Results> = {}): string {
  mkdirSync(at(name), { recursive: true });
  const measurements = [measurement({ contender: 'reference', time: time(1000) }), measurement({ time: time(median) })];
  writeFileSync(join(at(name), 'results.json'), JSON.stringify(results({ measurements, ...fields })));
  return at(name);
}

const base = report('base', 100);
const slow = report('slow', 120);

test('compare prints ratios and writes them as Markdown and as a page.', async () => {
  const { code, stdout, stderr } = await run(
    base,
    join(slow, 'results.json'),
    '--markdown',
    at('c.md'),
    '--html',
    at('c.html'),
  );
  assert.equal([code, stderr], [0, '']);
  assert.match(stdout, /cpu +100 ns +120 ns +1\.20 +1\.18 to 1\.22 +slower/);
  assert.match(readFileSync(at('c.md'), 'utf8'), '| cpu | 100 ns | 120 ns | **1.20** |');
  assert.match(readFileSync(at('c.html'), 'utf8'), '1.18 to 1.22');
});

test('compare compares contenders of one file.', async () => {
  const { code, stdout } = await run(base, '--contenders', 'reference, cpu');
  assert.is(code, 0);
  assert.match(stdout, /1 µs +100 ns +0\.10 .* faster/);
});

test('--fail-over exits with 1 and lists what is slower, and with 0 if nothing is slower by that much.', async () => {
  const failed = await runProcess(['compare', base, slow, '--fail-over', '1.10']);
  assert.equal([failed.code, failed.stderr], [1, '']);
  assert.match(
    failed.stdout,
    /Slower by more than 1\.1, beyond the noise\n.*\nmatrix-product: square +float32 +1000 +cpu/,
  );
  const passed = await run(base, slow, '--fail-over', '1.25');
  assert.is(passed.code, 0);
  assert.match(passed.stdout, 'Slower by more than 1.25, beyond the noise\nNone.');
});

const [empty, later, few] = [at('empty.json'), report('later', 1), report('few', 1)];
writeFileSync(empty, '');
writeFileSync(join(later, 'results.json'), '{"schema":"covarium-benchmark","version":3}');
const short = measurement({ time: time(100, { rounds: [100, 100, 100] }) });
writeFileSync(join(few, 'results.json'), JSON.stringify(results({ measurements: [short] })));

const [foreign, worded] = [report('foreign', 1), report('worded', 1)];
const named = results({ contenders: [contender('cpu\u001b[2J\r\n')], limits: [], measurements: [] });
writeFileSync(join(foreign, 'results.json'), JSON.stringify(named));
writeFileSync(join(worded, 'results.json'), '{"schema":"covarium-benchmark","version":"2"}');

const refusals: [string, RegExp, string[]][] = [
  ['no such file', /File \(.*none\.json\) does not exist\. \[ERR_FILE_NOT_FOUND\]$/, [base, at('none.json')]],
  ['a folder without results', /results\.json\) does not exist\. \[ERR_FILE_NOT_FOUND\]$/, [base, folder]],
  ['an empty file', /empty\.json\) are malformed: The text is not JSON.*\[ERR_MALFORMED_RESULTS\]$/, [base, empty]],
  [
    'another version',
    /version is \(3\), and this covarium reads version \(2\)\. \[ERR_MALFORMED_RESULTS\]$/,
    [base, later],
  ],
  [
    'a version that is a text',
    /version is the text \(2\), and this covarium reads version \(2\)\. \[ERR_MALFORMED_RESULTS\]$/,
    [base, worded],
  ],
  [
    'a contender that a terminal would obey',
    /which has \(cpu\\u001b\[2J.*\)\. \[ERR_/,
    [foreign, base, '--contenders', 'gpu'],
  ],
  ['one file', /too few to compare.*\[ERR_INVALID_ARGUMENT\]$/, [base]],
  ['no such contender', /\(gpu\) is not in .*\[ERR_INVALID_ARGUMENT\]$/, [base, slow, '--contenders', 'gpu']],
  [
    'no ratio',
    /--fail-over is not a ratio from 1 \(fast\)\. \[ERR_OUT_OF_RANGE\]$/,
    [base, slow, '--fail-over', 'fast'],
  ],
  [
    'a ratio below 1',
    /--fail-over is not a ratio from 1 \(0\.9\)\. \[ERR_OUT_OF_RANGE\]$/,
    [base, slow, '--fail-over', '0.9'],
  ],
  [
    'cannot be judged',
    /--fail-over \(1\.1\) cannot be judged.*\[ERR_INVALID_ARGUMENT\]$/,
    [few, few, '--fail-over', '1.1'],
  ],
  [
    'one file as two outputs',
    /Output \(.*both\.txt\) is given twice, before as \(.*both\.txt\), .*\[ERR_INVALID_ARGUMENT\]$/,
    [base, slow, '--markdown', at('both.txt'), '--html', `${folder}/base/../both.txt`],
  ],
  [
    'no folder to write to',
    /its folder does not exist.*\[ERR_FILE_UNWRITABLE\]$/,
    [base, slow, '--html', at('none/x.html')],
  ],
];
for (const [name, message, command] of refusals)
  test(`compare refuses ${name} in one line.`, async () => {
    const { code, stderr: told } = await run(...command);
    const stderr = told.trimEnd();
    assert.is(code, 1);
    assert.match(stderr, message);
    assert.is(stderr.split('\n').length, 1);
    for (const unwritten of ['none', 'both.txt']) assert.not.ok(existsSync(at(unwritten)));
    assert.equal(
      readdirSync(folder).filter((each) => each.includes('partial')),
      [],
    );
  });

test.run();
