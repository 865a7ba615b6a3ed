// The suite of public functions: what is timed beside NumPy and SciPy is the same function.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Contender } from '../../bench/contender.ts';
import { CostForecast } from '../../bench/cost-forecast.ts';
import { openDevices } from '../../bench/devices.ts';
import { Inputs } from '../../bench/inputs.ts';
import { peers } from '../../bench/peers/peers.ts';
import { publicFunctions } from '../../bench/suites/public-functions.ts';
import { suites } from '../../bench/suites.ts';
import { tryOut } from '../../bench/trial-pass.ts';

test('Our functions and those of SciPy agree.', async () => {
  const [peer] = (await peers(['scipy'])) as [Contender];
  if (!peer.facts.available) return void console.log(`skipped  scipy: ${peer.facts.reason}`);
  const [reference] = openDevices(['reference']);
  const suite = suites.find(({ name }) => name === 'functions')!;
  const sizes = { dimensions: [2, 3, 13], counts: [40], dtypes: ['float32', 'float64'] } as const;
  const compared = new Set<string>();
  for (const problem of suite.problems(sizes, new Inputs())) {
    const trials = await tryOut(problem, [reference!, peer], new CostForecast([]), 60_000, () => false);
    const trial = trials.find(({ contender }) => contender === peer);
    assert.is(trial?.state, 'ready', `${problem.case}, ${problem.dtype}, ${problem.dimension}: ${trial?.reason}`);
    if (trial!.check !== null) compared.add(problem.case);
  }
  assert.is(compared.size, Object.keys(publicFunctions).length - 1, 'all but draws');
  for (const each of [peer, reference!]) await each.close();
});

test.run();
