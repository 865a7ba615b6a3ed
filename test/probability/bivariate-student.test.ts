import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bivariateStudentBox, bivariateStudentError } from '../../lib/probability/bivariate-student.ts';
import { studentBetween } from '../../lib/probability/student.ts';

const none = Number.NEGATIVE_INFINITY;
const below = (h: number, k: number, r: number, nu: number) => bivariateStudentBox([none, none], [h, k], r, nu);
const near = (value: number, wanted: number, what: string) =>
  assert.ok(Math.abs(value - wanted) <= bivariateStudentError, `${what}: ${value}, not ${wanted}`);

interface Case {
  readonly h: number;
  readonly k: number;
  readonly r: number;
  readonly nu: number;
  readonly probability: number;
}
const answers = new URL('../answers/bivariate-student.json', import.meta.url);
const cases = JSON.parse(readFileSync(answers, 'utf8')) as readonly Case[];

test('The probability below a point equals that of mpmath, with the coordinates in either order.', () => {
  assert.ok(cases.length >= 9);
  for (const { h, k, r, nu, probability } of cases) {
    near(below(h, k, r, nu), probability, `${h}, ${k}, ${r}, ${nu}`);
    near(below(k, h, r, nu), probability, `turned: ${h}, ${k}, ${r}, ${nu}`);
  }
});

test('An orthant at the centre is given by the arc sine of its correlation, for any degrees of freedom.', () => {
  for (const nu of [1, 2, 3, 8, 57, 1000])
    for (const r of [-0.999999, -0.5, 0, 0.3, 0.9999999])
      near(below(0, 0, r, nu), 0.25 + Math.asin(r) / (2 * Math.PI), `${r}, ${nu}`);
});

test('Boxes follow from the probabilities below their corners, and add up to strips.', () => {
  const limits = [none, -1e300, -30, -2, -0.1, 0.4, 3, 1e6, 1e200, -none];
  for (const nu of [1, 2, 7, 12, 400])
    for (const r of [-0.95, 0.1, 0.8]) {
      for (const [i, lower] of limits.entries())
        for (const upper of limits.slice(i + 1)) {
          let strip = 0;
          for (const [j, end] of limits.slice(1).entries())
            strip += bivariateStudentBox([lower, limits[j]!], [upper, end], r, nu);
          assert.ok(Math.abs(strip - studentBetween(lower, upper, nu)) < 1e-12, `${lower}, ${upper}, ${r}, ${nu}`);
        }
    }
});

test.run();
