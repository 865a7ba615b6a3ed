import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { holding, Kept } from '../../lib/command/hold.ts';
import {
  CovariumError,
  type Device,
  klDivergence,
  MultivariateNormal,
  MultivariateNormalBatch,
  MultivariateNormalMixture,
  MultivariateStudentT,
  MultivariateStudentTBatch,
  openDevice,
} from '../../lib/index.ts';
import { runSliced, sliceMs } from '../../lib/work.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { throwsCode } from '../harness/throws-code.ts';

const covariance = [[2, 0.5], [0.5, 1]]; // biome-ignore format: short
const covariances = [covariance, covariance];
// The second is so far out that its density is computed again.
const rows = [[1, 2], [1e30, 3]]; // biome-ignore format: short

onEveryDevice('a closed object stays until the calls in flight have ended, and is gone then.', async (device) => {
  const normal = MultivariateNormal.fromCovarianceSync({ device, covariance });
  const student = MultivariateStudentT.fromScaleSync({ device, scale: covariance, degreesOfFreedom: 5 });
  const batch = MultivariateNormalBatch.fromCovarianceSync({ device, covariances });
  const students = MultivariateStudentTBatch.fromScaleSync({ device, scales: covariances, degreesOfFreedom: 5 });
  const mixture = MultivariateNormalMixture.fromCovarianceSync({ device, weights: [1, 1], covariances });
  const models = [normal, student, batch, students, mixture];
  const calls: Promise<unknown>[] = [
    normal.sample(3, { empirical: true }),
    klDivergence(normal, normal),
    batch.logPdf(rows),
    batch.logPdfEach(rows),
    students.logPdf(rows),
    mixture.sample(3),
    mixture.responsibilities(rows),
  ];
  for (const one of [normal, student])
    calls.push(
      one.quantile([0.5, 0.5]),
      one.correlation(),
      one.summarize(100, { quantiles: [0.5] }),
      one.boxProbability({ upper: [1, 1] }),
      one.cdf([1, 1]),
      one.logPdf(rows),
      one.marginal([1]),
    );
  for (const model of models) model.close();
  await throwsCode('ERR_CLOSED', 'Normal of dimension (2) is closed', () => normal.quantile([0.5, 0.5]));
  for (const result of (await Promise.all(calls)).flat())
    if (typeof (result as { close?: unknown })?.close === 'function') (result as { close(): void }).close();
  assert.is(device.memory().liveBytes, 0);
});

onEveryDevice('a call that computes on the host ends soon after its device is closed.', async ({ kind }) => {
  const wide = Array.from({ length: 40 }, (_, i) => Array.from({ length: 40 }, (_, j) => 0.9 ** Math.abs(i - j)));
  const many = new Float64Array(2_000_000).fill(0.4);
  const calls: ((device: Device) => Promise<unknown>)[] = [
    (device) => {
      const lower = new Float64Array(40);
      const normal = MultivariateNormal.fromCovarianceSync({ device, covariance: wide });
      return normal.boxProbability({ lower, absoluteError: 0, maxPoints: 12 << 20 });
    },
    (device) => MultivariateStudentT.fromScaleSync({ device, scale: covariance, degreesOfFreedom: 5 }).quantile(many),
  ];
  for (const call of calls) {
    const device = openDevice(kind);
    const pending = call(device);
    setTimeout(() => device.close(), 20);
    const from = performance.now();
    // The second outcome is that of a commit in flight.
    const outcome = await pending.then(
      () => 'a result',
      ({ code }) => code,
    );
    assert.ok(['ERR_CLOSED', 'ERR_ABORTED'].includes(outcome), outcome);
    // Each call would take ten seconds or more.
    const took = performance.now() - from;
    assert.ok(took < 3000, `${took} ms`);
  }
});

onEveryDevice('blocks of a closed normal are refused, and the error says that it is closed.', async (device) => {
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance });
  await throwsCode('ERR_CLOSED', 'Normal of dimension (2) is closed', async () => {
    for await (const _ of normal.blocks(40, { rowsPerBlock: 10 })) normal.close();
  });
});

test('If its device was closed, a call fails with an error about the device; other errors stay.', async () => {
  const device = openDevice('reference');
  const kept = new Kept(device, () => {});
  const failing = (code: 'ERR_CLOSED' | 'ERR_SHAPE') => () =>
    holding(async () => {
      kept.hold();
      throw new CovariumError(code, '`rows` is of a closed device.');
    });
  await throwsCode('ERR_CLOSED', '`rows`', failing('ERR_CLOSED'));
  device.close();
  await throwsCode('ERR_CLOSED', 'was closed before the call was over', failing('ERR_CLOSED'));
  await throwsCode('ERR_SHAPE', '`rows`', failing('ERR_SHAPE'));
});

onEveryDevice('a large result that was closed says how many numbers it had.', async (device) => {
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance });
  const draws = normal.sampleSync(300_000);
  draws.close();
  await throwsCode('ERR_CLOSED', '(600000 numbers before)', () => draws.data);
});

test('a call that settles when a turn of the event loop is due lets it turn, with work in slices or without.', async () => {
  const spin = () => {
    for (const begin = performance.now(); performance.now() - begin < 2 * sliceMs; );
  };
  const calls: { readonly [name: string]: () => Promise<unknown> } = {
    holding: () => holding(async () => spin()),
    runSliced: () =>
      runSliced(
        (function* () {
          yield;
          spin();
        })(),
        undefined,
      ),
  };
  for (const [name, call] of Object.entries(calls)) {
    let turns = 0;
    const turn = () => {
      turns += 1;
      setImmediate(turn).unref();
    };
    setImmediate(turn).unref();
    for (let count = 0; count < 10; count++) await call();
    assert.ok(turns >= 9, `${name}: ${turns} turns`);
  }
});

test.run();
