// Probabilities of Student's t, compared with mpmath (test/answers/student-cdf.json) and closed forms.
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { probabilityBetween } from '../../lib/probability/standard-normal.ts';
import { studentBetween, studentError } from '../../lib/probability/student.ts';

const { rows }: { readonly rows: readonly { readonly nu: number; readonly t: number; readonly tail: number }[] } =
  JSON.parse(readFileSync(new URL('../answers/student-cdf.json', import.meta.url), 'utf8'));

const near = (actual: number, expected: number, bound: number, place: string) =>
  assert.ok(Math.abs(actual - expected) <= bound * expected, `${place}: ${actual}, not ${expected}`);

test('Tails are right to the last digits, and both are alike.', () => {
  assert.ok(rows.length > 50);
  for (const { nu, t, tail } of rows) {
    // A power of nu / (nu + t^2) loses digits with its exponent, and its rounding counts where it is near 1.
    const bound = 8e-15 + 2 ** -51 * Math.abs(Math.log(tail)) + 2e-17 * Math.min(nu, 1000);
    near(studentBetween(t, Number.POSITIVE_INFINITY, nu), tail, bound, `nu = ${nu}, t = ${t}`);
    assert.is(studentBetween(Number.NEGATIVE_INFINITY, -t, nu), studentBetween(t, Number.POSITIVE_INFINITY, nu));
    const inside = studentBetween(-t, t, nu);
    assert.ok(Math.abs(inside - (1 - 2 * tail)) <= studentError, `nu = ${nu}, |t| < ${t}: ${inside}`);
  }
});

test('One and two degrees of freedom have closed forms; very many give the normal.', () => {
  for (const t of [1e-9, 0.1, 1, 2.5, 40, 1e8, 1e200]) {
    near(studentBetween(t, Number.POSITIVE_INFINITY, 1), Math.atan(1 / t) / Math.PI, 4e-15, `Cauchy ${t}`);
    const root = Math.hypot(Math.SQRT2, t);
    if (t < 1e150) near(studentBetween(t, Number.POSITIVE_INFINITY, 2), 1 / root / (root + t), 8e-15, `2: ${t}`);
  }
  const [more, most] = [500, 1000].map((nu) => studentBetween(-1.5, 0.7, nu) - probabilityBetween(-1.5, 0.7));
  assert.ok(Math.abs(more! / most! - 2) < 0.01, `the distance halves: ${more}, ${most}`);
  assert.is(studentBetween(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, 0.1), 1);
});

test('With few degrees of freedom much of the probability is far out, and none of it is lost or negative.', () => {
  // The first term of the power series: Gamma(a + 1/2) / (2 sqrt(pi) Gamma(a + 1)) (nu / t^2)^a, a = nu / 2.
  near(studentBetween(1e307, Number.POSITIVE_INFINITY, 0.001), 0.245566518335985, 2e-14, 'beyond the square root');
  near(studentBetween(Number.NEGATIVE_INFINITY, 1e307, 0.001), 0.754433481664015, 2e-14, 'and below');
  for (const nu of [5e-324, 1e-310, 1e-200, 1e-20])
    for (const t of [1e-300, 1e-20, 1, 1e308]) {
      const inside = studentBetween(-t, t, nu);
      assert.ok(inside >= 0 && inside <= studentError, `nu = ${nu}, |t| < ${t}: ${inside}`);
      const tail = studentBetween(t, Number.POSITIVE_INFINITY, nu);
      assert.ok(Math.abs(tail - 0.5) <= studentError, `nu = ${nu}, t = ${t}: ${tail}`);
    }
});

test.run();
