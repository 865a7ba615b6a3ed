import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { falseAlarms, ratioInterval, roundsInterval, statisticChances } from '../../bench/ratio-interval.ts';
import type { Time } from '../../bench/results.ts';

/** Uniform numbers in (0, 1), the same for the same seed (mulberry32). */
function uniforms(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (((mixed ^ (mixed >>> 14)) >>> 0) + 0.5) / 2 ** 32;
  };
}

/** Times of runs: most near 1, some slow ones, and heavy tails. */
const skewed = (uniform: () => number) => 1 + 0.05 * -Math.log(uniform()) + (uniform() < 0.1 ? 0.5 : 0);

/** A machine that has two speeds, one round in two. */
const twoSpeeds = (uniform: () => number) => {
  const speed = uniform() < 0.5 ? 1 : 1.4;
  return () => speed * (1 + 0.01 * uniform());
};

const quantile = (sorted: readonly number[], share: number) => sorted[Math.round(share * (sorted.length - 1))]!;

function simulated(
  uniform: () => number,
  rounds: number,
  runs: number,
  draw: (uniform: () => number) => () => number,
): Time {
  const samples = Array.from({ length: rounds }, () => {
    const one = draw(uniform);
    return Array.from({ length: runs }, one).sort((p, q) => p - q);
  });
  const all = samples.flat().sort((p, q) => p - q);
  return {
    runs: all.length,
    median: quantile(all, 0.5),
    p25: quantile(all, 0.25),
    p75: quantile(all, 0.75),
    relativeMargin: 0,
    rounds: samples.map((round) => quantile(round, 0.5)),
  };
}

function scaled(time: Time, factor: number): Time {
  const { runs, relativeMargin, rounds, ...quantiles } = time;
  const [median, p25, p75] = [quantiles.median, quantiles.p25, quantiles.p75].map((each) => each * factor);
  return { runs, relativeMargin, rounds: rounds.map((each) => each * factor), median: median!, p25: p25!, p75: p75! };
}

const excludesOne = (interval: { low: number; high: number } | undefined) =>
  interval !== undefined && (interval.low > 1 || interval.high < 1);

test('The chances of the Mann-Whitney statistic equal those by counting.', () => {
  // 3 and 2: ways to put three among five, by how many pairs are in order.
  const ways = [1, 1, 2, 2, 2, 1, 1];
  const chances = [...statisticChances(3, 2)];
  assert.is(chances.length, ways.length);
  for (const [u, chance] of chances.entries()) assert.ok(Math.abs(chance - ways[u]! / 10) < 1e-15, `${u}: ${chance}`);
});

test('The interval leaves out as many quotients at either end as published tables of the test say.', () => {
  // Critical values of U at a two-sided level of 0.01: 0 for (5, 5), 2 for (6, 6), 16 for (10, 10), 105 for (20, 20).
  for (const [size, critical] of [
    [5, 0],
    [6, 2],
    [10, 16],
    [20, 105],
  ] as const) {
    const base = Array.from({ length: size }, (_, i) => 1 + i / 100);
    const other = Array.from({ length: size }, (_, i) => 7 + i * i);
    const quotients = other.flatMap((p) => base.map((q) => p / q)).sort((p, q) => p - q);
    const interval = roundsInterval(base, other)!;
    assert.is(interval.low, quotients[critical], `${size}`);
    assert.is(interval.high, quotients[quotients.length - 1 - critical], `${size}`);
  }
});

test('Too few rounds decide nothing.', () => {
  for (const [m, n] of [
    [1, 1],
    [1, 60],
    [3, 3],
    [4, 4],
    [4, 5],
    [2, 18],
  ] as const)
    assert.is(roundsInterval(Array(m).fill(1), Array(n).fill(100)), undefined, `${m}, ${n}`);
  for (const [m, n] of [
    [5, 5],
    [4, 6],
    [3, 10],
    [60, 60],
  ] as const)
    assert.equal(roundsInterval(Array(m).fill(1), Array(n).fill(100)), { low: 100, high: 100 }, `${m}, ${n}`);
});

test('The normal approximation from 50 rounds on continues the exact test.', () => {
  const interval = (size: number) => {
    const rounds = Array.from({ length: size }, (_, i) => Math.exp(i / size));
    return roundsInterval(rounds, rounds)!;
  };
  const [exact, approximate] = [interval(49), interval(50)];
  assert.ok(Math.abs(exact.low / approximate.low - 1) < 0.01, `${exact.low}, ${approximate.low}`);
  assert.ok(exact.low < approximate.low, 'more rounds, a narrower interval');
});

test('Rounds of one distribution are told apart as rarely as stated, and not much more rarely: 2 / 252 for five and five.', () => {
  const uniform = uniforms(1);
  const rounds = () => Array.from({ length: 5 }, () => skewed(uniform));
  let apart = 0;
  const trials = 40_000;
  for (let i = 0; i < trials; ++i) if (excludesOne(roundsInterval(rounds(), rounds()))) ++apart;
  // The standard error of the share is 0.0004.
  assert.ok(Math.abs(apart / trials - 2 / 252) < 0.0016, `${apart / trials}`);
});

test('Equal machines are called different in less than the stated share of runs, steady or with two speeds.', () => {
  for (const [name, rounds, draw] of [
    ['skewed, 5 rounds', 5, (uniform: () => number) => () => skewed(uniform)],
    ['skewed, 9 rounds', 9, (uniform: () => number) => () => skewed(uniform)],
    ['two speeds, 5 rounds', 5, twoSpeeds],
    ['two speeds, 10 rounds', 10, twoSpeeds],
  ] as const) {
    const uniform = uniforms(rounds);
    let apart = 0;
    const trials = 3000;
    for (let i = 0; i < trials; ++i)
      if (excludesOne(ratioInterval(simulated(uniform, rounds, 5, draw), simulated(uniform, rounds, 5, draw)))) ++apart;
    assert.ok(apart / trials <= falseAlarms, `${name}: ${apart} of ${trials}`);
  }
});

test('A planted factor of 1.5 is found in every run, on the right side, and lies within its interval.', () => {
  const uniform = uniforms(3);
  const draw = () => () => skewed(uniform);
  for (let i = 0; i < 300; ++i) {
    const base = simulated(uniform, 5, 20, draw);
    const slow = ratioInterval(base, scaled(simulated(uniform, 5, 20, draw), 1.5))!;
    assert.ok(slow.low > 1 && slow.low < 1.5 && slow.high > 1.5, `${slow.low}, ${slow.high}`);
    const fast = ratioInterval(base, scaled(simulated(uniform, 5, 20, draw), 1 / 1.5))!;
    assert.ok(fast.high < 1 && fast.low < 1 / 1.5 && fast.high > 1 / 1.5, `${fast.low}, ${fast.high}`);
  }
});

test('Rounds that differ are within the noise if a median lies in the middle half of the other runs.', () => {
  const base: Time = { runs: 50, median: 100, p25: 95, p75: 106, relativeMargin: 0, rounds: [99, 99, 100, 101, 101] };
  const narrow = scaled(base, 1.05);
  assert.ok(excludesOne(roundsInterval(base.rounds, narrow.rounds)));
  assert.not.ok(excludesOne(ratioInterval(base, narrow)));
  assert.ok(excludesOne(ratioInterval(base, scaled(base, 1.07))));
  assert.not.ok(excludesOne(ratioInterval(base, { ...scaled(base, 1.07), p25: 99 })));
});

test('Swapping the two gives the reciprocal interval.', () => {
  const uniform = uniforms(4);
  const [p, q] = [0, 1].map(() => simulated(uniform, 7, 9, () => () => skewed(uniform))) as [Time, Time];
  const [there, back] = [ratioInterval(p, q)!, ratioInterval(q, p)!];
  assert.ok(Math.abs(there.low * back.high - 1) < 1e-12 && Math.abs(there.high * back.low - 1) < 1e-12);
});

test('Times of 0, from a coarse clock, have no ratio.', () => {
  const some: Time = { runs: 9, median: 10, p25: 9, p75: 11, relativeMargin: 0, rounds: [10, 10, 10, 10, 10] };
  const none: Time = { ...some, median: 0, p25: 0, p75: 0, rounds: [0, 0, 0, 0, 0] };
  assert.is(ratioInterval(some, none), undefined);
  assert.is(ratioInterval(none, some), undefined);
  assert.is(ratioInterval(none, none), undefined);
});

test.run();
