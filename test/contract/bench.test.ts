// The benchmark's suites on every device: each problem gives the same result everywhere, and is measured.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { takesDtype } from '../../bench/contender.ts';
import { CostForecast } from '../../bench/cost-forecast.ts';
import { openDevices } from '../../bench/devices.ts';
import { Inputs } from '../../bench/inputs.ts';
import { suites } from '../../bench/suites.ts';
import { type Trial, tryOut } from '../../bench/trial-pass.ts';
import { listDevices } from '../../lib/index.ts';
import { isSoftMetal, kindsHere } from '../harness/every-device.ts';

const small = { dimensions: [2, 33], counts: [1, 7], dtypes: ['float32', 'float64'] } as const;

const never = () => false;

const isReference = ({ contender }: Trial) => contender.facts.name === 'reference';

const isSoftCuda = listDevices().some(({ kind, name }) => kind === 'cuda' && name.startsWith('Soft GPU'));
if (isSoftCuda) console.log('skipped  cuda: its stand-in is no measure of speed');

const here = [...new Set([...kindsHere, 'reference'])]
  .filter((kind) => kind !== 'cuda' || !isSoftCuda)
  .map((kind) => (kind === 'metal' && isSoftMetal ? 'softmetal' : kind));

// The fixed cost of a call takes long to measure, and differs on the stand-in.
if (isSoftMetal) console.log('skipped  calls, on the stand-in for Metal');
// Student-t cdf is left out: a call takes milliseconds and would be measured a hundred times; the suite `functions`
// has it too.
if (!isSoftMetal) console.log('skipped  calls: those of Student-t cdf');
// The host reads and writes tables for every device; test/bench/tables.test.ts tests that.
const leftOut = isSoftMetal ? ['tables', 'calls'] : ['tables'];
for (const suite of suites.filter(({ name }) => !leftOut.includes(name)))
  test(`${suite.name}: ${here.join(', ')} agree on every problem, and each measures it.`, async () => {
    const contenders = openDevices(here);
    // A call is measured at three dimensions; its hold of the thread at each requested dimension.
    const dimensions = suite.name === 'calls' ? [33] : small.dimensions;
    // The suite `functions` calls the same functions in both types.
    const dtypes = suite.name === 'calls' ? (['float32'] as const) : small.dtypes;
    const problems = suite
      .problems({ ...small, dimensions, dtypes, quick: suite.name === 'batches' }, new Inputs())
      .filter(({ case: name }) => suite.name !== 'calls' || !name.startsWith('Student-t cdf'));
    assert.is(
      new Set(
        problems.map((problem) => JSON.stringify([problem.case, problem.dtype, problem.dimension, problem.count])),
      ).size,
      problems.length,
    );
    for (const problem of problems) {
      // Metal leaves out float64; one size is enough to show it.
      if (isSoftMetal && problem.dtype === 'float64' && problem.dimension !== 2) continue;
      const trials = await tryOut(problem, contenders, new CostForecast([]), 60_000, never);
      const what = `${problem.case}, ${problem.dtype}, ${problem.dimension} x ${problem.count}`;
      const isOfKernels = ['launch', 'kernels'].includes(suite.name);
      assert.ok(trials.length === here.length || isOfKernels || problem.isOptional, what);
      // The first contender with a result; for functions and batches the others are compared with it.
      const judge = ['functions', 'batches'].includes(suite.name)
        ? (trials.find(isReference) ?? trials[0])?.contender
        : undefined;
      for (const { contender, state, reason, check } of trials) {
        if (!takesDtype(contender, problem)) {
          assert.equal([state, reason], ['left out', `${contender.facts.name} does not support float64.`], what);
          continue;
        }
        assert.is(state, 'ready', `${contender.facts.name}, ${what}: ${reason}`);
        if (check !== null) assert.ok(check.error <= check.tolerance);
        else if (suite.name !== 'calls' && contender !== judge)
          assert.ok(/^empty (?:commit|kernel)/.test(problem.case), `${what}: all that has a result is compared`);
        const prepared = await contender.prepare(problem);
        const { nanoseconds, splits } = await prepared!.measure(1);
        // A clock that ticks every 40 ns, like that of Apple's processors, may measure 0 for an upload of 4 numbers.
        assert.ok(nanoseconds.length > 0 && nanoseconds.every((each) => each >= 0 && each < 1e11), what);
        if (splits !== undefined) {
          assert.is(splits.length, nanoseconds.length, 'the warm-up is in neither');
          assert.ok(splits.every(({ encode, device, readBack }) => encode + device + readBack > 0));
        }
        await prepared!.close();
      }
      // One contender is compared with the definition: the reference device, if it is there.
      const judged = trials.find(isReference) ?? trials[0];
      if (judged?.check) assert.is(judged.check.against, 'definition');
    }
    for (const contender of contenders) await contender.close();
  });

test.run();
