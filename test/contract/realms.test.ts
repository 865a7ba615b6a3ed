// Values and errors of another realm, as under Jest, whose modules have their own constructors.
import { runInNewContext } from 'node:vm';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CovariumError, fromNative } from '../../lib/covarium-error.ts';
import { Matrix, MultivariateNormal, readTable, Vector } from '../../lib/index.ts';
import { plainLines } from '../../lib/table/csv-writer.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { throwsCode } from '../harness/throws-code.ts';

const foreign = <Value>(text: string) => runInNewContext(text) as Value;

onEveryDevice('Typed arrays of another realm are accepted like those of this one.', (device) => {
  const covariance = foreign<Float64Array>('new Float64Array([2, 0.5, 0.5, 1])');
  assert.not.instance(covariance, Float64Array);
  assert.equal(Matrix.from(covariance, { columns: 2 }).toArray(), [
    [2, 0.5],
    [0.5, 1],
  ]);
  assert.is(Vector.from(foreign<Int32Array>('new Int32Array(3)')).dtype, 'int32');
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance: Matrix.from(covariance, { columns: 2 }) });
  using ours = normal.logPdfSync(new Float32Array([1, 2]));
  using theirs = normal.logPdfSync(foreign<Float32Array>('new Float32Array([1, 2])'));
  assert.is(theirs.data[0], ours.data[0]);
});

test('Bytes of another realm are read like those of this one, from memory and from a stream.', async () => {
  const bytes = 'new Uint8Array([49, 44, 50, 10])';
  for (const source of [bytes, `${bytes}.buffer`, `(async function* () { yield ${bytes}; })()`]) {
    const { rows } = await readTable(foreign<Uint8Array>(source), { format: 'csv' });
    assert.equal(rows.toArray(), [[1, 2]], source);
  }
});

test('Errors of another realm keep their code and their message.', () => {
  const error = foreign<Error>("Object.assign(new Error('Metal is not here.'), { code: 'ERR_DEVICE_UNAVAILABLE' })");
  assert.not.instance(error, Error);
  const ours = fromNative(error);
  assert.equal([ours.code, ours.message], ['ERR_DEVICE_UNAVAILABLE', 'Metal is not here.']);
  assert.is(fromNative(foreign("new RangeError('Array buffer allocation failed')")).code, 'ERR_OUT_OF_MEMORY');
});

test("A refusal by Node's permission model has one of our codes, and the path.", () => {
  const fields = { code: 'ERR_ACCESS_DENIED', permission: 'FileSystemRead', resource: '/tmp/kernel.so' };
  const { code, path, message } = fromNative(Object.assign(new Error('Access is restricted'), fields));
  assert.equal([code, path], ['ERR_FILE_UNREADABLE', '/tmp/kernel.so']);
  assert.match(message, 'permission model (FileSystemRead)');
});

test('An object that pretends to be a typed array is refused.', async () => {
  const liar = { [Symbol.toStringTag]: 'Float32Array', length: 3 };
  await throwsCode('ERR_INVALID_ARGUMENT', 'Object', () => Vector.from(liar as unknown as Float32Array));
  await throwsCode('ERR_INVALID_ARGUMENT', 'DataView', () =>
    Vector.from(new DataView(new ArrayBuffer(8)) as unknown as Float32Array),
  );
});

test('A message has no control characters for a terminal.', () => {
  const { message } = new CovariumError('ERR_INTERNAL', 'File (a\u001b[2Jb\u009bc\u202ed) is\nnot here.');
  assert.is(message, 'File (a\\u001b[2Jb\\u009bc\\u202ed) is\nnot here.');
});

onEveryDevice(
  'One signal for 200 samples at once causes no warning about leaks, and stops them all.',
  async (device) => {
    using normal = MultivariateNormal.fromCovarianceSync({ device, covariance: [[1]] });
    const warnings: Error[] = [];
    const listener = (warning: Error) => warnings.push(warning);
    process.on('warning', listener);
    const { signal } = new AbortController();
    for (const sample of await Promise.all(Array.from({ length: 200 }, () => normal.sample(1, { signal }))))
      sample.close();
    const stopping = new AbortController();
    // The first may have ended before, because a fast GPU makes a million in no time; the last has not.
    const all = Array.from({ length: 20 }, (_, i) =>
      normal.sample(i < 19 ? 1_000_000 : 2 ** 24, { signal: stopping.signal }),
    );
    stopping.abort(new Error('enough'));
    const last = (await Promise.allSettled(all)).at(-1)!;
    assert.is(last.status === 'rejected' && last.reason.code, 'ERR_ABORTED');
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', listener);
    assert.equal(
      warnings.filter(({ name }) => name === 'MaxListenersExceededWarning'),
      [],
    );
  },
);

onEveryDevice('Fake timers, like those of Jest and Vitest, do not block a call.', async (device) => {
  const { setImmediate, setTimeout } = globalThis;
  let end: NodeJS.Timeout | undefined;
  const late = new Promise((_, reject) => {
    end = setTimeout(reject, 10_000, new Error('A call hangs.'));
  });
  const never = (() => {}) as never;
  Object.assign(globalThis, { setImmediate: never, setTimeout: never });
  try {
    const calls = async () => {
      using normal = await MultivariateNormal.fromCovariance({
        device,
        covariance: [
          [2, 1],
          [1, 2],
        ],
      });
      using draws = await normal.sample(100_000, { seed: 1 });
      (await MultivariateNormal.fit({ device, rows: draws })).close();
      await plainLines(draws.data, 2, new Uint8Array(52 * draws.rows));
      await normal.boxProbability({ lower: [-1, -1], upper: [1, 1] });
    };
    await Promise.race([calls(), late]);
  } finally {
    Object.assign(globalThis, { setImmediate, setTimeout });
    clearTimeout(end);
  }
});

test.run();
