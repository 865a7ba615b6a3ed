import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Device,
  Matrix,
  MultivariateStudentT,
  MultivariateStudentTBatch,
  type RealDtype,
  type StudentBatchOptions,
  Volume,
} from '../../lib/index.ts';
import { hasBatchBits } from '../harness/batch-bits.ts';
import { onEveryDevice, onEveryType } from '../harness/every-device.ts';
import { throwsCode } from '../harness/throws-code.ts';

const makings: readonly ((
  options: StudentBatchOptions,
) => MultivariateStudentTBatch | Promise<MultivariateStudentTBatch>)[] = [
  MultivariateStudentTBatch.fromScale,
  MultivariateStudentTBatch.fromScaleSync,
];

const n = 2;
const locations = [
  [0, 0],
  [10, -20],
  [-0.5, 1e3],
];
const scales = [
  [[1, 0.5], [0.5, 2]],
  [[4, -1], [-1, 1]],
  [[1e-2, 0], [0, 1e4]],
]; // biome-ignore format: matrices
const size = scales.length;

const single = (device: Device, dtype: RealDtype, b: number, degreesOfFreedom: number) =>
  MultivariateStudentT.fromScaleSync({ device, dtype, degreesOfFreedom, location: locations[b]!, scale: scales[b]! });

onEveryType('a batch has the draws and densities of each Student-t alone, to the bit.', async (device, dtype) => {
  for (const degreesOfFreedom of [0.7, 5, Number.POSITIVE_INFINITY])
    for (const making of makings) {
      using batch = await making({ device, dtype, degreesOfFreedom, locations, scales });
      assert.equal(
        [batch.size, batch.dimension, batch.dtype, batch.degreesOfFreedom],
        [size, n, dtype, degreesOfFreedom],
      );
      for (const count of [1, 9, 300]) {
        const run = { seed: 11, stream: 2n ** 32n - 2n, firstRow: 3 };
        const volume = await batch.sampleVolume(count, run);
        const out = Volume.from(new Float64Array(size * count * n), { width: n, height: count, depth: size, dtype });
        assert.is(batch.sampleVolumeSync(count, { ...run, out }), out);
        hasBatchBits(device.kind, out.data, volume.data, 'synchronous draws');
        const own = await batch.logPdfEach(volume);
        hasBatchBits(device.kind, batch.logPdfEachSync(volume).data, own.data, 'synchronous densities of own rows');
        // The type does not hold the squares of the last rows; it holds half the square of one.
        const far = dtype === 'float32' ? [] : [1.2e154, 1e200].map((x) => [x, x]);
        const rows = [...locations, [3, 4], [1e25, -1e25], [1e-30, 1e30], ...far];
        const all = await batch.logPdf(rows);
        hasBatchBits(device.kind, batch.logPdfSync(rows).data, all.data, 'synchronous densities');
        assert.equal([all.rows, all.columns, own.rows, own.columns], [size, rows.length, size, count]);
        for (let b = 0; b < size; b++) {
          using student = single(device, dtype, b, degreesOfFreedom);
          const alone = student.sampleSync(count, { ...run, stream: run.stream + BigInt(b) });
          const drawn = volume.data.subarray(b * count * n, (b + 1) * count * n);
          hasBatchBits(device.kind, drawn, alone.data, `draws of (${b})`);
          const drawnRows = Matrix.from(drawn.slice(), { columns: n });
          hasBatchBits(device.kind, own.row(b), student.logPdfSync(drawnRows).data, `densities of (${b})`);
          hasBatchBits(device.kind, all.row(b), student.logPdfSync(rows).data, `densities of all under (${b})`);
          assert.is(batch.at(b), batch.at(b));
          assert.is(batch.at(b).entropy, student.entropy);
        }
      }
    }
});

onEveryType(
  'a call reads its rows and locations before it returns, and ends even if its batch is closed.',
  async (device, dtype) => {
    const batch = MultivariateStudentTBatch.fromScaleSync({ device, dtype, degreesOfFreedom: 5, locations, scales });
    const one = [[0, 0]];
    const own = locations.map((location) => [...location]);
    const pending = [1, 2, 3].flatMap((x) => {
      one[0]![0] = x;
      own[0]![0] = x;
      return [batch.logPdf(one), batch.logPdfEach(own)];
    });
    batch.close();
    using student = single(device, dtype, 0, 5);
    for (const [at, x] of [1, 1, 2, 2, 3, 3].entries()) {
      const wanted = student.logPdfSync([[x, 0]]).data;
      hasBatchBits(device.kind, (await pending[at]!).row(0), wanted, `call (${at})`);
    }
  },
);

onEveryDevice(
  'far rows have the same densities as alone, also many at once, unless they were closed.',
  async (device) => {
    using batch = MultivariateStudentTBatch.fromScaleSync({ device, dtype: 'float32', degreesOfFreedom: 3, scales });
    const count = 3000;
    const rows = Matrix.from(
      Float32Array.from({ length: count * n }, (_, at) => 1e25 + at * 1e21),
      { columns: n },
    );
    const all = batch.logPdfSync(rows);
    for (let b = 0; b < size; b++)
      hasBatchBits(device.kind, all.row(b), batch.at(b).logPdfSync(rows).data, `densities under (${b})`);
    using drawn = batch.at(0).sampleSync(200_000);
    const view = drawn.data.fill(1e25);
    const late = batch.logPdf(drawn);
    drawn.close();
    // Memory of the reference device outlives its close.
    if (view.length > 0) assert.is((await late).columns, 200_000);
    else await throwsCode('ERR_CLOSED', '`rows` was closed', () => late);
  },
);

onEveryDevice('an invalid Student-t is refused with its index, and leaves nothing behind.', async (device) => {
  const before = device.memory().liveBytes;
  const good = { device, degreesOfFreedom: 3, locations, scales };
  for (const [code, shown, options] of [
    ['ERR_NOT_POSITIVE_DEFINITE', 'Student-t (1) of the batch: `scales[1]`', { ...good, scales: scales.with(1, [[1, 2], [2, 1]]) }],
    ['ERR_NOT_SYMMETRIC', 'Student-t (2) ', { ...good, scales: scales.with(2, [[1, 0.5], [0, 1]]) }],
    ['ERR_NOT_FINITE', 'Student-t (1) of the batch: `locations[1]`', { ...good, locations: locations.with(1, [0, Number.NaN]) }],
    ['ERR_INVALID_ARGUMENT', '`locations` is (7)', { ...good, locations: 7 as unknown as Matrix }],
    ['ERR_INVALID_ARGUMENT', '`scales` is (7)', { ...good, scales: 7 as unknown as Volume }],
    ['ERR_SHAPE', '(2) rows', { ...good, locations: locations.slice(1) }],
    ['ERR_SHAPE', '`scales` has (0)', { ...good, scales: [] }],
    ['ERR_INVALID_ARGUMENT', 'undefined', { device, degreesOfFreedom: 3 } as unknown as StudentBatchOptions],
    ['ERR_OUT_OF_RANGE', '(-1)', { ...good, degreesOfFreedom: -1 }],
    ['ERR_INVALID_ARGUMENT', 'undefined', { device, scales } as unknown as StudentBatchOptions],
    ['ERR_UNKNOWN_OPTION', 'jitter', { ...good, jitter: true } as StudentBatchOptions],
  ] as const) // biome-ignore format: a row each
    for (const making of makings) {
      await throwsCode(code, shown, () => making(options));
      assert.is(device.memory().liveBytes, before, shown);
    }
  const batch = MultivariateStudentTBatch.fromScaleSync(good);
  for (const [code, shown, work] of [
    ['ERR_OUT_OF_RANGE', '(3)', () => batch.at(3)],
    ['ERR_OUT_OF_RANGE', '(0)', () => batch.sampleVolume(0)],
    ['ERR_OUT_OF_RANGE', '2^64', () => batch.sampleVolume(1, { stream: 2n ** 64n - 2n })],
    ['ERR_UNKNOWN_OPTION', 'signal', () => batch.sampleVolumeSync(1, { signal: undefined } as object)],
    ['ERR_ABORTED', 'enough', () => batch.sampleVolume(1, { signal: AbortSignal.abort(new Error('enough')) })],
    ['ERR_SHAPE', '(1)', () => batch.logPdf([[1]])],
    ['ERR_SHAPE', '(2)', () => batch.logPdfEach([[1, 2], [3, 4]])],
    ['ERR_NOT_FINITE', 'NaN', () => batch.logPdf([[1, Number.NaN]])],
  ] as const) // biome-ignore format: a row each
    await throwsCode(code, shown, work);
  const one = batch.at(0);
  batch.close();
  batch.close();
  assert.ok(batch.closed && one.closed);
  assert.is(device.memory().liveBytes, before);
  await throwsCode('ERR_CLOSED', `(${size})`, () => batch.sampleVolume(1));
  await throwsCode('ERR_CLOSED', `(${size})`, () => batch.logPdfSync([[1, 2]]));
});

onEveryDevice('a batch with infinite degrees of freedom can be made again from its JSON.', async (device) => {
  using batch = MultivariateStudentTBatch.fromScaleSync({ device, scales: [[[2]]], degreesOfFreedom: Infinity });
  const json = JSON.parse(JSON.stringify(batch));
  assert.is(json.degreesOfFreedom, 'Infinity');
  using again = MultivariateStudentTBatch.fromScaleSync({ device, ...json });
  assert.equal(again.toJSON(), batch.toJSON());
});

test('a constructor is refused, with the call that makes a batch of Student-t.', async () => {
  const Batch = MultivariateStudentTBatch as unknown as new (given: unknown) => unknown;
  await throwsCode('ERR_INVALID_ARGUMENT', 'fromScale', () => new Batch({}));
});

test.run();
