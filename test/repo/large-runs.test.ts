// The recipes of examples/large-runs: each draws the same parts, on the reference device, and DuckDB reads them as one
// table.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { readTable } from '../../lib/index.ts';
import { nodeOptions } from '../harness/child.ts';
import { main, type Outcome, outcomeOf } from '../harness/command-line.ts';
import { read } from '../harness/source-text.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-large-'));
const at = (name: string) => join(folder, name);
const recipe = (name: string) => join('examples/large-runs', name);
const model = at('model.json');
writeFileSync(
  model,
  JSON.stringify({
    covarium: 1,
    columns: ['a', 'b'],
    mean: [1, -1],
    covariance: [
      [2, 1],
      [1, 3],
    ],
  }),
);
mkdirSync(at('bin'));
const command = [process.execPath, ...nodeOptions, main].map((word) => `'${word}'`).join(' ');
writeFileSync(at('bin/covarium'), `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });

process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

// 12 parts; these values replace a recipe's own numbers of rows.
const size = { COUNT: '1150', ROWS_PER_PART: '100', MODEL: model };
const sizeArguments = [
  '--model',
  model,
  '--count',
  '1150',
  '--rows-per-part',
  '100',
  '--seed',
  '42',
  '--format',
  'parquet',
];
const expected = join(folder, 'expected/');

test.before(async () => {
  await succeeds('covarium', ['sample', ...sizeArguments, '--output', expected]);
  assert.is(readdirSync(expected).length, 25);
});

test('slurm.sh draws the parts, with the variables of each task of a job array.', async () => {
  const script = recipe('slurm.sh');
  assert.match(read(script), /^#SBATCH --array=0-9$/m);
  const run = at('slurm/');
  for (let task = 0; task < 3; task++) {
    const variables = {
      SLURM_ARRAY_TASK_ID: task,
      SLURM_ARRAY_TASK_MIN: 0,
      SLURM_ARRAY_TASK_COUNT: 3,
      SLURM_CPUS_PER_TASK: 1,
    };
    const texts = Object.entries(variables).map(([name, value]) => [name, String(value)]);
    await succeeds('bash', [script], { ...size, RUN: run, ...Object.fromEntries(texts) });
    assert.is(partsIn(run).length, 4 * (task + 1));
  }
  same(run);
});

test('parallel.sh draws the parts with GNU parallel.', async () => {
  if (spawnSync('parallel', ['--version']).status !== 0)
    return console.log('skipped: there is no GNU parallel (apt-get install parallel)');
  const run = at('parallel/');
  await succeeds('bash', [recipe('parallel.sh')], { ...size, RUN: run });
  same(run);
});

test('indexed-job.yaml: the command of its pods runs, as far as possible without Kubernetes.', async () => {
  const { apiVersion, kind, spec } = parse(read(recipe('indexed-job.yaml')));
  assert.equal([apiVersion, kind, spec.completionMode], ['batch/v1', 'Job', 'Indexed']);
  const { containers, restartPolicy, volumes } = spec.template.spec;
  // backoffLimitPerIndex requires this.
  assert.is(restartPolicy, 'Never');
  const [{ command: words, args, env, volumeMounts }] = containers;
  const variables: { COVARIUM_SHARDS?: string } = Object.fromEntries(
    env.map(({ name, value }: { name: string; value: unknown }) => [name, value]),
  );
  assert.is(variables.COVARIUM_SHARDS, String(spec.completions), 'COVARIUM_SHARDS is a string, and completions again');
  assert.equal(
    volumes.map(({ name }: { name: string }) => name),
    volumeMounts.map(({ name }: { name: string }) => name),
  );
  const run = at('pods/');
  const given = args.map((word: string) => word.replace('/data/model.json', model).replace('/data/run/', run));
  assert.ok(given.includes(`--model=${model}`) && given.includes(`--output=${run}`));
  const [program, ...rest] = [...words, ...given, '--count=1150', '--rows-per-part=100'];
  for (const index of [1, 9]) await succeeds(program, rest, { ...variables, JOB_COMPLETION_INDEX: String(index) });
  assert.equal(partsIn(run), ['part-000001.parquet', 'part-000009.parquet', 'part-000011.parquet']);
  for (const part of partsIn(run))
    assert.ok(readFileSync(join(run, part)).equals(readFileSync(join(expected, part))), part);
});

test('duckdb.sql reads the parts as one table.', async () => {
  const duckdb = await import('@duckdb/node-api').catch((error: Error) => error);
  if (duckdb instanceof Error)
    return console.log(`skipped: DuckDB is not available (${duckdb.message.split('\n')[0]})`);
  const connection = await (await duckdb.DuckDBInstance.create()).connect();
  const answers: unknown[][] = [];
  const text = read(recipe('duckdb.sql'))
    .replaceAll(/^--.*$/gm, '')
    .replaceAll("'run/", `'${expected}`);
  for (const statement of text.split(';').filter((each) => each.trim() !== ''))
    answers.push((await connection.runAndReadAll(statement)).getRows()[0]!);
  connection.closeSync();
  const columns: number[][] = [[], []];
  for (const part of partsIn(expected))
    for (const [a, b] of (await readTable(join(expected, part))).rows.toArray() as [number, number][]) {
      columns[0]!.push(a);
      columns[1]!.push(b);
    }
  const mean = (x: number[]) => x.reduce((sum, value) => sum + value, 0) / x.length;
  const deviation = (x: number[]) =>
    Math.sqrt((mean(x.map((value) => (value - mean(x)) ** 2)) * x.length) / (x.length - 1));
  assert.equal(answers[0], [1150n]);
  close(answers[1]!, columns.map(mean));
  close(answers[2]!, columns.map(deviation));
});

function close(found: unknown[], wanted: number[]): void {
  assert.is(found.length, wanted.length);
  for (const [i, value] of wanted.entries())
    assert.ok(Math.abs(Number(found[i]) - value) < 1e-9, `${found} is ${wanted}`);
}

function partsIn(run: string): string[] {
  return readdirSync(run)
    .filter((name) => name.endsWith('.parquet'))
    .sort();
}

function same(run: string): void {
  assert.equal(readdirSync(run).sort(), readdirSync(expected).sort());
  for (const name of readdirSync(expected))
    assert.ok(readFileSync(join(run, name)).equals(readFileSync(join(expected, name))), name);
}

async function succeeds(program: string, words: string[], variables: { [name: string]: string } = {}): Promise<void> {
  const PATH = `${at('bin')}${delimiter}${(process.env as { PATH?: string }).PATH}`;
  const env = { ...process.env, ...variables, PATH, COVARIUM_DEVICE: 'reference' };
  const { code, stderr }: Outcome = await outcomeOf(spawn(program, words, { env }));
  assert.equal([code, stderr], [0, '']);
}

test.run();
