// The suite of public functions: NumPy and SciPy are timed with the same functions as ours.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Contender } from '../../bench/contender.ts';
import { CostForecast } from '../../bench/cost-forecast.ts';
import { openDevices } from '../../bench/devices.ts';
import { Inputs } from '../../bench/inputs.ts';
import { peers } from '../../bench/peers/peers.ts';
import { functionsWithPeers } from '../../bench/suites/functions-with-peers.ts';
import { functionsWithoutPeers } from '../../bench/suites/functions-without-peers.ts';
import { suites } from '../../bench/suites.ts';
import { tryOut } from '../../bench/trial-pass.ts';
import * as face from '../../lib/index.ts';

test('Our functions agree with those of SciPy.', async () => {
  const [peer] = (await peers(['scipy'])) as [Contender];
  if (!peer.facts.available) return void console.log(`skipped  scipy: ${peer.facts.reason}`);
  const [reference] = openDevices(['reference']);
  const suite = suites.find(({ name }) => name === 'functions')!;
  const sizes = { dimensions: [2, 3, 13, 40], counts: [40], dtypes: ['float32', 'float64'] } as const;
  const compared = new Set<string>();
  for (const problem of suite.problems(sizes, new Inputs())) {
    const trials = await tryOut(problem, [reference!, peer], new CostForecast([]), 60_000, () => false);
    const trial = trials.find(({ contender }) => contender === peer);
    assert.is(trial?.state, 'ready', `${problem.case}, ${problem.dtype}, ${problem.dimension}: ${trial?.reason}`);
    if (trial!.check !== null) compared.add(problem.case);
  }
  const harsh = Array.from(compared).filter((name) => name.endsWith(', harsh'));
  assert.is(compared.size - harsh.length, Object.keys(functionsWithPeers).length - 1, 'all but draws');
  assert.is(harsh.length, 10);
  for (const each of [peer, reference!]) await each.close();
});

// Functions that are timed under another name, or by the row of the function that does their work.
const rowsOf: Readonly<Record<string, string>> = {
  'MultivariateNormal.fromCovariance': 'make',
  'MultivariateNormal.standardDeviations': 'variances',
  'MultivariateStudentT.fromScale': 'Student-t make',
  'MultivariateStudentT.boxProbability': 'Student-t cdf',
  'MultivariateStudentT.pdf': 'Student-t logPdf',
  'MultivariateStudentTBatch.logPdfEach': 'Student-t batch logPdf',
  'MultivariateNormalBatch.fromCovariance': 'batch make',
  'MultivariateStudentTBatch.fromScale': 'Student-t batch make',
  'MultivariateNormalMixture.fromCovariance': 'make',
  'Matrix.covariance': 'Matrix covariance',
  'CommandBuffer.commit': 'multiply',
  // The suite `launch` times it.
  'Kernel.run': 'multiply',
};
// A Student-t uses the code of the normal with its scale for these.
const sharedByStudentT = [
  ...['fromCholesky', 'fromPrecision', 'fromDiagonal', 'fromEigen', 'fromLowRank', 'fromCorrelation', 'fromJSON'],
  ...['variances', 'standardDeviations', 'correlation', 'scale', 'factor', 'conditionalMeans', 'mahalanobis'],
];
const prefixes: Readonly<Record<string, string>> = {
  MultivariateStudentT: 'Student-t ',
  MultivariateNormalBatch: 'batch ',
  MultivariateStudentTBatch: 'Student-t batch ',
  MultivariateNormalMixture: 'mixture ',
  Moments: 'Moments ',
};

/** The public functions and methods with a synchronous twin, which are those that compute on a device. */
function computingFunctions(): string[] {
  const found: string[] = [];
  for (const [name, value] of Object.entries(face)) {
    if (`${name}Sync` in face) found.push(name);
    if (!/^[A-Z]/.test(name) || typeof value !== 'function' || name === 'Distribution') continue;
    const owners: object[] = [value, value.prototype];
    const inherited = Object.getPrototypeOf(value.prototype);
    if (inherited !== Object.prototype) owners.push(inherited);
    for (const owner of owners)
      for (const method of Object.getOwnPropertyNames(owner))
        if (Object.hasOwn(owner, `${method}Sync`)) found.push(`${name}.${method}`);
  }
  return found;
}

test('Every public function that computes on a device has a row in the suite of calls.', () => {
  const names = Object.keys({ ...functionsWithPeers, ...functionsWithoutPeers });
  const found = computingFunctions();
  assert.ok(found.length > 80, `(${found.length}) functions are found`);
  const lacking = found.filter((called) => {
    const [owner, method] = called.includes('.') ? (called.split('.') as [string, string]) : ['', called];
    if (owner === 'MultivariateStudentT' && sharedByStudentT.includes(method)) return false;
    return !names.includes(rowsOf[called] ?? `${prefixes[owner] ?? ''}${method}`);
  });
  assert.equal(lacking, [], 'add its row to bench/suites/functions-with-peers.ts or functions-without-peers.ts');
  const unknown = Object.keys(rowsOf).filter((called) => !found.includes(called));
  assert.equal(unknown, [], 'no such function');
});

test.run();
