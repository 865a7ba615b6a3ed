// The gamma distribution's quantile against mpmath (test/answers/gamma-quantile.json) and closed forms.
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { chiQuantile, chiSquareQuantile, gammaQuantile } from '../../lib/probability/gamma-quantile.ts';
import { quantile } from '../../lib/probability/standard-normal.ts';

const { rows }: { readonly rows: readonly { readonly a: number; readonly x: number; readonly p: number }[] } =
  JSON.parse(readFileSync(new URL('../answers/gamma-quantile.json', import.meta.url), 'utf8'));

test('The quantile of p is the x that p was computed from.', () => {
  assert.ok(rows.length > 100);
  for (const { a, x, p } of rows) {
    const error = Math.abs(gammaQuantile(a, p) - x) / x;
    // A probability near 1 says little about its x: its rounding, divided by p a / x, limits the precision.
    const bound = p < 0.9 ? 2e-13 : 1e-6;
    assert.ok(error <= bound, `a = ${a}, p = ${p}: ${gammaQuantile(a, p)}, not ${x} (${error})`);
  }
});

test('Closed forms: a = 1 is exponential, a = 1/2 the square of a normal.', () => {
  for (const p of [1e-200, 1e-9, 0.01, 0.3, 0.5, 0.9, 0.999, 1 - 2 ** -50]) {
    const exponential = -Math.log1p(-p);
    assert.ok(Math.abs(gammaQuantile(1, p) - exponential) <= 1e-13 * exponential, `${p}`);
    if (p < 1e-8) continue;
    const normal = quantile(0.5 + p / 2) ** 2 / 2;
    const bound = p > 0.99 ? 1e-3 : 1e-13 + 1e-15 / p;
    assert.ok(Math.abs(gammaQuantile(0.5, p) - normal) <= bound * normal, `${p}: ${gammaQuantile(0.5, p)} ${normal}`);
  }
});

test('The steps and the expansion of a large a meet.', () => {
  for (const p of [1e-300, 1e-18, 1e-9, 0.01, 0.3, 0.5, 0.9, 1 - 1e-9]) {
    const a = 2000 + 500 * quantile(p) ** 2;
    const steps = gammaQuantile(a, p);
    const expansion = gammaQuantile(a * (1 + 2 ** -52), p);
    assert.ok(Math.abs(steps - expansion) <= 5e-15 * steps, `p = ${p}: ${steps} and ${expansion}`);
  }
  assert.is(gammaQuantile(1e300, 0.3), 1e300);
});

test('The time does not grow with a large a.', () => {
  const least = (a: number) => {
    let ms = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 5; round++) {
      const start = performance.now();
      for (let i = 1; i < 200; i++) gammaQuantile(a, i / 200);
      ms = Math.min(ms, performance.now() - start);
    }
    return ms;
  };
  const [large, larger] = [least(5e7), least(5e9)];
  assert.ok(large < 20 * larger, `${large} and ${larger} ms`);
});

test('The search ends for every p, and the quantile does not decrease.', () => {
  for (const a of [0.01, 0.5, 3, 1000, 1e12]) {
    let before = 0;
    for (const p of [Number.MIN_VALUE, 1e-300, 1e-20, 1e-3, 0.1, 0.5, 0.9, 1 - 1e-9, 1 - 2 ** -53]) {
      const x = gammaQuantile(a, p);
      assert.ok(Number.isFinite(x) && x >= before, `a = ${a}, p = ${p}: ${x} after ${before}`);
      before = x;
    }
  }
});

test('A radius is found even if its square underflows.', () => {
  for (const p of [1e-300, 1e-200, 1e-146, 1e-140]) {
    // 2 p / sqrt(2 pi) is the density at 0 times the width.
    for (const [n, radius] of [
      [1, p * Math.sqrt(Math.PI / 2)],
      [2, Math.sqrt(2 * p)],
    ] as const)
      assert.ok(Math.abs(chiQuantile(p, n) / radius - 1) < 2e-13, `p = ${p}, n = ${n}: ${chiQuantile(p, n)}`);
  }
  assert.is(chiQuantile(0.5, 5), Math.sqrt(chiSquareQuantile(0.5, 5)));
});

const answers = JSON.parse(readFileSync(new URL('../answers/normal-questions.json', import.meta.url), 'utf8'));

test('Quantiles of the chi-squared distribution agree with 60-digit answers, far into both tails.', () => {
  for (const { p, n, value } of answers.chiSquareQuantiles) {
    const actual = chiSquareQuantile(p, n);
    assert.ok(
      Math.abs(actual - value) <= 4e-14 * value,
      `p = ${p}, n = ${n}: ${actual}, not ${value}: ${actual / value - 1}`,
    );
  }
});

test('Quantiles agree with published tables.', () => {
  // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.4: upper critical values.
  for (const [n, p, value] of [
    [1, 0.95, 3.841],
    [5, 0.9, 9.236],
    [10, 0.99, 23.209],
    [100, 0.975, 129.561],
  ] as const)
    assert.ok(Math.abs(chiSquareQuantile(p, n) - value) < 0.0005);
});

test.run();
