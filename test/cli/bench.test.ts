// covarium bench as users run it: what it writes, what it refuses, and what Ctrl-C leaves behind.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { benchmarkOptions } from '../../bench/benchmark-options.ts';
import { ratioInterval } from '../../bench/ratio-interval.ts';
import { readResults } from '../../bench/read-results.ts';
import type { Results } from '../../bench/results.ts';
import { timeOf } from '../../bench/statistics.ts';
import { type Ending, nodeOptions, runNode } from '../harness/child.ts';
import { main, run } from '../harness/command-line.ts';
import { throwsCode } from '../harness/throws-code.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const tiny = [
  '--devices',
  'reference',
  '--no-peers',
  '--dimensions',
  '2,3',
  '--counts',
  '4',
  '--time',
  '4',
  '--rounds',
  '2',
];
const bench = (...args: string[]): Promise<Ending> => runNode([...nodeOptions, main, 'bench', ...args]);
const resultsIn = (output: string): Promise<Results> => readResults(output);

test('bench writes the results of the named suites, at the requested sizes, and nothing unfinished.', async () => {
  const output = join(folder, 'two/suites');
  const { code, stdout, stderr } = await bench('cholesky', 'sampling', ...tiny, '--output', output);
  assert.is(code, 0, stderr);
  const results = await resultsIn(output);
  assert.equal(
    [results.schema, results.version, results.partial, results.options.suites],
    ['covarium-benchmark', 2, false, ['sampling', 'cholesky']],
  );
  assert.equal(
    results.measurements.map(({ suite, case: name, dtype, dimension, count, state }) => [
      suite,
      name,
      dtype,
      dimension,
      count,
      state,
    ]),
    [
      ...['factor kept', 'factor included'].flatMap((name) =>
        ['float32', 'float64'].flatMap((dtype) => [2, 3].map((n) => ['sampling', name, dtype, n, 4, 'timed'])),
      ),
      ...['float32', 'float64'].flatMap((dtype) => [2, 3].map((n) => ['cholesky', 'factor', dtype, n, null, 'timed'])),
    ],
  );
  // Without a terminal there is no progress bar.
  const steps = /^Limits\.\nThe run takes about \d+ s\.\nComparison\.\nTiming takes about \d+ s\.\nTiming\.$/m;
  assert.match(stderr, steps);
  assert.ok(stdout.includes(output), stdout);
  const files = readdirSync(output);
  for (const name of ['results.json', 'report.md', 'report.html', 'benchmark.txt'])
    assert.ok(files.includes(name), name);
  assert.ok(files.some((name) => name.endsWith('.svg')));
  assert.ok(files.every((name) => !name.endsWith('.partial')));
});

test('bench refuses unknown names, listing the known ones, and a number out of range.', async () => {
  const refused = async (value: string, args: readonly string[]) => {
    const { code, stderr } = await run(['bench', ...args, '--output', join(folder, 'refused')]);
    assert.is(code, 1, stderr);
    assert.match(stderr, /^error: [A-Z].*\. \[ERR_/);
    assert.ok(stderr.includes(value), stderr);
  };
  await refused('(cholesk) is not one of (transform-normal,', ['cholesk']);
  await refused('(float16) is not one of (float32, float64)', ['--dtypes', 'float64,float16']);
  await refused('(abacus) is not one of (metal, cuda, cpu, cpu-1, cpu-blas, reference, softmetal)', [
    '--devices',
    'cpu,abacus',
  ]);
  assert.not(existsSync(join(folder, 'refused')), 'nothing is written before the options are right');
});

test('Options of bench are whole numbers in their ranges.', async () => {
  const refused = (code: 'ERR_OUT_OF_RANGE' | 'ERR_INVALID_ARGUMENT', value: string, typed: object) =>
    throwsCode(code, value, () => benchmarkOptions([], typed));
  await refused('ERR_OUT_OF_RANGE', '64.5', { dimensions: '2,64.5' });
  await refused('ERR_OUT_OF_RANGE', '--dimensions is ()', { dimensions: '' });
  await refused('ERR_OUT_OF_RANGE', '-1', { counts: '-1' });
  await refused('ERR_OUT_OF_RANGE', '(0)', { counts: '0' });
  await refused('ERR_OUT_OF_RANGE', '99999', { dimensions: '99999' });
  await refused('ERR_OUT_OF_RANGE', '(1)', { rounds: '1' });
  await refused('ERR_OUT_OF_RANGE', 'long', { time: 'long' });
  await refused('ERR_INVALID_ARGUMENT', 'Device ()', { devices: '' });
  const options = benchmarkOptions(['normals'], {
    dimensions: '30, 2,30',
    counts: '5',
    devices: 'cpu,cpu',
    dtypes: 'float64, float64',
    quick: true,
  });
  assert.equal(
    [options.dimensions, options.counts, options.devices, options.dtypes],
    [[2, 30], [5], ['cpu'], ['float64']],
  );
  const quick = benchmarkOptions([], { quick: true });
  assert.ok(quick.dimensions.length >= 3, 'enough for a line');
  const [fast, slow] = [1, 2].map((ms) => timeOf(Array.from({ length: quick.rounds }, () => [ms * 1e6, ms * 1e6])));
  assert.ok(ratioInterval(fast!, slow!)!.low > 1, 'enough rounds for two quick runs to differ beyond the noise');
  assert.is(benchmarkOptions([], {}).suites.length, 11);
  assert.equal(benchmarkOptions(['calls', 'functions'], {}).suites, ['functions', 'calls'], 'where they are named');
  assert.equal(benchmarkOptions([], {}).dtypes, ['float32', 'float64']);
  assert.is(benchmarkOptions([], { peers: false }).peers, false);
});

test('bench refuses an output that is not a folder, and an unknown device, before it measures.', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const inside = await run(['bench', 'call', ...tiny, '--output', join(file, 'inside')]);
  assert.is(inside.code, 1);
  assert.match(inside.stderr, /ERR_FILE_UNWRITABLE/);
  const itself = await run(['bench', 'call', ...tiny, '--output', file]);
  assert.match(
    itself.stderr,
    /^error: --output \(.*file\) is a file: pass the name of a folder\. \[ERR_FILE_UNWRITABLE\]/,
  );
  mkdirSync(join(folder, 'taken/results.json'), { recursive: true });
  const taken = await run(['bench', 'call', ...tiny, '--output', join(folder, 'taken')]);
  assert.is(taken.code, 1);
  assert.match(taken.stderr, /^error: .*results\.json\) cannot be written \(it is a folder\)/, 'before the estimate');
  const args = ['call', '--devices', 'softmetal', '--no-peers', '--output', join(folder, 'none')];
  const none = await runNode([...nodeOptions, main, 'bench', ...args], { ...process.env, COVARIUM_ADDON: '' });
  assert.is(none.code, 1);
  assert.match(none.stderr, /ERR_DEVICE_UNAVAILABLE/);
});

test('A quick run does not wait a minute for an interpreter that hangs.', async () => {
  if (platform() === 'win32') return console.log('skipped: a shell script is no program on Windows');
  const hangs = join(folder, 'hangs');
  writeFileSync(hangs, '#!/bin/sh\nexec sleep 1000\n', { mode: 0o755 });
  const output = join(folder, 'quick');
  const args = ['call', '--quick', '--devices', 'reference', '--output', output];
  const env = { ...process.env, COVARIUM_PYTHON: hangs, COVARIUM_R: hangs };
  const { code, stderr } = await runNode([...nodeOptions, main, 'bench', ...args], env);
  assert.is(code, 0, stderr);
  const { contenders } = await resultsIn(output);
  const reasons = contenders.filter(({ available }) => !available).map(({ reason }) => reason);
  assert.equal(reasons, Array(9).fill('hangs: The process gives no answer within (15) s.'));
});

test('After Ctrl-C there are valid partial results, and the exit code is that of an interruption.', async () => {
  const output = join(folder, 'interrupted');
  const args = [
    'matrix-vector',
    '--devices',
    'reference',
    '--no-peers',
    '--dimensions',
    '2,4,8',
    '--dtypes',
    'float32',
    '--time',
    '4000',
    '--rounds',
    '100',
  ];
  const child = spawn(process.execPath, [...nodeOptions, main, 'bench', ...args, '--output', output], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  // The estimate is printed when the rounds begin. Only one signal, because a second one would end the process at
  // once.
  child.stderr.on('data', (text) => `${text}`.includes('Timing takes') && setTimeout(() => child.kill('SIGINT'), 500));
  const code = await new Promise((resolve) => child.on('close', resolve));
  assert.is(code, 130);
  const { partial, measurements, options } = await resultsIn(output);
  assert.is(partial, true);
  assert.equal(options.dimensions, [2, 4, 8]);
  assert.ok(measurements.length < 3);
  assert.ok(measurements.every(({ state }) => state === 'timed'));
  assert.match(readFileSync(join(output, 'report.md'), 'utf8'), /partial|interrupt/i);
});

test.run();
