// The lattice rule: exact where it should be, better than chance, and its randomness a function of the seed.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { gaussLegendre } from '../../lib/probability/bivariate.ts';
import { latticeMean, lattices, latticeVector, pointLimits, randomRule } from '../../lib/probability/lattice.ts';
import { runSliced, runToEnd } from '../../lib/work.ts';
import { throwsCode } from '../harness/throws-code.ts';

const seed = Uint32Array.of(1, 2);
const all = { absoluteError: 0, relativeError: 0, maxPoints: pointLimits[0] * 16 };

test('Each component of the generating vector is odd and below 2^20, so that every point of one coordinate differs.', () => {
  assert.is(latticeVector.length, 256);
  for (const z of latticeVector) assert.ok(z % 2 === 1 && z < 2 ** 20, `${z}`);
  assert.is(new Set(latticeVector).size, 256);
});

// The squared worst-case error in the weighted Korobov space of smoothness 2, for weights 1 / j^2.
function worstCase(vector: ArrayLike<number>, dimensions: number, power: number): number {
  const count = 2 ** power;
  let sum = 0;
  for (let k = 0; k < count; k++) {
    let product = 1;
    for (let j = 0; j < dimensions; j++) {
      const x = (Math.imul(k, vector[j]!) & (count - 1)) / count;
      product *= 1 + (2 * Math.PI ** 2 * (x * x - x + 1 / 6)) / (j + 1) ** 2;
    }
    sum += product;
  }
  return sum / count - 1;
}

test('The lattice is better than half of random ones at any number of points, and than all of them in many dimensions.', () => {
  for (const power of [7, 9, 10, 12])
    for (const dimensions of [2, 5, 20]) {
      const ours = worstCase(latticeVector, dimensions, power);
      const others = Array.from({ length: 21 }, (_, rule) =>
        worstCase(randomRule(seed, rule, new Uint32Array(0), dimensions).generator, dimensions, power),
      ).sort((a, b) => a - b);
      const bound = others[dimensions === 20 && power > 7 ? 0 : 10]!;
      assert.ok(ours < bound, `2^${power} points in ${dimensions} dimensions: ${ours}, ${bound}`);
    }
});

test('The mean of a smooth function is found; its error falls faster than with random points, and covers the true value.', () => {
  // The mean of the product is 1.
  const smooth = (u: Float64Array) => u.reduce((product, x) => product * (1 + (x * x - 1 / 3)), 1);
  const errors = [7, 10, 13].map((power) => {
    const { mean, error, points } = runToEnd(
      latticeMean(smooth, 4, seed, { ...all, maxPoints: lattices << power }, 1000),
    );
    assert.is(points, lattices << power);
    assert.ok(Math.abs(mean - 1) <= 2 * error, `${mean} ${error}`);
    return error;
  });
  // With random points it would fall to an eighth.
  assert.ok(errors[2]! < errors[0]! / 200, `${errors}`);
});

test('The mean of a step is found, and that of a constant at once.', () => {
  const step = runToEnd(latticeMean((u) => (u[0]! + u[1]! < 0.5 ? 1 : 0), 2, seed, all, 1000));
  assert.ok(Math.abs(step.mean - 1 / 8) <= 2 * step.error && step.error < 2e-3, `${step.mean} ${step.error}`);
  assert.equal(runToEnd(latticeMean(() => 0.25, 3, seed, all, 1000)), { mean: 0.25, error: 0, points: pointLimits[0] });
});

test('A function that is tiny everywhere has the error and the points of the same function in another unit.', () => {
  const accuracy = { absoluteError: 0, relativeError: 1e-4, maxPoints: lattices << 16 };
  const inUnit = (unit: number) =>
    runToEnd(latticeMean((u) => unit * Math.exp(-3 * u[0]! * u[1]!), 2, seed, accuracy, 1000));
  const { mean, error, points } = inUnit(1);
  assert.ok(error < 1e-4 * mean && points < accuracy.maxPoints);
  for (const unit of [2 ** -500, 2 ** -600, 2 ** -1000])
    assert.equal(inUnit(unit), { mean: mean * unit, error: error * unit, points });
});

test('Beyond the vector, the components are random, odd, and different for each rule; shifts are in [0, 1).', () => {
  const [first, second] = [0, 1].map((rule) => randomRule(seed, rule, latticeVector, 2000)) as [
    ReturnType<typeof randomRule>,
    ReturnType<typeof randomRule>,
  ];
  assert.equal(first.generator.subarray(0, 256), latticeVector);
  assert.equal(second.generator.subarray(0, 256), latticeVector);
  const rest = first.generator.subarray(256);
  assert.ok(rest.every((z) => z % 2 === 1));
  assert.is(rest.filter((z, i) => z === second.generator[256 + i]).length, 0);
  assert.ok(first.shifts.every((x) => x >= 0 && x < 1));
  assert.ok(new Set([...first.shifts, ...second.shifts]).size > 3990);
  const mean = first.shifts.reduce((sum, x) => sum + x, 0) / 2000;
  assert.ok(Math.abs(mean - 0.5) < 0.03, `${mean}`);
  assert.equal(randomRule(seed, 1, latticeVector, 5).shifts, second.shifts.subarray(0, 5));
  assert.not.equal(randomRule(Uint32Array.of(1, 3), 1, latticeVector, 5).shifts, second.shifts.subarray(0, 5));
});

test('Work in slices lets the event loop run, gives the same result, and ends when a signal aborts.', async () => {
  const slow = () => latticeMean((u) => Math.sin(u[0]!), 1, seed, { ...all, maxPoints: 12 << 16 }, 100);
  assert.equal(await runSliced(slow(), undefined), runToEnd(slow()));
  // Times depend on the machine, so this work is over when a timer has fired three times.
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const giveUp = performance.now() + 60_000;
  const waiting = function* (): Generator<void, number, void> {
    while (turns < 3 && performance.now() < giveUp) yield;
    return turns;
  };
  try {
    assert.ok((await runSliced(waiting(), undefined)) >= 3, 'no timer fires while work goes on');
  } finally {
    clearInterval(timer);
  }
  await throwsCode('ERR_ABORTED', 'enough', () => runSliced(slow(), AbortSignal.abort('enough')));
  const controller = new AbortController();
  setImmediate(() => controller.abort(new Error('too slow')));
  const endless = function* (): Generator<void, never, void> {
    for (;;) yield;
  };
  await throwsCode('ERR_ABORTED', 'too slow', () => runSliced(endless(), controller.signal));
});

test('Gauss-Legendre rules are exact for polynomials up to the degree 2 count - 1.', () => {
  for (const count of [1, 2, 5, 20]) {
    const { nodes, weights } = gaussLegendre(count);
    for (let degree = 0; degree < 2 * count; degree++) {
      const sum = nodes.reduce((total, x, i) => total + weights[i]! * x ** degree, 0);
      assert.ok(Math.abs(sum - (degree % 2 === 0 ? 2 / (degree + 1) : 0)) < 1e-15 * 4, `${count} ${degree}: ${sum}`);
    }
  }
});

test.run();
