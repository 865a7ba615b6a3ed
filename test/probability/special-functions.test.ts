// The gamma function's logarithm, its ratios and the differences of its derivative, against mpmath.
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { digammaDifference, log1pmx, logGamma, logGammaRatio } from '../../lib/probability/special-functions.ts';
import fc from '../harness/properties.ts';

const answers: {
  logGamma: [x: number, answer: number][];
  logGammaRatio: [x: number, b: number, answer: number][];
  digammaDifference: [x: number, b: number, answer: number][];
} = JSON.parse(readFileSync(new URL('../answers/gamma.json', import.meta.url), 'utf8'));

function near(value: number, wanted: number, allowed: number, what: string): void {
  assert.ok(Math.abs(value - wanted) <= allowed, `${what} is ${value}, not ${wanted} within ${allowed}`);
}

test("logGamma equals mpmath's to 1e-14 of its size, or of 1.", () => {
  for (const [x, wanted] of answers.logGamma)
    near(logGamma(x), wanted, 1e-14 * Math.max(1, Math.abs(wanted)), `logGamma(${x})`);
});

test("logGammaRatio equals mpmath's, even if both of its logarithms have 300 digits before the point.", () => {
  for (const [x, b, wanted] of answers.logGammaRatio) {
    // Below 10 it is computed as a difference of numbers of this size.
    const size = x < 10 ? Math.abs(logGamma(x)) + Math.abs(logGamma(x + b)) : b;
    near(logGammaRatio(x, b), wanted, 1e-14 * Math.max(1, Math.abs(wanted), size), `logGammaRatio(${x}, ${b})`);
  }
});

test("digammaDifference equals mpmath's to 1e-14 of its size.", () => {
  for (const [x, b, wanted] of answers.digammaDifference)
    near(digammaDifference(x, b), wanted, 1e-14 * Math.abs(wanted), `digammaDifference(${x}, ${b})`);
});

test('Gamma(x + 1) = x Gamma(x), psi(x + 1) = psi(x) + 1 / x, and half steps make a whole one.', () => {
  fc.assert(
    fc.property(fc.double({ min: 0.01, max: 1e4, noNaN: true }), (x) => {
      const size = 1 + Math.abs(logGamma(x));
      near(logGamma(x + 1), logGamma(x) + Math.log(x), 2e-14 * size, `logGamma(${x} + 1)`);
      near(digammaDifference(x, 1), 1 / x, 1e-14 / x, `digammaDifference(${x}, 1)`);
      const whole = digammaDifference(x, 0.5) + digammaDifference(x + 0.5, 0.5);
      near(whole, 1 / x, 1e-14 / x, `two halves from ${x}`);
      near(logGammaRatio(x, 1), 0, 2e-14 * size, `logGammaRatio(${x}, 1)`);
    }),
  );
});

const { log1pmx: differences }: { readonly log1pmx: readonly { readonly x: number; readonly value: number }[] } =
  JSON.parse(readFileSync(new URL('../answers/normal-questions.json', import.meta.url), 'utf8'));

test('ln(1 + x) - x agrees with 60-digit answers, to a few units in the last place.', () => {
  for (const { x, value } of differences) {
    const actual = log1pmx(x);
    assert.ok(Math.abs(actual - value) <= 8e-16 * Math.abs(value), `x = ${x}: ${actual}, not ${value}`);
  }
  assert.is(log1pmx(Number.POSITIVE_INFINITY), Number.NEGATIVE_INFINITY);
  assert.is(log1pmx(-1), Number.NEGATIVE_INFINITY);
});

test.run();
