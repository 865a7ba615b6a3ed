import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Problem } from '../../bench/contender.ts';
import { expectedResultOf } from '../../bench/expected-result.ts';
import { Inputs } from '../../bench/inputs.ts';
import { peerCases } from '../../bench/peers/cases.ts';
import { tables } from '../../bench/suites/tables.ts';
import { openDevice } from '../../lib/index.ts';
import { noCpu } from '../harness/cpu-backend.ts';

const sizes = { dimensions: [], counts: [], dtypes: [] };
const count = 700;
const inputs = new Inputs().of(['table'], 8 * count, 'float64');
const problems = tables
  .problems(sizes, new Inputs())
  .map((problem): Problem => ({ ...problem, count, inputs: () => inputs }));
// Where nobody else leaves a file.
const temporary = mkdtempSync(join(tmpdir(), 'covarium-'));
process.env['TMPDIR'] = temporary;
test.after(() => rmSync(temporary, { recursive: true }));

test('Its sizes are its own, and smaller in a quick run.', () => {
  const countOf = (quick: boolean) =>
    tables.problems({ ...sizes, quick }, new Inputs()).map((problem) => problem.count);
  assert.equal(new Set(countOf(false)), new Set([1_000_000]));
  assert.equal(new Set(countOf(true)), new Set([100_000]));
  assert.equal(
    problems.map((problem) => problem.case),
    peerCases[tables.name],
  );
});

test('Only a CPU with all of its threads has a row of it.', async () => {
  using reference = openDevice('reference');
  assert.is(await tables.layOut(problems[0]!, reference), undefined);
});

if (noCpu !== '') console.log(`skipped  tables of the benchmark: ${noCpu}`);
else
  for (const problem of problems)
    test(`${problem.case}: gives the numbers that are defined, and leaves no file behind.`, async () => {
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
