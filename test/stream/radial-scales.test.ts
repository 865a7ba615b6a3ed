// The factors by which a Student-t scales its draws: sqrt(nu / w), where w is chi-squared. Seeds are fixed, so a test
// that has passed always passes.
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { normalCounter, type Word64 } from '../../lib/stream/counter.ts';
import { exponential, logarithm } from '../../lib/stream/elementary.ts';
import { fillRadialScales, RowWords } from '../../lib/stream/radial-scales.ts';
import { cellChecks } from '../harness/cell-checks.ts';
import { normalCdf } from '../harness/normal-cdf.ts';

const { quantilesOfChiSquared } = answers<{ quantilesOfChiSquared: { degreesOfFreedom: number; edges: number[] }[] }>(
  'student-t.json',
);
interface Run {
  readonly degreesOfFreedom: number;
  readonly seed: string;
  readonly stream: string;
  readonly firstRow: string;
  readonly scales: readonly number[];
  readonly attempts: readonly number[];
}
const { runs } = answers<{ runs: Run[] }>('radial-scales.json');
const alarm = 1e-5;

function scales(count: number, nu: number, seed: Word64, stream: Word64, firstRow: Word64): Float64Array {
  const out = new Float64Array(count);
  fillRadialScales(out, nu, normalCounter(seed, stream, 0), firstRow);
  return out;
}

test('logarithm and exponential agree with those of the engine, to a few units in the last place.', () => {
  let state = 1;
  for (let i = 0; i < 100_000; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const x = 2 ** ((state / 2 ** 32 - 0.5) * 1400) * (1 + (state % 1000) / 1000);
    near(logarithm(x), Math.log(x), 4e-16);
    const power = (state / 2 ** 32 - 0.5) * 1400;
    near(exponential(power), Math.exp(power), 4e-16);
  }
  for (const x of [1 - 2 ** -53, 1, 1 + 2 ** -52, Math.SQRT2, 2 ** -65, 2 ** -1022, Number.MAX_VALUE])
    near(logarithm(x), Math.log(x), 4e-16);
  assert.equal([exponential(0), exponential(1e300), exponential(-1e300)], [1, Number.MAX_VALUE, 0]);
});

for (const { degreesOfFreedom: nu, edges } of quantilesOfChiSquared)
  test(`w is chi-squared with ${nu} degrees of freedom, over a million rows.`, () => {
    const count = 1_000_000;
    const w = scales(count, nu, 20261121, 3, 0).map((scale) => nu / scale ** 2);
    let mean = 0;
    let square = 0;
    for (const value of w) {
      mean += value / count;
      square += (value - nu) ** 2 / count;
    }
    // The fourth central moment is 12 nu (nu + 4).
    const checks = [
      ...cellChecks(w, edges),
      { name: 'mean', p: twoSided((mean - nu) / Math.sqrt((2 * nu) / count)) },
      { name: 'variance', p: twoSided((square - 2 * nu) / Math.sqrt((12 * nu * (nu + 4) - 4 * nu * nu) / count)) },
    ];
    for (const { name, p } of checks) assert.ok(p > alarm, `${name} has p (${p})`);
  });

test('The checks find an error of half a degree of freedom in thirty, and, in a million rows, a scale that is off by a thousandth.', () => {
  const [thirty, million] = [30, 1e6].map((nu) => quantilesOfChiSquared.find((each) => each.degreesOfFreedom === nu)!);
  const seen = (w: Float64Array, edges: number[]) => cellChecks(w, edges).some(({ p }) => p < alarm);
  const count = 200_000;
  assert.ok(
    seen(
      scales(count, 30.5, 1, 0, 0).map((scale) => 30.5 / scale ** 2),
      thirty!.edges,
    ),
  );
  assert.ok(
    seen(
      scales(count, 1e6, 1, 0, 0).map((scale) => (1.001 * 1e6) / scale ** 2),
      million!.edges,
    ),
  );
});

test('A scale depends only on seed, stream, degrees of freedom and row.', () => {
  for (const nu of [0.3, 1, 2, 4.2, 1e9]) {
    const whole = scales(2000, nu, 42, 7, 2n ** 32n - 1000n);
    for (const [from, count] of [
      [0, 1],
      [1, 127],
      [128, 130],
      [999, 2],
      [1000, 1000],
    ] as const)
      assert.equal(scales(count, nu, 42, 7, 2n ** 32n - 1000n + BigInt(from)), whole.slice(from, from + count));
    for (const [seed, stream] of [
      [43, 7],
      [42, 8],
      [42n + 2n ** 32n, 7],
      [42, 7n + 2n ** 63n],
    ] as const)
      assert.ok(scales(2000, nu, seed, stream, 2n ** 32n - 1000n).every((scale, row) => scale !== whole[row]));
    assert.is(new Set(whole).size, 2000, 'no row repeats another');
  }
});

test('Scales equal those that mpmath computes from the words, with 50 digits.', () => {
  assert.ok(
    runs.some(({ attempts }) => attempts.some((attempt) => attempt > 1)),
    'one comes from the third try or later',
  );
  for (const { degreesOfFreedom: nu, seed, stream, firstRow, scales: wanted } of runs)
    scales(wanted.length, nu, BigInt(seed), BigInt(stream), BigInt(firstRow)).forEach((scale, row) => {
      // A power of 1 / nu magnifies the rounding of a logarithm by that much.
      near(scale, wanted[row]!, nu < 2 ? 1e-14 / nu : 1e-14);
    });
});

test('Scales of these rows are known to the bit: another engine or machine must give them too.', () => {
  assert.equal(Array.from(scales(3, 0.5, 42, 0, 0)), [0.29120667411943263, 3.491516966090827, 4.593768980514977]);
  assert.equal(Array.from(scales(3, 4.2, 42, 0, 0)), [0.6139755168653043, 2.0290450165541207, 1.5149043484129017]);
  assert.equal(Array.from(scales(1, 4.2, 2n ** 64n - 1n, 2n ** 64n - 1n, 2n ** 56n - 1n)), [1.336901463325828]);
});

test('The words of a row come from its own block, which no normal uses.', () => {
  const seen = new Set<string>();
  const words = new Int32Array(4);
  const rows = new RowWords(normalCounter(1, 2, 0), 2n ** 32n - 2n);
  for (let row = 0; row < 4; row++)
    for (let attempt = 0; attempt < 64; attempt++)
      for (const block of [0, 1] as const) {
        rows.write(row, attempt, block, words, 0);
        seen.add(words.join());
      }
  assert.is(seen.size, 4 * 64 * 2);
});

test('With few degrees of freedom scales exceed the range of doubles, and with many they are 1.', () => {
  const wild = scales(1000, 1e-3, 1, 0, 0);
  assert.ok(wild.every((scale) => scale > 0 && scale <= Number.MAX_VALUE));
  assert.ok(wild.some((scale) => scale === Number.MAX_VALUE) && wild.some((scale) => scale < 1));
  for (const nu of [1e34, 1e300, Number.MAX_VALUE]) assert.ok(scales(1000, nu, 1, 0, 0).every((scale) => scale === 1));
  assert.ok(scales(1000, 5e-324, 1, 0, 0).every((scale) => scale === Number.MAX_VALUE || scale === 0));
});

function near(value: number, wanted: number, relative: number): void {
  assert.ok(Math.abs(value - wanted) <= relative * Math.abs(wanted), `(${value}) is not (${wanted})`);
}

function answers<Data>(name: string): Data {
  return JSON.parse(readFileSync(new URL(`../answers/${name}`, import.meta.url), 'utf8')) as Data;
}

function twoSided(deviation: number): number {
  return 2 * normalCdf(-Math.abs(deviation));
}

test.run();
