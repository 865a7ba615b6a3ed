// `covarium sample` and `covarium verify` with a Student-t, and empirical samples on the command line.
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetMetadata } from 'hyparquet';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type SampleArguments, sample } from '../../lib/cli/sample.ts';
import { verify } from '../../lib/cli/verify.ts';
import { Matrix, MultivariateNormal, MultivariateStudentT, openDevice } from '../../lib/index.ts';
import { modelHash } from '../../lib/run/model.ts';
import { tableFormats } from '../../lib/table/format.ts';
import { readTable } from '../../lib/table/read-table.ts';
import { succeeds } from '../harness/command-line.ts';
import { kindsHere } from '../harness/every-device.ts';
import { throwsCode } from '../harness/throws-code.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-student-'));
const at = (name: string) => join(folder, name);
const forever = new AbortController().signal;
const mean = [1, -1];
const covariance = [
  [2, 0.5],
  [0.5, 1],
];
const model = at('model.json');
writeFileSync(model, JSON.stringify({ covarium: 1, dtype: 'float32', mean, covariance }));

process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

for (const kind of kindsHere)
  test(`${kind}: a Student-t is drawn as the library draws it, in a file or in parts, and verified elsewhere.`, async () => {
    const degreesOfFreedom = '0.3';
    await draw({ output: at(`${kind}.npy`), degreesOfFreedom, device: kind });
    using device = openDevice(kind);
    using student = MultivariateStudentT.fromScaleSync({
      device,
      location: mean,
      scale: covariance,
      degreesOfFreedom: 0.3,
    });
    const whole = student.sampleSync(1000, { seed: 42, firstRow: 5 });
    using read = await readTable(at(`${kind}.npy`)).then(({ rows }) => rows);
    assert.equal(read.data, whole.data);
    await draw({ output: at(`${kind}/`), degreesOfFreedom, device: kind, rowsPerPart: '300' });
    const parts = [0, 1, 2, 3].map((part) => readFileSync(at(`${kind}/part-00000${part}.npy`)).subarray(128));
    assert.equal(Buffer.concat(parts), Buffer.from(whole.data.slice().buffer));
    for (const path of [at(`${kind}.npy`), at(kind)])
      for (const elsewhere of kindsHere)
        await silently(() => verify(path, { model, degreesOfFreedom, rows: '200', device: elsewhere }, forever));
    for (const other of [undefined, '0.31'])
      await throwsCode('ERR_MODEL_MISMATCH', other ? 'SHA-256' : 'pass its --degrees-of-freedom', () =>
        verify(at(`${kind}.npy`), { model, rows: '2', ...(other && { degreesOfFreedom: other }) }, forever),
      );
    const manifest = at(`${kind}.npy.json`);
    writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"seed": "42"', '"seed": "43"'));
    await throwsCode('ERR_DRAWS_MISMATCH', 'seed (43)', () =>
      verify(at(`${kind}.npy`), { model, degreesOfFreedom, rows: '20' }, forever),
    );
  });

test('Draws of a Student-t that are too large for their type are verified in every format.', async () => {
  const names = ['a, "b"', 'c\nd'];
  const named = at('named.json');
  writeFileSync(named, JSON.stringify({ covarium: 1, dtype: 'float32', columns: names, mean, covariance }));
  const [degreesOfFreedom, device] = ['0.01', 'reference'];
  for (const format of tableFormats) {
    const output = at(`infinite.${format}`);
    await draw({ output, degreesOfFreedom, device, model: named });
    await silently(() => verify(output, { model: named, degreesOfFreedom, rows: '1000', device }, forever));
  }
  const csv = readFileSync(at('infinite.csv'), 'utf8');
  assert.match(csv, /^-?Infinity,-?Infinity$/m);
  const forged = csv.replace(/^-?Infinity,(-?Infinity)$/m, '1,$1');
  writeFileSync(at('infinite.csv'), forged);
  const manifest = JSON.parse(readFileSync(at('infinite.csv.json'), 'utf8'));
  const sha256 = createHash('sha256').update(forged).digest('hex');
  writeFileSync(
    at('infinite.csv.json'),
    JSON.stringify({ ...manifest, digest: { bytes: Buffer.byteLength(forged), sha256 } }),
  );
  await throwsCode('ERR_DRAWS_MISMATCH', 'is (1)', () =>
    verify(at('infinite.csv'), { model: named, degreesOfFreedom, rows: '1000', device }, forever),
  );
});

test('Infinitely many degrees of freedom give the draws of the normal, but count as another model.', async () => {
  await draw({ output: at('normal.npy') });
  await draw({ output: at('infinite.npy'), degreesOfFreedom: 'Infinity' });
  assert.equal(readFileSync(at('infinite.npy')), readFileSync(at('normal.npy')));
  await silently(() => verify(at('infinite.npy'), { model, degreesOfFreedom: 'Infinity', rows: '9' }, forever));
  const normal = { names: undefined, mean, covariance: Matrix.from(covariance, { dtype: 'float64' }) };
  assert.is.not(
    modelHash({ ...normal, degreesOfFreedom: Number.POSITIVE_INFINITY }, 'float32'),
    modelHash(normal, 'float32'),
  );
});

test('Invalid degrees of freedom, and rows beyond a run, are refused.', async () => {
  const output = at('none.npy');
  for (const degreesOfFreedom of ['0', '-1'])
    await throwsCode('ERR_OUT_OF_RANGE', '`degreesOfFreedom`', () => draw({ output, degreesOfFreedom }));
  for (const degreesOfFreedom of ['many', ''])
    await throwsCode('ERR_OUT_OF_RANGE', '--degrees-of-freedom is', () => draw({ output, degreesOfFreedom }));
  await throwsCode('ERR_OUT_OF_RANGE', '2^56', () =>
    draw({ output, degreesOfFreedom: '3', firstRow: String(2n ** 56n - 999n) }),
  );
  assert.not(existsSync(output));
  await draw({ output, degreesOfFreedom: '3', firstRow: String(2n ** 56n - 1000n) });
  await silently(() => verify(output, { model, degreesOfFreedom: '3', rows: '9' }, forever));
});

test('--empirical writes the sample that the library draws, without a manifest.', async () => {
  const output = at('exact.npy');
  await draw({ output, empirical: true, firstRow: '0', count: '50' });
  assert.not(existsSync(`${output}.json`));
  using device = openDevice();
  using normal = await MultivariateNormal.fromCovariance({ device, mean, covariance });
  using read = await readTable(output).then(({ rows }) => rows);
  assert.equal(read.data, normal.sampleSync(50, { seed: 42, empirical: true }).data);
  await draw({ output: at('exact.parquet'), empirical: true, firstRow: '0', count: '50' });
  const { key_value_metadata: metadata } = parquetMetadata(Uint8Array.from(readFileSync(at('exact.parquet'))).buffer);
  const told = JSON.parse(metadata!.find(({ key }) => key === 'covarium')!.value!);
  assert.equal([told.empirical, told.rows, told.seed], [true, 50, '42'], 'the file says that it is not a run of rows');
  const printed = await succeeds(
    'sample',
    '--model',
    model,
    '--count',
    '5',
    '--empirical',
    '--seed',
    '1',
    '--output',
    '-',
  );
  assert.is(printed.trim().split('\n').length, 5);
});

test('--empirical refuses a part, a Student-t, too few rows, and a manifest of other draws.', async () => {
  const given = { output: at('refused.npy'), empirical: true, firstRow: '0' };
  await throwsCode('ERR_INVALID_ARGUMENT', '(5)', () => draw({ ...given, firstRow: '5' }));
  await throwsCode('ERR_INVALID_ARGUMENT', '(3)', () => draw({ ...given, degreesOfFreedom: '3' }));
  await throwsCode('ERR_INVALID_ARGUMENT', 'parts', () => draw({ ...given, output: at('refused/') }));
  await throwsCode('ERR_OUT_OF_RANGE', '(2)', () => draw({ ...given, count: '2' }));
  assert.not(existsSync(given.output));
  await draw({ output: at('earlier.npy') });
  const before = readFileSync(at('earlier.npy'));
  await throwsCode('ERR_FILE_UNWRITABLE', 'earlier.npy.json', () => draw({ ...given, output: at('earlier.npy') }));
  assert.equal(readFileSync(at('earlier.npy')), before);
});

function draw(options: Partial<SampleArguments> & { readonly output: string }): Promise<void> {
  return sample({ model, count: '1000', seed: '42', stream: '0', firstRow: '5', ...options }, forever);
}

async function silently(work: () => Promise<void>): Promise<void> {
  const { write } = process.stdout;
  // The command waits until its lines are written.
  process.stdout.write = (...given: unknown[]) => {
    const told = given.find((each) => typeof each === 'function') as (() => void) | undefined;
    told?.();
    return true;
  };
  try {
    await work();
  } finally {
    process.stdout.write = write;
  }
}

test.run();
