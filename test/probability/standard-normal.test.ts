// The standard normal's functions, compared with mpmath (test/answers/standard-normal.json) and with each other.
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { cdf, density, probabilityBetween, quantile } from '../../lib/probability/standard-normal.ts';
import fc from '../harness/properties.ts';

type Name = 'arguments' | 'cdf' | 'probabilities' | 'quantile';

const answers: Readonly<Record<Name, readonly number[]>> = JSON.parse(
  readFileSync(new URL('../answers/standard-normal.json', import.meta.url), 'utf8'),
);

function agree(what: (x: number) => number, at: Name, name: Name, bound: number): void {
  const wanted = answers[name];
  assert.is(answers[at].length, wanted.length);
  for (const [i, x] of answers[at].entries()) {
    const [value, exact] = [what(x), wanted[i]!];
    if (value === exact) continue;
    const error = Math.abs(value - exact) / Math.abs(exact);
    assert.ok(error <= bound, `${name}(${x}) is ${value}, not ${exact}: relative error ${error}`);
  }
}

test('The distribution function is right to 1e-15, in both tails, down to 1e-307.', () => {
  assert.ok(answers.arguments.length > 250);
  agree(cdf, 'arguments', 'cdf', 1e-15);
});

test('The quantile has a relative error of at most 1e-15, from the least double to the largest below 1.', () => {
  assert.ok(answers.probabilities.includes(5e-324));
  agree(quantile, 'probabilities', 'quantile', 1e-15);
});

test('Values at the limits are right.', () => {
  const { POSITIVE_INFINITY: infinity, NEGATIVE_INFINITY: negative } = Number;
  assert.equal([cdf(negative), cdf(0), cdf(infinity)], [0, 0.5, 1]);
  assert.equal([quantile(0), quantile(0.5), quantile(1)], [negative, 0, infinity]);
  assert.equal(
    [
      probabilityBetween(negative, infinity),
      probabilityBetween(1, 1),
      probabilityBetween(2, 1),
      probabilityBetween(infinity, infinity),
    ],
    [1, 0, 0, 0],
  );
  assert.equal([density(0), density(infinity), density(50)], [1 / Math.sqrt(2 * Math.PI), 0, 0]);
  for (const outside of [-0.1, 1.1, Number.NaN]) assert.ok(Number.isNaN(quantile(outside)), `${outside}`);
  assert.ok(Number.isNaN(cdf(Number.NaN)));
});

test('Property: the quantile is the inverse of the distribution function.', () => {
  fc.assert(
    fc.property(fc.double({ min: -37, max: 0, noNaN: true }), (z) => {
      // The probability's rounding moves the quantile by that times Mills' ratio.
      const allowed = 1e-14 * Math.max(Math.abs(z), Math.min(1.26, 1 / Math.abs(z)));
      assert.ok(Math.abs(quantile(cdf(z)) - z) <= allowed, `${z}: ${quantile(cdf(z))}`);
    }),
  );
});

test('Property: the distribution function does not decrease.', () => {
  const z = fc.double({ min: -40, max: 10, noNaN: true });
  fc.assert(
    fc.property(z, z, (a, b) => {
      // Neighbours may differ by a rounding in either direction.
      const [low, high] = [cdf(Math.min(a, b)), cdf(Math.max(a, b))];
      assert.ok(low <= high * (1 + 1e-15), `${a} ${b}: ${low} ${high}`);
    }),
    { numRuns: 1000 },
  );
});

test('Property: the probability of an interval is the same from either side, adds up, and keeps its digits in a narrow one.', () => {
  const z = fc.double({ min: -20, max: 20, noNaN: true });
  fc.assert(
    fc.property(z, fc.double({ min: 1e-9, max: 3, noNaN: true }), (lower, width) => {
      const upper = lower + width;
      const whole = probabilityBetween(lower, upper);
      assert.is(probabilityBetween(-upper, -lower), whole);
      const middle = lower + width / 2;
      const sum = probabilityBetween(lower, middle) + probabilityBetween(middle, upper);
      // The error of two cdf that are at most 1e-15 off and differ by a hundredth.
      assert.ok(Math.abs(sum - whole) <= 1e-13 * whole, `${lower} ${upper}: ${sum}, ${whole}`);
      const most = Math.max(density(lower), density(upper), lower * upper <= 0 ? density(0) : 0);
      const least = Math.min(density(lower), density(upper));
      const given = upper - lower;
      assert.ok(whole <= most * given * (1 + 1e-13) && whole >= least * given * (1 - 1e-13), `${lower} ${upper}`);
    }),
    { numRuns: 3000 },
  );
});

test.run();
