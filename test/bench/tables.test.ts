import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Problem } from '../../bench/contender.ts';
import { expectedResultOf } from '../../bench/expected-result.ts';
import { Inputs } from '../../bench/inputs.ts';
import { parseResults } from '../../bench/read-results.ts';
import { suiteTable } from '../../bench/report/measurement-tables.ts';
import { terminalSummary } from '../../bench/report/terminal.ts';
import { tables } from '../../bench/suites/tables.ts';
import { watchedHere } from '../../bench/watched-run.ts';
import { openDevice } from '../../lib/index.ts';
import { noCpu } from '../harness/cpu-backend.ts';
import { measurement, results } from './some-results.ts';

const sizes = { dimensions: [], counts: [], dtypes: [] };
const count = 700;
const inputs = new Inputs().of(['table'], 8 * count, 'float64');
const problems = tables
  .problems(sizes, new Inputs())
  .map((problem): Problem => ({ ...problem, count, inputs: () => inputs }));
// Only this test writes here.
const temporary = mkdtempSync(join(tmpdir(), 'covarium-'));
process.env['TMPDIR'] = temporary;
test.after(() => rmSync(temporary, { recursive: true }));

test('The suite has its own sizes, which are smaller in a quick run.', () => {
  const countOf = (quick: boolean) =>
    tables.problems({ ...sizes, quick }, new Inputs()).map((problem) => problem.count);
  assert.equal(new Set(countOf(false)), new Set([1_000_000]));
  assert.equal(new Set(countOf(true)), new Set([100_000]));
});

test('Memory and holds of the event loop of a run are measured, and are in the report.', async () => {
  const mebibytes = 64;
  const held: Uint8Array[] = [];
  const use = await watchedHere(async () => {
    held.push(new Uint8Array(mebibytes << 20).fill(1));
    const end = performance.now() + 30;
    while (performance.now() < end);
  });
  assert.is(held.length, 1);
  if (process.platform === 'linux') {
    assert.ok(use.peakMemory! > 0.9 * (mebibytes << 20), `${use.peakMemory}`);
    assert.ok(use.longestHold! > 0);
  }
  const told = { peakMemory: 64e6, longestHold: 5e6 };
  const measurements = [measurement({ suite: 'tables', case: 'read NPY', use: told })];
  const read = parseResults(JSON.stringify(results({ measurements })), 'results.json');
  assert.equal(read.measurements[0]!.use, told);
  const { columns, rows } = suiteTable(read, 'tables');
  assert.equal(
    columns.slice(-2).map(({ title }) => title),
    ['peak memory', 'longest hold'],
  );
  assert.equal(rows[0]!.slice(-2), ['64 MB', '5 ms']);
  assert.match(stripVTControlCharacters(terminalSummary(read, 200)), /read NPY +cpu +64 MB +5 ms/);
  const without = parseResults(JSON.stringify(results({})), 'results.json');
  assert.not.ok(
    suiteTable(without, without.measurements[0]!.suite).columns.some(({ title }) => title === 'peak memory'),
  );
  assert.throws(
    () =>
      parseResults({ ...results({ measurements: [{ ...measurements[0]!, use: { peakMemory: -1 } as never }] }) }, ''),
    /use\.peakMemory is negative/,
  );
});

test('Only a CPU with all of its threads takes part.', async () => {
  using reference = openDevice('reference');
  assert.is(await tables.layOut(problems[0]!, reference), undefined);
});

if (noCpu !== '') console.log(`skipped  tables of the benchmark: ${noCpu}`);
else
  for (const problem of problems)
    test(`${problem.case}: gives the right numbers, and leaves no file behind.`, async () => {
      using device = openDevice('cpu', { threads: 2 });
      const laidOut = (await tables.layOut(problem, device))!;
      assert.is(readdirSync(temporary).length, 1);
      assert.is(await laidOut.run(), undefined);
      const result = await laidOut.result!();
      const { expected, project } = expectedResultOf(problem)!;
      assert.equal(project(result), expected());
      assert.equal(result.length, 8 * count);
      laidOut.close();
      assert.equal(readdirSync(temporary), []);
    });

test.run();
