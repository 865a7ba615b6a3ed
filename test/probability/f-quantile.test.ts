// Quantiles of the F distribution and of Student's t against mpmath (test/answers/f-quantile.json), closed forms and
// each other.
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { logFQuantile, studentQuantile } from '../../lib/probability/f-quantile.ts';
import { chiSquareQuantile } from '../../lib/probability/gamma-quantile.ts';
import { stirlingError } from '../../lib/probability/special-functions.ts';
import { quantile } from '../../lib/probability/standard-normal.ts';
import { studentBetween } from '../../lib/probability/student.ts';
import fc from '../harness/properties.ts';

interface Row {
  readonly m: number;
  readonly nu: number;
  readonly logF: number;
  readonly below: number;
  readonly above: number;
}
interface StudentRow {
  readonly nu: number;
  readonly t: number;
  readonly above: number;
}
const { rows, students }: { readonly rows: readonly Row[]; readonly students: readonly StudentRow[] } = JSON.parse(
  readFileSync(new URL('../answers/f-quantile.json', import.meta.url), 'utf8'),
);

const near = (actual: number, expected: number, bound: number, place: string) =>
  assert.ok(Math.abs(actual - expected) <= bound, `${place}: ${actual}, not ${expected} within ${bound}`);

test('The quantile of p is the number from which p was computed.', () => {
  assert.ok(rows.length > 200);
  for (const { m, nu, logF, below, above } of rows) {
    // ln Gamma of a small nu / 2 is right to 1e-14, which counts tenfold if the requested tail is 1 minus a large
    // one.
    const bound = (nu < 1 ? 1e-13 : 1e-14) * Math.max(2, Math.abs(logF));
    near(logFQuantile(below, m, nu, above), logF, bound, `m = ${m}, nu = ${nu}`);
  }
});

test("Student's t quantiles are right, from the centre to 10^40.", () => {
  assert.ok(students.length > 30);
  for (const { nu, t, above } of students) {
    // Near a half, the rounding of the probability moves t by at least the square root of 2 pi times as much.
    const bound = 2e-14 * t + 2 ** -53 * 3 * (nu < 1 ? 2 : 1);
    near(studentQuantile(above, nu), -t, bound + 1e-15 * t * Math.abs(Math.log(t)), `nu = ${nu}`);
    near(studentQuantile(1 - above, nu), t, above > 1e-4 ? bound + 1e-11 * t : Number.POSITIVE_INFINITY, `nu = ${nu}`);
  }
});

test('With few degrees of freedom quantiles have the digits that docs/student-t.md promises.', () => {
  // mpmath, with 50 digits.
  for (const [nu, t] of [
    [0.001, 1.285764641292127e95],
    [0.01, 246_458_794.8055422],
  ] as const)
    near(studentQuantile(0.6, nu), t, (1e-14 / nu) * t, `nu = ${nu}`);
});

test('Closed forms: one degree of freedom is Cauchy, two are algebraic, F with 2 and nu is a power.', () => {
  for (const p of [1e-300, 1e-9, 0.01, 0.3, 0.4999, 0.5, 0.7, 0.999, 1 - 2 ** -40]) {
    const cauchy =
      p < 0.25 || p > 0.75
        ? (p < 0.5 ? -1 : 1) / Math.tan(Math.PI * Math.min(p, 1 - p))
        : Math.tan(Math.PI * (p - 0.5));
    near(studentQuantile(p, 1), cauchy, 1e-13 * Math.abs(cauchy), `Cauchy at ${p}`);
    const algebraic = (2 * p - 1) / Math.sqrt(2 * p * (1 - p));
    near(studentQuantile(p, 2), algebraic, 1e-13 * Math.abs(algebraic), `two at ${p}`);
    for (const nu of [0.3, 1, 6.5, 1e5]) {
      // P(F > f) = (1 + 2 f / nu)^(-nu / 2).
      const f = (nu / 2) * Math.expm1((-2 / nu) * Math.log1p(-p));
      near(logFQuantile(p, 2, nu), Math.log(f), 2e-14 * Math.max(2, Math.abs(Math.log(f))), `power at ${p}, ${nu}`);
    }
  }
});

test('With growing degrees of freedom, quantiles approach those of chi-squared and the normal.', () => {
  for (const p of [1e-100, 1e-12, 0.01, 0.5, 0.9, 1 - 2 ** -53]) {
    for (const nu of [1e25, 1e300, 5e307, Number.MAX_VALUE]) {
      const bound = 2e-13 * Math.max(1, -Math.log(p));
      for (const m of [1, 5, 300])
        near(logFQuantile(p, m, nu), Math.log(chiSquareQuantile(p, m) / m), bound, `${m}, ${nu}`);
      near(studentQuantile(p, nu), quantile(p), 3e-14 * Math.abs(quantile(p)), `${p}, ${nu}`);
    }
    assert.is(studentQuantile(p, Number.POSITIVE_INFINITY), quantile(p));
  }
});

test("Stirling's formula and its error give the gamma function, on both sides of where the series begins.", () => {
  // ln Gamma of 1, 1/2, 5, 11: 0, ln sqrt(pi), ln 24, ln 3628800.
  for (const [x, logGamma] of [
    [1, 0],
    [0.5, Math.log(Math.PI) / 2],
    [5, Math.log(24)],
    [11, Math.log(3628800)],
  ] as const)
    near(stirlingError(x), logGamma - ((x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2), 1e-14, `${x}`);
});

test('The search ends for every p, m and nu, and the quantile does not decrease.', () => {
  for (const nu of [1e-3, 0.5, 5, 1000, 1e6, 1e15, 1e100, 1e300])
    for (const m of [1, 5, 1000, 1e5]) {
      let before = Number.NEGATIVE_INFINITY;
      for (const p of [Number.MIN_VALUE, 1e-300, 1e-20, 1e-3, 0.1, 0.5, 0.9, 1 - 1e-9, 1 - 2 ** -53]) {
        const logF = logFQuantile(p, m, nu);
        assert.ok(Number.isFinite(logF) && logF > before, `m = ${m}, nu = ${nu}, p = ${p}: ${logF} after ${before}`);
        before = logF;
      }
    }
});

test('Property: the quantile is the inverse of the distribution function, odd about a half.', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.double({ min: 0.1, max: 1000, noNaN: true }), fc.double({ min: 1000, max: 1e12, noNaN: true })),
      fc.double({ min: -12, max: -0.302, noNaN: true }).map((exponent) => 10 ** exponent),
      (nu, p) => {
        const t = studentQuantile(p, nu);
        near(studentBetween(Number.NEGATIVE_INFINITY, t, nu) / p, 1, 1e-12, `nu = ${nu}, p = ${p}`);
        assert.is(studentQuantile(0.5, nu), 0);
        // 1 - p after rounding, and its complement.
        const upper = 1 - p;
        assert.is(studentQuantile(upper, nu), 0 - studentQuantile(1 - upper, nu));
      },
    ),
  );
});

test("The search for a quantile of Student's t begins close to it, with one degree of freedom or more.", () => {
  const { expm1 } = Math;
  for (const nu of [1, 2.5, 30, 1e6]) {
    // Each step takes two calls or more.
    let calls = 0;
    Math.expm1 = (x) => {
      calls++;
      return expm1(x);
    };
    try {
      for (let i = 1; i < 100; i++) studentQuantile(i / 100 + 0.001, nu);
    } finally {
      Math.expm1 = expm1;
    }
    assert.ok(calls < 1200, `nu = ${nu}: ${calls}`);
  }
});

test.run();
