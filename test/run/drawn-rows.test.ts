// On one machine a row has the same bits, whichever rows are drawn with it and on however many threads.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type DeviceKind, Matrix, MultivariateNormal, openDevice } from '../../lib/index.ts';
import { DrawnRows } from '../../lib/run/drawn-rows.ts';
import { modelHash } from '../../lib/run/model.ts';
import { normalStream, type Run, rowsPerBlock, rowsPerPart } from '../../lib/run/run.ts';
import { kindsHere } from '../harness/every-device.ts';
import { throwsCode } from '../harness/throws-code.ts';

type Real = Float32Array | Float64Array;

// Cases for our own kernels, for BLAS (which gets blocks of rows from 113 float32 columns and 57 float64 columns on),
// and for a factor in several tiles.
for (const dtype of ['float32', 'float64'] as const)
  for (const columns of [1, 2, 57, 100, 113, 500])
    test(`cpu: rows of (${columns}) ${dtype} are the same for every range and number of threads.`, async () => {
      if (!kindsHere.includes('cpu')) return console.log('skipped: there is no cpu device');
      const block = rowsPerBlock(columns, dtype);
      const count = block + 700;
      const expected = await withThreads(1, () => drawn('cpu', columns, dtype, 0n, count));
      const ranges: [number, number][] = [
        [0, count],
        [3, 1],
        [block - 5, 9],
        [17, 600],
      ];
      for (const threads of [1, 2, 3, 5])
        for (const [first, length] of ranges.filter(([from, length]) => from + length <= count)) {
          const rows = await withThreads(threads, () => drawn('cpu', columns, dtype, BigInt(first), length));
          const same = expected.subarray(first * columns, (first + length) * columns);
          assert.ok(sameBits(rows, same), `rows (${first}) to (${first + length}) on (${threads}) threads`);
        }
    });

for (const kind of kindsHere)
  test(`${kind}: rows equal those that the library draws, for every range.`, async () => {
    const columns = 3;
    const all = await drawn(kind, columns, 'float32', 0n, 1000);
    assert.ok(sameBits(await drawn(kind, columns, 'float32', 400n, 77), all.subarray(400 * columns, 477 * columns)));
    using device = openDevice(kind);
    using normal = MultivariateNormal.fromCovarianceSync({
      device,
      covariance: covarianceOf(columns),
      dtype: 'float32',
    });
    assert.ok(sameBits(normal.sampleSync(1000, { seed: 7, stream: 3 }).data as Real, all));
  });

test('Rows end where the stream ends.', async () => {
  const last = (1n << 64n) / 3n - 1n;
  for (const kind of kindsHere) {
    const rows = await drawn(kind, 3, 'float32', last - 4n, 5);
    using device = openDevice(kind);
    using normal = MultivariateNormal.fromCovarianceSync({ device, covariance: covarianceOf(3), dtype: 'float32' });
    assert.ok(sameBits(normal.sampleSync(5, { seed: 7, stream: 3, firstRow: last - 4n }).data as Real, rows), kind);
    await throwsCode('ERR_OUT_OF_RANGE', '2^64', () => drawn(kind, 3, 'float32', last, 2));
  }
});

test('Zero rows give no blocks; leaving early or aborting leaves nothing on the device.', async () => {
  using rows = await open(runOf(2, 'float32', 0n, 1e9), kindsHere[0]!);
  for await (const _ of rows.rows(5n, 0)) assert.unreachable('a block of no rows');
  for await (const values of rows.rows(0n, 1e9)) {
    assert.ok(values.length > 0);
    break;
  }
  const leaving = new AbortController();
  await throwsCode('ERR_ABORTED', '', async () => {
    for await (const _ of rows.rows(0n, 1e9, leaving.signal)) leaving.abort();
  });
  await throwsCode('ERR_ABORTED', '', async () => {
    for await (const _ of rows.rows(0n, 10, leaving.signal)) assert.unreachable('a block after the abort');
  });
  const { device } = rows;
  rows.close();
  assert.ok(device.closed);
});

test('An invalid model is refused, and no device stays open.', async () => {
  const covariance = Matrix.from([
    [1, 2],
    [2, 1],
  ]);
  const run = runOf(2, 'float32', 0n, 5);
  const model = { names: undefined, mean: [0, 0], covariance };
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(1)', () => DrawnRows.open(run, model, {}, 5));
});

test('A part is about 256 MiB of whole blocks.', () => {
  for (const columns of [1, 2, 3, 100, 1000, 4321, 20000]) {
    const rows = rowsPerPart(columns, 'float32');
    assert.is(rows % rowsPerBlock(columns, 'float32'), 0);
    const bytes = rows * columns * 4;
    assert.ok(bytes > 2 ** 27 && bytes < 2 ** 29, `${columns}: ${bytes}`);
  }
});

async function drawn(
  kind: DeviceKind,
  columns: number,
  dtype: Run['dtype'],
  firstRow: bigint,
  rows: number,
): Promise<Real> {
  const out = new (dtype === 'float32' ? Float32Array : Float64Array)(rows * columns);
  const run = runOf(columns, dtype, firstRow, rows);
  using source = await open(run, kind);
  let at = 0;
  for await (const values of source.rows(firstRow, rows)) {
    out.set(values, at);
    at += values.length;
  }
  assert.is(at, out.length);
  return out;
}

function open(run: Run, kind: DeviceKind): Promise<DrawnRows> {
  const model = {
    names: undefined,
    mean: new Array<number>(run.columns).fill(0),
    covariance: covarianceOf(run.columns),
  };
  return DrawnRows.open(run, model, { kind }, run.rows);
}

function runOf(columns: number, dtype: Run['dtype'], firstRow: bigint, rows: number): Run {
  return {
    model: modelHash({ names: undefined, mean: [], covariance: Matrix.from([[1]]) }, dtype),
    seed: '7',
    stream: '3',
    normalStream,
    firstRow: String(firstRow),
    rows,
    columns,
    names: null,
    dtype,
    format: 'npy',
    rowsPerBlock: rowsPerBlock(columns, dtype),
  };
}

function covarianceOf(n: number): Matrix {
  const entry = (i: number, j: number) => Math.exp(-Math.abs(i - j) / 20) * (1 + i / n) * (1 + j / n);
  const entries = Float64Array.from({ length: n * n }, (_, at) => entry(Math.floor(at / n), at % n));
  return Matrix.from(entries, { columns: n });
}

function sameBits(a: Real, b: Real): boolean {
  const bytes = ({ buffer, byteOffset, byteLength }: Real) => Buffer.from(buffer, byteOffset, byteLength);
  return bytes(a).equals(bytes(b));
}

async function withThreads<Result>(threads: number, work: () => Promise<Result>): Promise<Result> {
  const environment = process.env as { COVARIUM_THREADS?: string };
  const { COVARIUM_THREADS } = environment;
  environment.COVARIUM_THREADS = String(threads);
  try {
    return await work();
  } finally {
    delete environment.COVARIUM_THREADS;
    if (COVARIUM_THREADS !== undefined) environment.COVARIUM_THREADS = COVARIUM_THREADS;
  }
}

test.run();
