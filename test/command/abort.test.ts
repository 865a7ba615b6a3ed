// Every asynchronous call that may take long accepts a signal, which stops it and leaves nothing behind.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Matrix, MultivariateNormal, nearestPositiveDefinite, openDevice } from '../../lib/index.ts';
import { type Asked, type Calls, callsOf } from '../harness/abort-calls.ts';
import { noCpu } from '../harness/cpu-backend.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { throwsCode } from '../harness/throws-code.ts';

// A result, or a plain object of several.
const closeAll = (result: unknown): void => {
  if (typeof result !== 'object' || result === null) return;
  if ('close' in result) (result as Matrix).close();
  else for (const part of Object.values(result)) closeAll(part);
};

onEveryDevice('a signal that has aborted stops every call, and leaves no memory behind.', async (device) => {
  const { calls, close } = callsOf(device);
  const live = device.memory().liveBytes;
  for (const [name, call] of Object.entries(calls)) {
    const error = await throwsCode('ERR_ABORTED', 'enough', () => call({ signal: AbortSignal.abort('enough') }));
    assert.is(error.cause, 'enough', name);
    const wrong = { signal: { aborted: false } } as unknown as Asked;
    await throwsCode('ERR_INVALID_ARGUMENT', 'Pass an AbortSignal', () => call(wrong));
    assert.is(device.memory().liveBytes, live, name);
    closeAll(await call({ signal: new AbortController().signal }));
    const unknown = await throwsCode('ERR_UNKNOWN_OPTION', '(sign)', () => call({ sign: 1 } as unknown as Asked));
    assert.match(unknown.message, /\bsignal\b/, 'the list of options has it');
  }
  close();
});

onEveryDevice('a synchronous twin does not take a signal.', async (device) => {
  const options = { device, signal: new AbortController().signal };
  const covariance = [[2, 0.5], [0.5, 1]]; // biome-ignore format: a row each
  await throwsCode('ERR_UNKNOWN_OPTION', '(signal)', () =>
    MultivariateNormal.fromCovarianceSync({ ...options, covariance } as never),
  );
  await throwsCode('ERR_UNKNOWN_OPTION', '(signal)', () => Matrix.from(covariance).eighSync(options as never));
});

if (noCpu === '')
  test('A signal that aborts later stops long work.', async () => {
    using device = openDevice('cpu');
    const n = 700;
    // Each column occurs twice, so the matrix is singular, and no factor is found before the eigenvalues.
    const place = (index: number) => index % (n / 2);
    const large = new Float64Array(n * n).map((_, at) =>
      Math.exp(-Math.abs(place(Math.floor(at / n)) - place(at % n)) / 5),
    );
    const square = Matrix.from(large, { columns: n });
    const calls: Calls = {
      singular: (o) => MultivariateNormal.fromCovariance({ device, covariance: square, singular: 'eigen', ...o }),
      nearest: (o) => nearestPositiveDefinite(large.map((entry, at) => entry * Math.sin(at)), { device, ...o }), // biome-ignore format: a row each
      columnQuantiles: (o) =>
        Matrix.from(new Float64Array(4e6).map(Math.sin), { columns: 2 }).columnQuantiles([0.5], o),
    };
    for (const [name, call] of Object.entries(calls)) {
      const controller = new AbortController();
      const begin = performance.now();
      const whole = call({ signal: controller.signal }).then(
        () => 'done',
        (error) => error.code,
      );
      setImmediate(() => controller.abort());
      assert.is(await whole, 'ERR_ABORTED', `${name} after ${performance.now() - begin} ms`);
    }
  });

test.run();
