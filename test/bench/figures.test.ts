// What the benchmark computes from its samples: statistics, comparisons, shares, forecasts, crossovers; and what it
// reports about the machine.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { agreement } from '../../bench/agreement.ts';
import type { Problem, Work } from '../../bench/contender.ts';
import { CostForecast } from '../../bench/cost-forecast.ts';
import { crossovers } from '../../bench/crossover.ts';
import { commit, environment, powerOfLinux } from '../../bench/machine.ts';
import { fitInto } from '../../bench/quick-budget.ts';
import type { Limit, Measurement } from '../../bench/results.ts';
import { shareOfLimit } from '../../bench/share-of-limit.ts';
import { median, quantile, relativeMargin, timeOf } from '../../bench/statistics.ts';
import type { Trial } from '../../bench/trial-pass.ts';
import { withoutFolders } from '../../bench/without-folders.ts';
import type { RealDtype } from '../../lib/dtype.ts';

const near = (value: number | null, expected: number, tolerance = 1e-9) =>
  assert.ok(value !== null && Math.abs(value / expected - 1) < tolerance, `${value} is not near ${expected}`);

test('Quantiles are interpolated between neighbours.', () => {
  assert.is(quantile([1, 2, 3, 4], 0.5), 2.5);
  assert.is(quantile([10, 20, 40], 0.25), 15);
  assert.is(quantile([7], 0.75), 7);
  assert.is(median([9, 1, 5]), 5);
});

test("The relative margin is that of Student's interval.", () => {
  // scipy.stats.t.ppf(0.975, df): 12.706, 4.303, 3.182, 2.262, 1.984.
  near(relativeMargin([9, 11]), (12.706 * 1) / 10, 1e-3);
  near(relativeMargin([9, 10, 11]), 4.303 / Math.sqrt(3) / 10, 1e-3);
  near(relativeMargin([9, 9, 11, 11]), (3.182 * Math.sqrt(4 / 3 / 4)) / 10, 0.01);
  near(relativeMargin([8, 9, 9, 10, 10, 10, 10, 11, 11, 12]), (2.262 * Math.sqrt(12 / 9 / 10)) / 10, 1e-3);
  const hundred = Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? 9 : 11));
  near(relativeMargin(hundred), (1.984 * Math.sqrt(100 / 99 / 100)) / 10, 1e-3);
});

test('A time combines the runs of all rounds, and keeps the median of each round.', () => {
  const time = timeOf([[5, 1, 3], [], [7, 9]]);
  const { runs, median, p25, p75, rounds } = time;
  assert.equal({ runs, median, p25, p75, rounds }, { runs: 5, median: 5, p25: 3, p75: 7, rounds: [3, 8] });
});

test('A run that a coarse clock measured as 0 counts as a nanosecond, because log axes and ratios have no 0.', () => {
  const none = timeOf([
    [0, 0],
    [0, 100],
  ]);
  assert.equal([none.median, none.p25, none.p75, none.rounds], [1, 1, 25.75, [1, 50.5]]);
  assert.ok(Number.isFinite(none.relativeMargin));
  assert.is(timeOf([[0], [0]]).relativeMargin, 0);
});

test('Results agree within the tolerance relative to the largest entry, and to the bit if it is 0.', () => {
  assert.equal(agreement([1, -4], [1, -4], 'cpu', 0), { check: { against: 'cpu', error: 0, tolerance: 0 }, wrong: '' });
  assert.is(agreement([1, -4], [1.02, -4], 'cpu', 0.01).wrong, '');
  const off = agreement([1, -4], [1.5, -4], 'cpu', 0.01);
  assert.is(off.check.error, 0.125);
  assert.is(off.wrong, 'Number (0) is (1.5), and that of cpu (1).');
  assert.match(agreement([0, 1], [-0, 1], 'cpu', 0).wrong, 'Number (0)');
  assert.is(agreement([0, 1], [-0, 1], 'cpu', 1e-6).wrong, '');
  assert.is(agreement([Number.NaN], [Number.NaN], 'cpu', 0).wrong, '', 'the same bits');
});

test('A result that is not finite, too long or too short is wrong, and its error still fits into JSON.', () => {
  for (const result of [[1, Number.NaN], [1, Number.POSITIVE_INFINITY], [1], [1, 2, 3], []]) {
    const { check, wrong } = agreement([1, 2], result, 'cpu', 1e-3);
    assert.is(check.error, Number.MAX_VALUE);
    assert.match(wrong, /^[A-Z].*cpu.*\.$/);
  }
});

test('The share of the limit is the time that the rates allow divided by the time taken.', () => {
  const limit: Limit = {
    contender: 'cpu',
    dtype: 'float32',
    flopsPerSecond: 1e9,
    bytesPerSecond: 1e9,
    normalsPerSecond: 1e8,
  };
  const work = (flops: number, bytes: number, normals: number): Work => ({ flops, bytes, normals });
  near(shareOfLimit(work(1e6, 0, 0), limit, 2e6), 0.5);
  near(shareOfLimit(work(1e6, 0, 1e6), limit, 22e6), 0.5);
  near(shareOfLimit(work(1e6, 1e9, 0), limit, 2e9), 0.5);
  near(shareOfLimit(work(1e6, 1e6, 0), limit, 2e6), 0.5, 1e-9);
  assert.is(shareOfLimit(work(0, 1e6, 0), limit, 2e6), null, 'few bytes stay in a cache');
  assert.is(shareOfLimit(work(1e6, 0, 0), undefined, 2e6), null);
});

test('A cost is predicted from the limit, and from other sizes if they took long enough.', () => {
  const product = (dimension: number, dtype: RealDtype = 'float32'): Problem => ({
    suite: 'matrix-product',
    case: 'square',
    dtype,
    dimension,
    count: null,
    work: { flops: 2 * dimension ** 3, bytes: 0, normals: 0 },
    inputs: () => ({}),
    tolerance: 0,
  });
  const limit: Limit = {
    contender: 'slow',
    dtype: 'float32',
    flopsPerSecond: 1e6,
    bytesPerSecond: 1,
    normalsPerSecond: 1,
  };
  const forecast = new CostForecast([limit]);
  near(forecast.foresee('slow', product(100)).runMs, 2000);
  assert.equal(forecast.foresee('slow', product(100, 'float64')).runMs, 0, 'the limit of another dtype');
  assert.equal(forecast.foresee('peer', product(100)), { setupMs: 0, runMs: 0 });
  forecast.note('peer', product(100), { setupMs: 90, runMs: 110 });
  assert.equal(
    forecast.foresee('peer', product(200)),
    { setupMs: 0, runMs: 110 },
    '90 ms say nothing, 110 ms nothing about growth',
  );
  forecast.note('peer', product(200), { setupMs: 160, runMs: 180 });
  // 70 ms more for 7 x 10^6 more, and then for 56 x 10^6.
  assert.is(forecast.foresee('peer', product(400)).setupMs, 160, 'it is set up once, and may have stalled');
  near(forecast.foresee('peer', product(400)).runMs, 180 + 560);
  assert.equal(forecast.foresee('peer', product(400, 'float64')).runMs, 0, 'another dtype says nothing');
  assert.equal(forecast.foresee('peer', product(150)), { setupMs: 0, runMs: 0 }, 'a smaller one is tried');
  forecast.note('other', product(100), { setupMs: 0, runMs: 800 });
  near(forecast.foresee('other', product(200)).runMs, 800 + 7 * 500);
  forecast.note('third', product(100), { setupMs: 50, runMs: 1 });
  forecast.note('third', product(200), { setupMs: 1000, runMs: 1 });
  near(forecast.foresee('third', product(400)).setupMs, 1000 + 8 * 700);
});

test('A quick run fits into its time: first with shorter slices, then without the most expensive cases, peers before devices.', () => {
  const trialOf = (name: string, kind: 'device' | 'peer', runMs: number, state: 'ready' | 'wrong' = 'ready') =>
    ({ contender: { facts: { name, kind } }, state, cost: { setupMs: 0, runMs } }) as unknown as Trial;
  const [device, dear, cheap] = [trialOf('cpu', 'device', 500), trialOf('a', 'peer', 100), trialOf('b', 'peer', 1)];
  const tried = [{ problem: {} as Problem, trials: [device, dear, cheap, trialOf('c', 'peer', 9, 'wrong')] }];
  const cost = (trial: Trial, ms: number) => Math.max(trial.cost.runMs, ms);
  const fitted = (budgetMs: number) => fitInto(budgetMs, tried, 60, cost);
  assert.equal(fitted(660), { millisecondsPerCase: 60, dropped: new Set() });
  assert.equal(fitted(640), { millisecondsPerCase: 40, dropped: new Set() });
  assert.is(fitted(627).millisecondsPerCase, 26, 'whole, as --time takes it');
  assert.equal(fitted(510), { millisecondsPerCase: 6, dropped: new Set([dear]) });
  assert.equal(fitted(400), { millisecondsPerCase: 6, dropped: new Set([dear, cheap, device]) });
});

const line = (
  contender: string,
  medians: Readonly<Record<number, number>>,
  count: number | null = null,
  dtype: RealDtype = 'float32',
): Measurement[] =>
  Object.entries(medians).map(([dimension, median]) => ({
    suite: 'cholesky',
    case: 'factor',
    dtype,
    dimension: Number(dimension),
    count,
    contender,
    state: 'timed',
    reason: '',
    check: null,
    time: { runs: 2, median, p25: median, p75: median, relativeMargin: 0, rounds: [median] },
    split: null,
    shareOfLimit: null,
  }));

test('Lines that cross on log-log axes cross at the dimension where both take the same time.', () => {
  // t = 1000 n against t = n^2, which meet at n = 1000.
  const measurements = [
    ...line('gpu', { 100: 100_000, 10000: 10_000_000 }),
    ...line('cpu', { 10000: 100_000_000, 100: 10_000 }),
  ];
  const [only, ...others] = crossovers({ measurements });
  assert.equal(others, []);
  near(only!.dimension, 1000);
  assert.equal(
    [only!.slower, only!.faster, only!.suite, only!.case, only!.count],
    ['cpu', 'gpu', 'cholesky', 'factor', null],
  );
});

test('Lines that meet without crossing, share no sizes, or were not timed have no crossover.', () => {
  const meeting = [...line('gpu', { 10: 5, 20: 8, 40: 20 }), ...line('cpu', { 10: 4, 20: 8, 40: 10 })];
  assert.equal(crossovers({ measurements: meeting }), []);
  assert.equal(crossovers({ measurements: [...line('gpu', { 10: 5, 30: 1 }), ...line('cpu', { 10: 4, 20: 8 })] }), []);
  assert.equal(
    crossovers({ measurements: [...line('gpu', { 10: 5, 20: 1 }, 1), ...line('cpu', { 10: 1, 20: 5 }, 2)] }),
    [],
  );
  assert.equal(
    crossovers({ measurements: [...line('gpu', { 10: 5, 20: 1 }), ...line('cpu', { 10: 1, 20: 5 }, null, 'float64')] }),
    [],
  );
  const untimed = line('gpu', { 10: 5, 20: 1 }).map((each) => ({ ...each, time: null }));
  assert.equal(crossovers({ measurements: [...untimed, ...line('cpu', { 10: 1, 20: 5 })] }), []);
  assert.equal(crossovers({ measurements: [] }), []);
});

test('A tie between two leads counts once, and several crossovers are in the order of their dimensions.', () => {
  const measurements = [...line('a', { 1: 1, 10: 2, 100: 8, 1000: 1 }), ...line('b', { 1: 2, 10: 2, 100: 4, 1000: 2 })];
  const found = crossovers({ measurements });
  assert.equal(
    found.map(({ slower, faster }) => `${faster} overtakes ${slower}`),
    ['b overtakes a', 'a overtakes b'],
  );
  near(found[0]!.dimension, 10);
  assert.ok(found[1]!.dimension > 100 && found[1]!.dimension < 1000);
});

test('The machine reports its power source, the variables that change speed, and the commit only of its own checkout.', () => {
  const folder = mkdtempSync(join(tmpdir(), 'covarium-machine-'));
  try {
    const supply = (name: string, facts: Readonly<Record<string, string>>) => {
      mkdirSync(join(folder, name));
      for (const [file, text] of Object.entries(facts)) writeFileSync(join(folder, name, file), `${text}\n`);
    };
    assert.is(powerOfLinux(folder), '');
    assert.is(powerOfLinux(join(folder, 'missing')), '');
    supply('BAT0', { type: 'Battery', status: 'Discharging' });
    assert.is(powerOfLinux(folder), 'battery');
    supply('AC', { type: 'Mains', online: '1' });
    assert.is(powerOfLinux(folder), 'mains');
    mkdirSync(join(folder, 'inside'));
    assert.is(commit(join(folder, 'inside')), '');
  } finally {
    rmSync(folder, { recursive: true });
  }
  const all = {
    OPENBLAS_NUM_THREADS: '1',
    UV_THREADPOOL_SIZE: '8',
    MKL_CBWR: 'x',
    HOME: '/',
    NOMKL_X: '1',
    COVARIUM_THREADS: '2',
    COVARIUM_PYTHON: '/usr/bin/python3',
    COVARIUM_R: 'Rscript',
  };
  assert.equal(Object.keys(environment(all)), [
    'COVARIUM_THREADS',
    'MKL_CBWR',
    'OPENBLAS_NUM_THREADS',
    'UV_THREADPOOL_SIZE',
  ]);
});

test('Only the last part of a path is published, and other text stays.', () => {
  const texts = {
    '/usr/bin/python3': 'python3',
    '/home/jo doe/.venv/bin/python3 has no numpy; python: not in PATH': 'python3 has no numpy; python: not in PATH',
    'File (/tmp/peer-1/2-a) is gone.': 'File (2-a) is gone.',
    '/opt/a/liba.so:/opt/b/libb.so': 'liba.so:libb.so',
    'C:\\Users\\jo\\python.exe': 'python.exe',
    '433 GFLOP/s at https://netlib.org/blas/x, 1 / 2 of a/b/c':
      '433 GFLOP/s at https://netlib.org/blas/x, 1 / 2 of a/b/c',
  };
  assert.equal(withoutFolders(Object.keys(texts), '/home/jo doe'), Object.values(texts));
  assert.equal(withoutFolders({ facts: { file: '/a/b' }, runs: 1.5 }, '/'), { facts: { file: 'b' }, runs: 1.5 });
});

test.run();
