// Long work is a command of the device, and the event loop keeps turning. Times are compared within one call: the
// longest hold is measured as a share of the call's own time, so other work of the machine does not matter.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Encoder } from '../../lib/backend.ts';
import { backendOf, commit } from '../../lib/backend-handle.ts';
import { Matrix, MultivariateNormal, nearestPositiveDefinite, openDevice, wasserstein } from '../../lib/index.ts';
import { noCpu } from '../harness/cpu-backend.ts';
import { scattered } from '../harness/naive.ts';
import { onNative } from '../harness/on-native.ts';

/** The longest time between two turns of the event loop while `work` runs, as a share of the whole. */
async function longestHold(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  let [last, longest, isDone] = [begin, 0, false];
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isDone = true;
  return Math.max(longest, performance.now() - last) / (performance.now() - begin);
}

/** exp(-distance / 5) with 1 added to the diagonal. */
const covarianceOf = (n: number) =>
  new Float64Array(n * n).map((_, at) => {
    const apart = Math.abs(Math.floor(at / n) - (at % n));
    return Math.exp(-apart / 5) + (apart === 0 ? 1 : 0);
  });

/** A covariance of rank n / 2. */
function singularOf(n: number): Float64Array<ArrayBuffer> {
  const square = covarianceOf(n / 2);
  return new Float64Array(n * n).map((_, at) => square[((at / n) >> 1) * (n / 2) + ((at % n) >> 1)]!);
}

if (noCpu !== '') {
  console.log(`skipped  the event loop: ${noCpu}`);
  test.skip('No asynchronous call holds the event loop for most of its time.');
} else
  test('No asynchronous call holds the event loop for most of its time.', async () => {
    using device = openDevice('cpu', { threads: 2 });
    const common = { device, dtype: 'float64' } as const;
    for (const n of [40, 500]) {
      const covariance = covarianceOf(n);
      using p = await MultivariateNormal.fromCovariance({ ...common, covariance });
      using q = await MultivariateNormal.fromCovariance({
        ...common,
        covariance: covariance.map((entry) => 2 * entry),
      });
      const noise = scattered(n * n, 1);
      const factor = Matrix.from(noise.subarray(0, n * (n / 5)), { columns: n / 5 });
      const diagonal = new Float32Array(n).fill(1);
      using lowRank = await MultivariateNormal.fromLowRank({ device, dtype: 'float32', factor, diagonal });
      const calls: { readonly [name: string]: () => Promise<unknown> } = {
        // A regular covariance would have a Cholesky factor, which takes a few milliseconds.
        'eigen of half the rank': () =>
          MultivariateNormal.fromCovariance({ ...common, covariance: singularOf(n), singular: 'eigen' }),
        ellipsoid: () => p.ellipsoid({ probability: 0.9 }),
        wasserstein: () => wasserstein(p, q),
        // Fewer coordinates would take a millisecond.
        'marginal of low rank': () => lowRank.marginal(Array.from({ length: n - 1 }, (_, i) => i)),
        nearest: () => nearestPositiveDefinite(noise, { device }),
      };
      for (const [name, call] of Object.entries(calls)) {
        const share = await longestHold(call);
        // The first round compiles the host's part.
        if (n === 500) assert.ok(share < 0.7, `${name} holds the event loop for (${share}) of its time`);
      }
    }
  });

onNative('a loop of small calls that are awaited lets the event loop turn.', async () => {
  using device = openDevice('cpu');
  using normal = await MultivariateNormal.fromCovariance({ device, covariance: [[1]] });
  let turns = 0;
  const turn = () => {
    turns += 1;
    setImmediate(turn).unref();
  };
  setImmediate(turn).unref();
  const begin = performance.now();
  let calls = 0;
  // On a busy machine a turn may take long.
  for (; turns < 20 && performance.now() - begin < 10_000; calls++) await normal.sample(1, { seed: calls });
  assert.ok(turns >= 20, `${turns} turns in ${performance.now() - begin} ms of ${calls} calls`);
});

test('the event loop turns after each commit that waits, even if one has run as soon as it is made.', async () => {
  const ran = { isBrief: () => false, commit: async () => ({ wallMs: 0, deviceMs: 0 }) } as unknown as Encoder;
  let turns = 0;
  const turn = () => {
    turns += 1;
    setImmediate(turn).unref();
  };
  setImmediate(turn).unref();
  for (let commits = 0; commits < 100; commits++) await commit(ran, []);
  assert.ok(turns >= 99, `${turns} turns`);
});

onNative('commits of few numbers are brief; of a decomposition that iterates, fewer still.', () => {
  using device = openDevice('cpu');
  const isBrief = (record: (encoder: Encoder) => void) => {
    const encoder = backendOf(device).encoder();
    record(encoder);
    const answer = encoder.isBrief();
    encoder.commitSync();
    assert.not(encoder.isBrief(), 'a commit that has ended');
    return answer;
  };
  for (const n of [8192, 8193]) {
    const record = (encoder: Encoder) => encoder.copy(new Float64Array(n), new Float64Array(n));
    assert.is(isBrief(record), n === 8192, `a copy of ${n}`);
  }
  for (const n of [127, 128]) {
    const record = (encoder: Encoder) => encoder.lu(new Float64Array(n * n).fill(1), new Float64Array(n), n);
    assert.is(isBrief(record), n === 127, `an LU decomposition of ${n}`);
  }
  for (const n of [15, 16]) {
    const record = (encoder: Encoder) => encoder.symmetricEigen(new Float64Array(n * n), new Float64Array(n), n, true);
    assert.is(isBrief(record), n === 15, `eigenvalues of ${n}`);
  }
});

onNative('a small call after a long one waits without holding the thread.', async () => {
  using device = openDevice('cpu', { threads: 1 });
  using normal = await MultivariateNormal.fromCovariance({ device, covariance: [[1]] });
  const begin = performance.now();
  const long = normal.sample(20_000_000, { seed: 1 });
  // The first call of a turn always goes to the device's thread.
  const small = Array.from({ length: 10 }, (_, i) => normal.sample(1, { seed: i }));
  const called = performance.now() - begin;
  const draws = await Promise.all(small);
  const waited = performance.now() - begin;
  assert.ok(called < 0.7 * waited, `the calls took ${called} ms of ${waited}`);
  for (const [i, draw] of draws.entries()) assert.is(draw.data[0], normal.sampleSync(1, { seed: i }).data[0]);
  (await long).close();
});

test.run();
