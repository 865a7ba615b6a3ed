// Probabilities of boxes against mpmath (test/answers/box-probability.json), R's mvtnorm (pmvnorm.json) and closed
// forms.
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type BoxProbability, type BoxQuestion, boxProbability } from '../../lib/probability/box-probability.ts';
import { pointLimits } from '../../lib/probability/lattice.ts';
import { cdf, density } from '../../lib/probability/standard-normal.ts';
import { runToEnd } from '../../lib/work.ts';
import fc from '../harness/properties.ts';
import { throwsCode } from '../harness/throws-code.ts';

const { POSITIVE_INFINITY: infinity } = Number;

type Limit = number | 'Infinity' | '-Infinity';

interface Case {
  readonly name: string;
  readonly loadings: readonly number[];
  readonly mean: readonly number[];
  readonly covariance: readonly number[];
  readonly lower: readonly Limit[];
  readonly upper: readonly Limit[];
  readonly degreesOfFreedom: number;
  readonly probability: number;
  readonly error: number;
}

const read = (name: string) => JSON.parse(readFileSync(new URL(`../answers/${name}.json`, import.meta.url), 'utf8'));
const exact: { readonly cases: readonly Case[]; readonly pairs: readonly (Case & { readonly r: number })[] } =
  read('box-probability');
const mvtnorm: readonly Case[] = read('pmvnorm').cases;

const numbers = (limits: readonly Limit[]) => Float64Array.from(limits, Number);
const ratherExact = { seed: 1, absoluteError: 1e-6, relativeError: 0, maxPoints: 3072 * 64 };

function ask(
  covariance: ArrayLike<number>,
  lower: readonly Limit[],
  upper: readonly Limit[],
  question: Partial<BoxQuestion> = {},
  mean: ArrayLike<number> = new Float64Array(lower.length),
): BoxProbability {
  const moments = { mean: Float64Array.from(mean), covariance: Float64Array.from(covariance) };
  return runToEnd(
    boxProbability(moments, { ...ratherExact, lower: numbers(lower), upper: numbers(upper), ...question }),
  );
}

const fill = <Value>(n: number, value: Value): Value[] => new Array<Value>(n).fill(value);

function square(n: number, entry: (i: number, j: number) => number): number[] {
  return Array.from({ length: n * n }, (_, at) => entry(Math.floor(at / n), at % n));
}

const equal = (n: number, r: number) => square(n, (i, j) => (i === j ? 1 : r));
const oneFactor = (a: readonly number[]) => square(a.length, (i, j) => (i === j ? 1 : a[i]! * a[j]!));

/**
 * A stated error is three standard errors: about one estimate in 60 is further off, and fewer than one in a million
 * twice as far.
 */
function isWithin({ probability, error }: BoxProbability, wanted: number, name: string, also = 0): void {
  const off = Math.abs(probability - wanted);
  assert.ok(off <= 2 * error + also, `${name}: ${probability} is (${off}) off ${wanted}, with an error of (${error})`);
}

test('Two normals: within 4e-15 of mpmath for any correlation.', () => {
  assert.ok(exact.pairs.length > 80);
  for (const { r, lower, upper, probability } of exact.pairs) {
    const got = ask([1, r, r, 1], lower, upper);
    const off = Math.abs(got.probability - probability);
    assert.is(got.points, 0, 'by the formula');
    assert.ok(off <= got.error && got.error <= 4e-15, `r = ${r}, ${lower} to ${upper}: ${off}`);
  }
});

test('Two normals: a tail with a requested relative error is integrated.', () => {
  const tails = exact.pairs.filter(({ probability: p }) => p < 1e-4 && p > 1e-60);
  assert.ok(tails.length > 5);
  for (const { r, lower, upper, probability } of tails) {
    const got = ask([1, r, r, 1], lower, upper, { absoluteError: 0, relativeError: 1e-5, maxPoints: 12 << 16 });
    isWithin(got, probability, `r = ${r}, ${lower} to ${upper}`);
    if (r > -0.9) assert.ok(got.error <= 1e-5 * got.probability, `r = ${r}: ${got.error / got.probability}`);
  }
});

test('One common factor: mpmath, from a tail of 1e-12 to 300 dimensions.', () => {
  for (const { name, loadings, lower, upper, probability } of exact.cases) {
    const n = loadings.length;
    const accuracy = n > 20 ? { maxPoints: 3072 * 2 } : { absoluteError: 0, relativeError: 1e-5 };
    const got = ask(oneFactor(loadings), lower, upper, accuracy);
    isWithin(got, probability, name);
    const enough = n > 20 ? 0.05 : 0.002;
    assert.ok(got.error < enough * probability, `${name}: an error of (${got.error}) says little`);
  }
});

test("R's mvtnorm: its examples, rank 4 of 10, Hilbert, twenty dimensions.", () => {
  const normals = mvtnorm.filter(({ degreesOfFreedom }) => degreesOfFreedom === 0);
  assert.ok(normals.length > 10);
  for (const { name, mean, covariance, lower, upper, probability, error } of normals) {
    const got = ask(covariance, lower, upper, { absoluteError: 1e-6 }, mean);
    isWithin(got, probability, name, error);
    assert.ok(got.error < 1e-3, `${name}: an error of (${got.error}) says little`);
  }
  // The values that ?pmvnorm (with an error of 1e-4) and R News 1/2 print.
  assert.ok(Math.abs(normals[0]!.probability - 0.5800051) < 1e-4);
  assert.ok(Math.abs(normals[1]!.probability - 0.8279846) < 1e-6);
});

test("Student's t: R's mvtnorm, the Cauchy's closed form, and the normal at infinity.", () => {
  const students = mvtnorm.filter(({ degreesOfFreedom }) => degreesOfFreedom > 0);
  assert.ok(students.length >= 4);
  for (const { name, degreesOfFreedom, covariance, lower, upper, probability, error } of students) {
    const got = ask(covariance, lower, upper, { degreesOfFreedom });
    isWithin(got, probability, name, error);
    assert.ok(got.error < 1e-4, `${name}: an error of (${got.error}) says little`);
  }
  const cauchy = ask([4], [-3], [7], { degreesOfFreedom: 1 }, [1]);
  isWithin(cauchy, (Math.atan(3) + Math.atan(2)) / Math.PI, 'Cauchy');
  // With two degrees of freedom: 1/2 + t / (2 sqrt(2 + t^2)).
  isWithin(ask([1], [-infinity], [1], { degreesOfFreedom: 2 }), 0.5 + 1 / (2 * Math.sqrt(3)), 'two');
  // An orthant at the centre does not depend on the degrees of freedom.
  for (const degreesOfFreedom of [0.5, 3, 1e5]) {
    const orthant = ask(equal(4, 0.5), fill(4, 0), fill(4, infinity), { degreesOfFreedom, maxPoints: 12 << 11 });
    isWithin(orthant, 0.2, `${degreesOfFreedom}`);
  }
  const box = (degreesOfFreedom: number | undefined) =>
    ask(equal(3, 0.5), fill(3, -1), fill(3, 2), { degreesOfFreedom, maxPoints: 12 << 11 });
  assert.equal(box(infinity), box(undefined));
  isWithin(box(1e6), box(undefined).probability, 'nearly', 1e-6 + 2 * box(undefined).error);
});

test("Student's t with very few degrees of freedom, and with very many, equals mpmath's in one dimension.", () => {
  // 1 - I(nu / (nu + t^2); nu / 2, 1 / 2) / 2 by mpmath 1.2.1 with 30 digits, at 1, and P(|T| < 10^9).
  for (const [degreesOfFreedom, below, within] of [
    [0.5, 0.698878389158679, 0.999979717089397],
    [0.01, 0.514748860450374, 0.211126385927139],
    [0.001, 0.502069138775368, 0.024563172119509],
    [1e12, 0.841344746068422, 1],
  ] as const) {
    isWithin(ask([1], [-infinity], [1], { degreesOfFreedom }), below, `${degreesOfFreedom}`, 1e-15);
    isWithin(ask([1], [-1e9], [1e9], { degreesOfFreedom }), within, `${degreesOfFreedom}`, 1e-15);
  }
  // With any degrees of freedom, half is below the centre: no limit is lost if the chi variable underflows.
  for (const degreesOfFreedom of [Number.MIN_VALUE, 1e-300, 1e-5, 1e15, Number.MAX_VALUE])
    isWithin(ask([1], [-infinity], [0], { degreesOfFreedom }), 0.5, `${degreesOfFreedom}`);
});

test("Student's t: a tail in one dimension keeps its digits, for any limit and any degrees of freedom.", () => {
  // By mpmath 1.2.1 with 40 digits.
  const tails = [
    [5, 1e4, 9.490166228758806e-20],
    [1000, 30, 7.687343722021741e-142],
    [1001, 30, 7.066109942244155e-142],
    [1001, 2, 0.022885038276710155],
    [1e9, 10, 7.619872453045539e-24],
  ] as const;
  for (const [degreesOfFreedom, t, tail] of tails)
    for (const relativeError of [1e-3, 0]) {
      const got = ask([1], [t], [infinity], { degreesOfFreedom, absoluteError: 0, relativeError, maxPoints: 1536 });
      isWithin(got, tail, `${degreesOfFreedom}, ${t}`);
      assert.ok(got.error < 1e-12 * tail, `${degreesOfFreedom}, ${t}: an error of (${got.error}) says little`);
    }
  // A narrow box, for which the formula gives few digits, is integrated: t(3) has the density 6 sqrt(3) / pi / 16 at
  // 1.
  const narrow = { degreesOfFreedom: 3, absoluteError: 0, relativeError: 1e-6 };
  const got = ask([1], [1], [1 + 2 ** -40], narrow);
  assert.ok(got.points > 0 && got.error < 2e-6 * got.probability, `${got.error} of ${got.probability}`);
});

test('Closed forms: orthants, independent coordinates, one dimension.', () => {
  for (const n of [2, 3, 5, 10, 30])
    isWithin(ask(equal(n, 0.5), fill(n, 0), fill(n, infinity)), 1 / (n + 1), `n = ${n}`);
  const [a, b, c] = [0.3, -0.6, 0.4];
  const orthant = 1 / 8 + (Math.asin(a) + Math.asin(b) + Math.asin(c)) / (4 * Math.PI);
  isWithin(ask([1, a, b, a, 1, c, b, c, 1], fill(3, 0), fill(3, infinity)), orthant, 'three');
  const upper = [0.5, -1, 2, 0, 1.5];
  const product = upper.reduce((p, z, i) => p * (cdf(z) - cdf(-1.75 * (i + 1))), 1);
  const variances = [4, 0.25, 9, 1e-12, 1e12];
  const covariance = square(5, (i, j) => (i === j ? variances[i]! : 0));
  const deviations = variances.map(Math.sqrt);
  const independent = ask(
    covariance,
    deviations.map((s, i) => 7 - 1.75 * (i + 1) * s),
    deviations.map((s, i) => 7 + upper[i]! * s),
    {},
    fill(5, 7),
  );
  // The limits 7 -+ 1e-6 are rounded to 4e-16.
  isWithin(independent, product, 'independent', 1e-9);
  assert.is(independent.points, pointLimits[0], 'every point is the same');
  const one = ask([4], [-1], [5], {}, [1]);
  assert.ok(Math.abs(one.probability - (cdf(2) - cdf(-1))) <= one.error && one.points === 0);
  const tail = ask([4], [61], [infinity], {}, [1]);
  assert.is(tail.probability, cdf(-30));
});

test('The true value is within the stated error in 98 of 100 runs.', () => {
  // If each of 800 independent runs succeeds with a chance of 0.98, fewer than 768 succeed once in a thousand times;
  // the seeds are fixed.
  let [runs, within] = [0, 0];
  for (const [n, accuracy] of [
    [3, { absoluteError: 0, maxPoints: pointLimits[0] }],
    [5, { absoluteError: 0, maxPoints: 3072 }],
    [5, { absoluteError: 1e-4 }],
    [10, { absoluteError: 0, maxPoints: 3072 }],
  ] as const) {
    for (let seed = 0; seed < 200; seed++, runs++) {
      const { probability, error } = ask(equal(n, 0.5), fill(n, 0), fill(n, infinity), { ...accuracy, seed });
      if (Math.abs(probability - 1 / (n + 1)) <= error) within++;
      assert.ok(error < 0.02, `${error} says little`);
    }
  }
  assert.is(runs, 800);
  assert.ok(within >= 768, `${within} of ${runs}`);
});

test('It ends when the error is small enough, or when all points are used.', () => {
  const at = (question: Partial<BoxQuestion>) => ask(equal(6, 0.3), fill(6, -1), fill(6, 2), question);
  for (const absoluteError of [1e-2, 1e-4, 1e-6]) {
    const { error, points } = at({ absoluteError, maxPoints: pointLimits[1] });
    assert.ok(error <= absoluteError);
    const before = at({ absoluteError: 0, maxPoints: Math.max(pointLimits[0], points / 2) });
    if (points > pointLimits[0]) assert.ok(before.error > absoluteError, 'half of the points are not enough');
  }
  const relative = at({ absoluteError: 0, relativeError: 1e-3 });
  assert.ok(relative.error <= 1e-3 * relative.probability);
  assert.is(at({ absoluteError: 0, maxPoints: 50_000 }).points, 12 << 12);
});

test('The result depends on chance only through the seed.', () => {
  const at = (seed: number | bigint) => ask(equal(4, 0.3), fill(4, -1), fill(4, 2), { seed });
  assert.equal(at(5), at(5n));
  assert.is.not(at(5).probability, at(6).probability);
  assert.is.not(at(5).probability, at(5n + (1n << 32n)).probability);
});

test('A singular covariance: coordinates that others determine only narrow the limits of those.', () => {
  // x, x again, and -2 x: the box is the smallest of the three intervals.
  const same = ask([1, 1, -2, 1, 1, -2, -2, -2, 4], [-1, -2, -1], [2, 0.75, 1]);
  assert.ok(Math.abs(same.probability - (cdf(0.5) - cdf(-0.5))) <= same.error, `${same.probability}`);
  assert.is(same.points, 0, 'rank 1');
  // x, y, x + y, y >= 0, x + y <= 0, for independent x, y: an eighth of the circle.
  const sum = ask([1, 0, 1, 0, 1, 1, 1, 1, 2], [-infinity, 0, -infinity] as number[], [infinity, infinity, 0]);
  isWithin(sum, 1 / 8, 'sum');
  // Independent columns, each with two limits.
  const twice = ask(
    square(6, (i, j) => (i % 3 === j % 3 ? 1 : 0)),
    fill(6, -1),
    [1, 1, 1, 2, 0.5, 0],
  );
  const [one, half, zero] = [cdf(1), cdf(0.5), 0.5].map((p) => p - cdf(-1)) as [number, number, number];
  isWithin(twice, one * half * zero, 'twice');
  assert.is(ask([1, 1, 1, 1], [0, -2], [1, -1]).probability, 0, 'two intervals that do not meet');
  assert.is(ask([1, 1, 1, 1], [-infinity, -infinity] as number[], [0, infinity]).probability, 0.5);
});

test('Coordinates without variance, without limits, without room.', () => {
  const certain = [0, 0, 0, 1];
  assert.is(ask(certain, [3, -infinity as number], [3, 0], {}, [3, 0]).probability, 0.5);
  assert.is(ask(certain, [3.1, -1], [4, 0], {}, [3, 0]).probability, 0);
  assert.equal(ask(equal(3, 0.5), fill(3, -infinity), fill(3, infinity)), { probability: 1, error: 0, points: 0 });
  assert.equal(ask(equal(3, 0.5), [0, 0, 1], [1, 1, 1]), { probability: 0, error: 0, points: 0 });
  assert.is(ask(equal(3, 0.5), fill(3, infinity), fill(3, infinity)).probability, 0);
  const pair = ask(equal(2, 0.5), [-1, 0], [2, infinity]);
  const free = ask(equal(4, 0.5), [-infinity, -1, -infinity, 0] as number[], [infinity, 2, infinity, infinity]);
  assert.equal(free, pair, 'free coordinates are left out');
  assert.is(ask(equal(5, 0.2), fill(5, 50), fill(5, infinity)).probability, 0, 'beyond all doubles');
});

test('An invalid covariance is refused.', async () => {
  const negative = await throwsCode('ERR_NOT_POSITIVE_DEFINITE', () => ask([1, 0, 0, -1], fill(2, 0), fill(2, 1)));
  assert.is(negative.pivot, 1);
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', () => ask([1, 2, 2, 1], fill(2, 0), fill(2, 1)));
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', () => ask(equal(3, -0.6), fill(3, 0), fill(3, 1)));
});

const entry = fc.double({ min: -2, max: 2, noNaN: true });
const anyBox = fc.integer({ min: 2, max: 4 }).chain((n) =>
  fc.record({
    n: fc.constant(n),
    // A root, with a diagonal that keeps the normal from being nearly singular.
    root: fc.array(entry, { minLength: n * n, maxLength: n * n }),
    lower: fc.array(fc.oneof(entry, fc.constant(-infinity)), { minLength: n, maxLength: n }),
    width: fc.array(fc.oneof(fc.double({ min: 0.1, max: 4, noNaN: true }), fc.constant(infinity)), {
      minLength: n,
      maxLength: n,
    }),
  }),
);
const covarianceOf = (n: number, root: readonly number[]) =>
  square(n, (i, j) =>
    root.slice(0, n).reduce((sum, _, k) => sum + root[i * n + k]! * root[j * n + k]!, i === j ? 0.2 : 0),
  );
const quick = { absoluteError: 1e-4, maxPoints: 12 << 11 };

test('Property: the order, the signs and the units of the coordinates do not matter.', () => {
  fc.assert(
    fc.property(anyBox, ({ n, root, lower, width }) => {
      const upper = lower.map((low, i) => (low === -infinity ? 1 : low + width[i]!));
      const covariance = covarianceOf(n, root);
      const plain = ask(covariance, lower, upper, quick);
      assert.ok(plain.probability >= 0 && plain.probability <= 1 + 1e-12, `${plain.probability}`);
      const order = (i: number) => n - 1 - i;
      const turned = ask(
        square(n, (i, j) => covariance[order(i) * n + order(j)]!),
        lower.map((_, i) => lower[order(i)]!),
        upper.map((_, i) => upper[order(i)]!),
        { ...quick, seed: 2 },
      );
      isWithin(turned, plain.probability, 'turned', 2 * plain.error + 1e-12);
      const sign = (i: number) => (i % 2 === 0 ? -1 : 8);
      const mirrored = ask(
        square(n, (i, j) => sign(i) * sign(j) * covariance[i * n + j]!),
        lower.map((low, i) => (sign(i) < 0 ? -upper[i]! : 8 * low)),
        upper.map((high, i) => (sign(i) < 0 ? -lower[i]! : 8 * high)),
        { ...quick, seed: 3 },
      );
      isWithin(mirrored, plain.probability, 'mirrored', 2 * plain.error + 1e-12);
    }),
    { numRuns: 60 },
  );
});

test('Property: two halves of a box add up to the whole.', () => {
  fc.assert(
    fc.property(anyBox, entry, ({ n, root, lower }, cut) => {
      const covariance = covarianceOf(n, root);
      const [first, ...rest] = lower;
      const low = Math.min(first!, cut - 0.5);
      const upper = rest.map((each) => (each === -infinity ? 0.5 : infinity));
      const whole = ask(covariance, [low, ...rest], [infinity, ...upper], quick);
      const below = ask(covariance, [low, ...rest], [cut, ...upper], { ...quick, seed: 2 });
      const above = ask(covariance, [cut, ...rest], [infinity, ...upper], { ...quick, seed: 3 });
      const error = Math.hypot(below.error, above.error);
      isWithin(
        { ...above, probability: below.probability + above.probability, error },
        whole.probability,
        'sum',
        2 * whole.error,
      );
      assert.ok(below.probability <= whole.probability + 2 * (below.error + whole.error));
    }),
    { numRuns: 60 },
  );
});

test('The derivative of the distribution function of two normals by an upper limit is a density.', () => {
  // d/db P(X <= b, Y <= c) = density(b) cdf((c - r b) / sqrt(1 - r^2)).
  const [r, b, c, step] = [0.6, 0.4, -0.3, 1e-4];
  const at = (limit: number) => ask(equal(2, r), fill(2, -infinity), [limit, c]).probability;
  const slope = (at(b + step) - at(b - step)) / (2 * step);
  assert.ok(Math.abs(slope - density(b) * cdf((c - r * b) / Math.sqrt(1 - r * r))) < 1e-8, `${slope}`);
});

test('Nearly equal coordinates: the stated error includes what a small number of points misses.', () => {
  for (const gap of [1e-5, 1e-7, 1e-8, 1e-10]) {
    const r = 1 - gap;
    const truth = (1 / 4 + Math.asin(r) / (2 * Math.PI)) / 2;
    const covariance = [1, r, 0, r, 1, 0, 0, 0, 1];
    let outside = 0;
    for (let seed = 0; seed < 10; seed++) {
      const { probability, error } = ask(covariance, fill(3, -infinity), fill(3, 0), {
        seed,
        absoluteError: 1e-5,
        maxPoints: 3072 * 256,
      });
      assert.ok(error < 1e-5, `${error}`);
      if (Math.abs(probability - truth) > error) outside++;
    }
    // Three standard errors of twelve rules; it was once 14 of 40 or more.
    assert.ok(outside <= 2, `${gap}: ${outside}`);
  }
});

test('A box that is a narrow corner: the stated error includes regions that no point has reached.', () => {
  for (const r of [-0.499, -0.4999, -0.49999, -0.499999]) {
    const truth = 1 / 8 + (3 * Math.asin(r)) / 4 / Math.PI;
    let outside = 0;
    for (let seed = 0; seed < 10; seed++) {
      const asked = { seed, absoluteError: 1e-5, maxPoints: 3072 * 256 };
      const { probability, error } = ask(equal(3, r), fill(3, 0), fill(3, infinity), asked);
      assert.ok(error < 1e-5, `${error}`);
      if (Math.abs(probability - truth) > error) outside++;
    }
    // It was once 8 of 20, by up to 50 times the error or more.
    assert.ok(outside <= 1, `${r}: ${outside}`);
  }
});

test.run();
