// Subnormal numbers: the covariance of a Gaussian process has a great many in float32.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Inputs } from '../../bench/inputs.ts';
import { subnormal } from '../../bench/suites/subnormal.ts';
import { Matrix, MultivariateNormal, openDevice } from '../../lib/index.ts';
import { noLesser, withLesser } from '../harness/cpu-backend.ts';
import { near } from '../harness/near.ts';
import { onNative } from '../harness/on-native.ts';

const n = 400;
// exp(-distance / 4): below 2^-126 from a distance of 349 on.
const process = Float32Array.from({ length: n * n }, (_, at) => Math.exp(-Math.abs(Math.floor(at / n) - (at % n)) / 4));

onNative(
  'A thread of JavaScript keeps subnormal numbers after a call that flushes them, and after one that fails.',
  async () => {
    using device = openDevice('cpu');
    const smallest = 2 ** -1074;
    const half = () => (smallest * 3) / 2;
    const before = half();
    using normal = MultivariateNormal.fromCovarianceSync({ device, covariance: process });
    normal.sampleSync(1000, { seed: 1 });
    assert.is(half(), before);
    assert.ok(half() > 0);
    assert.throws(() => MultivariateNormal.fromCovarianceSync({ device, covariance: [[-1]] }));
    assert.ok(half() > 0);
    await normal.sample(1000, { seed: 1 });
    assert.ok(half() > 0);
  },
);

onNative('Subnormal numbers count as 0, on every thread: a product of them is 0 where the reference has 1e-40.', () => {
  const open = (threads: number) => openDevice('cpu', { threads });
  const places = [() => open(1), () => open(2)];
  for (const set of ['avx2', 'baseline'] as const)
    if (noLesser(set) === '') places.push(() => withLesser(set, () => open(2)));
  for (const [place, opened] of places.entries()) {
    using device = opened();
    const tiny = Matrix.from(new Float32Array(300 * 300).fill(1e-20), { columns: 300 });
    using square = tiny.multiplySync(tiny, { device });
    assert.ok(
      square.data.every((value) => value === 0),
      `${place}: ${square.data.find((value) => value !== 0)}`,
    );
  }
});

onNative('Draws, densities and factors of such a covariance equal those of the reference within rounding.', () => {
  using device = openDevice('cpu');
  using reference = openDevice('reference');
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance: process });
  using same = MultivariateNormal.fromCovarianceSync({ device: reference, covariance: process });
  near(normal.factorSync().data, same.factorSync().data, 1e-5);
  const draws = normal.sampleSync(50, { seed: 3 });
  near(draws.data, same.sampleSync(50, { seed: 3 }).data, 1e-5);
  near(normal.logPdfSync(draws).data, same.logPdfSync(draws.data.slice()).data, 1e-4);
});

// Before they were flushed, Intel's processors took five times as long; AMD's multiply subnormal numbers at full
// speed.
onNative('Draws with subnormal numbers take as long as without.', async () => {
  using device = openDevice('cpu', { threads: 1 });
  const sizes = { dimensions: [1000], counts: [200], dtypes: ['float32'] } as const;
  const laidOut = [];
  for (const problem of subnormal.problems(sizes, new Inputs()))
    if (problem.case.startsWith('factor kept')) laidOut.push(await subnormal.layOut(problem, device));
  const least = laidOut.map(() => Number.POSITIVE_INFINITY);
  // The least time of each: other work on the machine only adds.
  for (let round = 0; round < 10 || (round < 200 && least[1]! >= 2.5 * least[0]!); ++round)
    for (const [i, each] of laidOut.entries()) {
      const begin = performance.now();
      each!.run();
      least[i] = Math.min(least[i]!, performance.now() - begin);
    }
  for (const each of laidOut) each!.close();
  const [without, same] = least as [number, number];
  assert.ok(same < 2.5 * without, `${same} ms with subnormal numbers, ${without} ms without`);
});

test.run();
