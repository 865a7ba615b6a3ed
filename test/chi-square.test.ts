// Nothing native runs here.
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { chiSquareQuantile } from '../lib/probability/gamma-quantile.ts';
import { log1pmx } from '../lib/probability/special-functions.ts';

const answers = JSON.parse(readFileSync(new URL('answers/normal-questions.json', import.meta.url), 'utf8'));

test('Quantiles of the chi-squared distribution are those of 60 digits, far into both tails.', () => {
  for (const { p, n, value } of answers.chiSquareQuantiles) {
    const actual = chiSquareQuantile(p, n);
    assert.ok(
      Math.abs(actual - value) <= 4e-14 * value,
      `p = ${p}, n = ${n}: ${actual}, not ${value}: ${actual / value - 1}`,
    );
  }
});

test('Tables say the same.', () => {
  // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.4: upper critical values.
  for (const [n, p, value] of [
    [1, 0.95, 3.841],
    [5, 0.9, 9.236],
    [10, 0.99, 23.209],
    [100, 0.975, 129.561],
  ] as const)
    assert.ok(Math.abs(chiSquareQuantile(p, n) - value) < 0.0005);
});

test('ln(1 + x) - x is that of 60 digits, to a few units in the last place.', () => {
  for (const { x, value } of answers.log1pmx) {
    const actual = log1pmx(x);
    assert.ok(Math.abs(actual - value) <= 8e-16 * Math.abs(value), `x = ${x}: ${actual}, not ${value}`);
  }
  assert.is(log1pmx(Number.POSITIVE_INFINITY), Number.NEGATIVE_INFINITY);
  assert.is(log1pmx(-1), Number.NEGATIVE_INFINITY);
});

test.run();
