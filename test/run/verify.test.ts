// What `covarium verify` distinguishes: a changed file, another model, another seed, another run.
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { givenModel } from '../../lib/cli/given-model.ts';
import { type SampleArguments, sample } from '../../lib/cli/sample.ts';
import { type DeviceKind, type ErrorCode, Matrix, MultivariateNormal, openDevice } from '../../lib/index.ts';
import { modelHash } from '../../lib/run/model.ts';
import { allowedUlps, deviationsOf } from '../../lib/run/tolerance.ts';
import { chooseRows, type Verified, verified } from '../../lib/run/verify.ts';
import { nodeOptions } from '../harness/child.ts';
import { main, outcomeOf, run, start } from '../harness/command-line.ts';
import { kindsHere } from '../harness/every-device.ts';
import { throwsCode } from '../harness/throws-code.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-verify-'));
const at = (name: string) => join(folder, name);
const forever = new AbortController().signal;
const model = modelFile('model', [
  [2, 0.5, 0],
  [0.5, 1, 0.25],
  [0, 0.25, 3],
]);

process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

for (const drawnOn of kindsHere)
  for (const dtype of ['float32', 'float64'])
    test(`${drawnOn}: ${dtype} draws in each format are verified on every device.`, async () => {
      using device = openDevice(drawnOn);
      if (!device.dtypes.includes(dtype as 'float64')) return;
      for (const format of ['npy', 'csv', 'arrow', 'parquet']) {
        const output = at(`draws.${format}`);
        await draw({ output, dtype, device: drawnOn });
        for (const kind of [undefined, ...kindsHere]) {
          if (kind === 'metal' && dtype === 'float64') continue;
          const [{ rows, normalsOn, worstUlps }] = (await verify(output, { kind })) as [Verified];
          assert.is(rows, 9);
          assert.ok(normalsOn.includes('reference') && normalsOn.includes(drawnOn), normalsOn.join());
          assert.ok(worstUlps < 4, `${worstUlps} ulps`);
        }
      }
    });

test('Draws in CSV are verified with any names, and without rows.', async () => {
  const odd = [' a\r ', '\u{1f600}a\nb'];
  const lists = [['NaN', 'NA'], ['', ''], ['', 'b'], ['1', '2'], odd, ['"', ','], ['\ufeffa', "'b'"], undefined];
  for (const [at_, columns] of lists.entries()) {
    const [path, output] = [at(`names-${at_}.json`), at(`names-${at_}.csv`)];
    const covariance = square(2, (i, j) => (i === j ? 2 : 1));
    writeFileSync(path, JSON.stringify({ covarium: 1, dtype: 'float32', columns, mean: [0, 1], covariance }));
    for (const count of ['0', '3']) {
      await draw({ output, model: path, count });
      const [{ rows }] = (await verify(output, { model: path })) as [Verified];
      assert.is(rows, Number(count), `${columns}`);
    }
  }
});

test('Names of columns that are not those of the manifest are a mismatch.', async () => {
  const path = at('named.json');
  const covariance = square(2, (i, j) => (i === j ? 2 : 1));
  writeFileSync(path, JSON.stringify({ covarium: 1, columns: ['a', 'b'], mean: [0, 1], covariance }));
  for (const format of ['csv', 'arrow', 'parquet']) {
    const output = at(`named.${format}`);
    await draw({ output, model: path, count: '3' });
    const manifest = JSON.parse(readFileSync(`${output}.json`, 'utf8'));
    for (const names of [['b', 'a'], ['a'], ['a', 'b', 'c']]) {
      writeFileSync(`${output}.json`, JSON.stringify({ ...manifest, run: { ...manifest.run, names } }));
      await throwsCode('ERR_MANIFEST_MISMATCH', '', () => verify(output, { model: path }));
    }
  }
});

test('Ill-conditioned models are verified within what their condition number allows, and a wrong seed is beyond it.', async () => {
  const hilbert = (n: number) => square(n, (i, j) => 1 / (i + j + 1));
  // Units from a metre to a million kilometres change nothing, because only the correlations count.
  const wide = square(4, (i, j) => (i === j ? 1 : 0.5) * 10 ** (3 * (i + j) - 6));
  const large = square(200, (i, j) => Math.exp(-Math.abs(i - j) / 20));
  const cases: [name: string, covariance: number[][], dtype: string, atMost: number][] = [
    ['hilbert-5', hilbert(5), 'float32', 2 ** 20],
    ['hilbert-10', hilbert(10), 'float64', 2 ** 49],
    ['wide', wide, 'float32', 200],
    ['large', large, 'float32', 20_000],
    ['single', [[1e-12]], 'float32', 33],
  ];
  for (const [name, covariance, dtype, atMost] of cases) {
    const [path, output] = [modelFile(name, covariance), at(`${name}.npy`)];
    for (const device of kindsHere.filter((kind) => kind !== 'metal' || dtype === 'float32')) {
      await draw({ output, model: path, dtype, device });
      const [found] = (await verify(output, { model: path })) as [Verified];
      assert.ok(found.worstUlps <= found.allowedUlps && found.allowedUlps <= atMost, `${name}: ${found.allowedUlps}`);
      edit(`${output}.json`, '"seed": "42"', '"seed": "43"');
      await throwsCode('ERR_DRAWS_MISMATCH', 'seed (43)', () => verify(output, { model: path }));
    }
  }
});

test('Draws of singular models are verified with --singular, on every device and in both types.', async () => {
  const cases: [name: string, covariance: number[][], more: Partial<SampleArguments>][] = [
    ['rank-two', square(5, (i, j) => (i + 1) * (j + 1) + (i % 2) * (j % 2)), {}],
    ['a-constant', square(4, (i, j) => (i === 0 || j === 0 ? 0 : i === j ? 2 : 1)), {}],
    ['a-point', square(3, () => 0), {}],
    ['a-number', [[0]], {}],
    ['regular', square(3, (i, j) => (i === j ? 2 : 1)), {}],
    ['student', square(3, () => 2), { degreesOfFreedom: '3' }],
  ];
  for (const [name, covariance, more] of cases) {
    const [path, output] = [modelFile(`singular-${name}`, covariance), at(`singular-${name}.npy`)];
    for (const dtype of ['float32', 'float64'])
      for (const device of kindsHere.filter((kind) => kind !== 'metal' || dtype === 'float32')) {
        await draw({ output, model: path, dtype, device, singular: true, ...more });
        const { degreesOfFreedom } = more;
        const asked = { model: path, singular: true, ...(degreesOfFreedom && { degreesOfFreedom }) };
        const [found] = (await verify(output, asked)) as [Verified];
        assert.ok(found.worstUlps < 4, `${name}, ${dtype}, ${device}: ${found.worstUlps} ulps`);
        await throwsCode('ERR_MODEL_MISMATCH', 'with --singular', () => verify(output, { ...asked, singular: false }));
        if (/^a-(?:point|number)$/.test(name)) continue;
        edit(`${output}.json`, '"seed": "42"', '"seed": "43"');
        await throwsCode('ERR_DRAWS_MISMATCH', 'seed (43)', () => verify(output, asked));
      }
  }
});

test('A singular model is refused and the error names --singular; an indefinite one is refused even with --singular.', async () => {
  const singular = modelFile(
    'refused',
    square(3, () => 1),
  );
  const output = at('refused.npy');
  for (const more of [{}, { empirical: true }, { degreesOfFreedom: '3' }])
    await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '--singular', () => draw({ output, model: singular, ...more }));
  const indefinite = modelFile('indefinite', [
    [1, 2],
    [2, 1],
  ]);
  await throwsCode('ERR_NOT_POSITIVE_DEFINITE', 'semidefinite', () =>
    draw({ output, model: indefinite, singular: true }),
  );
  assert.is(existsSync(output), false);
});

const spoiled: [what: string, code: ErrorCode, shown: string, spoil: (output: string) => void, model?: string][] = [
  ['a changed byte', 'ERR_MANIFEST_MISMATCH', 'SHA-256', flip],
  ['a file cut short', 'ERR_MANIFEST_MISMATCH', 'bytes (200)', (output) => truncateSync(output, 200)],
  [
    'another model',
    'ERR_MODEL_MISMATCH',
    'another model',
    () => {},
    modelFile('other', [
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
    ]),
  ],
  ['another seed', 'ERR_DRAWS_MISMATCH', 'seed (7)', (output) => edit(`${output}.json`, '"seed": "42"', '"seed": "7"')],
  [
    'another stream',
    'ERR_DRAWS_MISMATCH',
    'stream (9)',
    (output) => edit(`${output}.json`, '"stream": "0"', '"stream": "9"'),
  ],
  [
    'other rows',
    'ERR_DRAWS_MISMATCH',
    'Row (0)',
    (output) => edit(`${output}.json`, '"firstRow": "0"', '"firstRow": "1"'),
  ],
  [
    'fewer rows',
    'ERR_MANIFEST_MISMATCH',
    '(500) rows',
    (output) => edit(`${output}.json`, '"rows": 500', '"rows": 400'),
  ],
  [
    'a later normal stream',
    'ERR_UNSUPPORTED',
    '(2)',
    (output) => edit(`${output}.json`, '"normalStream": 1', '"normalStream": 2'),
  ],
  ['no manifest', 'ERR_MANIFEST_MISMATCH', 'missing', (output) => rmSync(`${output}.json`)],
  [
    'a manifest without a digest',
    'ERR_MALFORMED_MANIFEST',
    'digest',
    (output) => edit(`${output}.json`, '"digest"', '"indigest"'),
  ],
  [
    'a manifest with a wrong field',
    'ERR_MALFORMED_MANIFEST',
    "run's seed is (-1)",
    (output) => edit(`${output}.json`, '"42"', '"-1"'),
  ],
  [
    'a manifest with a list for a text',
    'ERR_MALFORMED_MANIFEST',
    'its file is (array of 1), not a text',
    (output) => edit(`${output}.json`, '"draws.npy"', '["draws.npy"]'),
  ],
  ['no file', 'ERR_FILE_NOT_FOUND', 'draws', (output) => rmSync(output)],
];
for (const [what, code, shown, spoil, otherModel] of spoiled)
  test(`A file is not verified with ${what}.`, async () => {
    const output = at('draws.npy');
    await draw({ output });
    spoil(output);
    await throwsCode(code, shown, () => verify(output, { model: otherModel ?? model }));
  });

test('One draw that was changed together with its digest is found if its row is drawn again.', async () => {
  const output = at('draws.npy');
  await draw({ output });
  const { digest } = JSON.parse(readFileSync(`${output}.json`, 'utf8'));
  flip(output, 0x80);
  const { digestOf } = await import('../../lib/file/digest.ts');
  edit(`${output}.json`, digest.sha256, (await digestOf(output)).sha256);
  const error = await throwsCode('ERR_DRAWS_MISMATCH', 'Row (499), column (2)', () => verify(output));
  assert.equal([error.row, error.column, error.path], [499, 2, output]);
});

test('A run in a folder is verified part by part; a part of another run, or a missing one, is reported.', async () => {
  const output = at('run');
  await draw({ output, rowsPerPart: '200' });
  assert.equal(
    (await verify(output)).map(({ rows }) => rows),
    [9, 9, 9],
  );
  // DuckDB would read it, because it has the name of a part.
  const stranger = join(output, 'part-000099.npy');
  copyFileSync(join(output, 'part-000000.npy'), stranger);
  await throwsCode('ERR_RUN_MISMATCH', 'part-000099.npy', () => verify(output));
  await throwsCode('ERR_RUN_MISMATCH', 'part-000099.npy', () => draw({ output, rowsPerPart: '200' }));
  rmSync(stranger);
  edit(join(output, 'part-000001.npy.json'), '"seed": "42"', '"seed": "43"');
  await throwsCode('ERR_RUN_MISMATCH', 'part-000001.npy.json', () => verify(output));
  rmSync(join(output, 'part-000001.npy.json'));
  rmSync(join(output, 'part-000001.npy'));
  await throwsCode('ERR_MANIFEST_MISMATCH', 'part-000001.npy.json', () => verify(output));
  rmSync(join(output, 'run.json'));
  await throwsCode('ERR_MANIFEST_MISMATCH', 'run.json', () => verify(output));
});

test('The command reports what was compared, and ends with 1 if something is wrong.', async () => {
  const output = at('draws.npy');
  await draw({ output });
  const good = await run(['verify', output, '--model', model, '--rows', '3']);
  assert.equal([good.code, good.stderr], [0, '']);
  assert.match(
    good.stdout,
    /500 rows from row 0, seed 42.*agree\.\n {2}3 rows, drawn on \w+, .* ulps .*\n.*same bits on /,
  );
  flip(output);
  const bad = await run(['verify', output, '--model', model]);
  assert.is(bad.code, 1);
  assert.match(bad.stderr, /^error: .*\[ERR_MANIFEST_MISMATCH\]\n$/);
});

test('The exit code covers all files even if the reader closes the output early; a full disk is reported.', async () => {
  const output = at('unread');
  await draw({ output, rowsPerPart: '200' });
  const command = ['verify', output, '--model', model, '--rows', '1'];
  const unread = async () => {
    const child = start(command);
    child.stdout.destroy();
    return await outcomeOf(child);
  };
  const good = await unread();
  assert.equal([good.code, good.stderr], [0, '']);
  flip(join(output, 'part-000002.npy'));
  const bad = await unread();
  assert.is(bad.code, 1);
  assert.match(bad.stderr, /^error: .*part-000002.*\[ERR_MANIFEST_MISMATCH\]\n$/);
  if (!existsSync('/dev/full')) return console.log('  (/dev/full is not here: a full disk is not tried)');
  const full = openSync('/dev/full', 'w');
  const refused = spawnSync(process.execPath, [...nodeOptions, main, ...command], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(full);
  assert.is(refused.status, 1);
  assert.match(refused.stderr, /^error: Disk is full: .*\[ERR_DISK_FULL\]\n$/);
});

test('The model hash depends only on each number and on the type.', () => {
  const hash = (mean: number[], covariance: number[][], dtype: 'float32' | 'float64' = 'float32', names?: string[]) =>
    modelHash({ names, mean, covariance: Matrix.from(covariance, { dtype: 'float64' }) }, dtype);
  // sha256sum of {"covarium":1,"dtype":"float32","mean":[0.1],"covariance":[[2]]}
  assert.is(hash([0.1], [[2]]), 'd8287f61f21c0523a052609dad9dc72d53fc198a28251bde617bc6d903af6f91');
  assert.is(hash([0.1], [[2]], 'float32', ['a']), hash([0.1], [[2]]));
  const others = [hash([0.2], [[2]]), hash([0.1], [[2.5]]), hash([0.1], [[2]], 'float64'), hash([0.1], [[2]])];
  assert.is(new Set(others).size, 4);
});

test('Files without rows are verified in each format.', async () => {
  for (const format of ['csv', 'npy', 'arrow', 'parquet']) {
    const output = at(`empty.${format}`);
    await draw({ output, count: '0' });
    const [{ rows }] = (await verify(output)) as [Verified];
    assert.is(rows, 0, format);
  }
});

test('Chosen rows are evenly spaced, and include the first and the last.', () => {
  assert.equal(
    [chooseRows(0, 5), chooseRows(1, 5), chooseRows(3, 5), chooseRows(101, 5)],
    [[], [0], [0, 1, 2], [0, 25, 50, 75, 100]],
  );
  assert.equal(chooseRows(9, 1), [0]);
});

test('The allowed difference depends on the correlations, not on the units, and is at most a sixteenth of the scale.', () => {
  using device = openDevice('reference');
  const allowed = (covariance: number[][]) => {
    using normal = MultivariateNormal.fromCovarianceSync({
      device,
      covariance: Matrix.from(covariance, { dtype: 'float64' }),
      dtype: 'float64',
    });
    const factor = normal.factorSync();
    for (const [j, deviation] of deviationsOf(factor).entries())
      assert.ok(Math.abs(deviation ** 2 / covariance[j]![j]! - 1) < 1e-12);
    return allowedUlps(factor, normal.rank, 'float64');
  };
  // Eigenvalues 1 - r and 1 + r: the inverse's norm is 1 / (1 - r).
  const expected = 16 * Math.sqrt(2) * (1 + 1 / (1 - 0.75));
  assert.ok(
    Math.abs(
      allowed([
        [1, 0.75],
        [0.75, 1],
      ]) /
        expected -
        1,
    ) < 1e-3,
  );
  assert.ok(
    Math.abs(
      allowed([
        [1e-12, 0.75e-3],
        [0.75e-3, 1e6],
      ]) /
        expected -
        1,
    ) < 1e-3,
  );
  assert.is(
    allowedUlps(Matrix.from(Float32Array.of(1, 0, 1 - 2 ** -20, 2 ** -10), { columns: 2 }), 2, 'float32'),
    2 ** 19,
  );
});

interface Asked {
  readonly model?: string;
  readonly degreesOfFreedom?: string;
  readonly singular?: boolean;
  readonly kind?: DeviceKind | undefined;
}

async function verify(path: string, { model: other = model, kind, ...more }: Asked = {}): Promise<Verified[]> {
  const found: Verified[] = [];
  const options = { model: await givenModel({ model: other, ...more }), rows: 9, kind, signal: forever };
  for await (const file of verified(path, options)) found.push(file);
  return found;
}

function draw(changed: Partial<SampleArguments> & { output: string }): Promise<void> {
  return sample({ model, count: '500', seed: '42', stream: '0', firstRow: '0', ...changed }, forever);
}

function modelFile(name: string, covariance: number[][]): string {
  const path = at(`${name}.json`);
  const mean = covariance.map((_, i) => i / 2);
  writeFileSync(path, JSON.stringify({ covarium: 1, dtype: 'float32', mean, covariance }));
  return path;
}

function square(n: number, entry: (i: number, j: number) => number): number[][] {
  return Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => entry(i, j)));
}

function edit(path: string, from: string, to: string): void {
  const text = readFileSync(path, 'utf8');
  assert.ok(text.includes(from), `${from} is in ${path}`);
  writeFileSync(path, text.replace(from, to));
}

// Flips a bit in the upper byte of the last number, in files that end with numbers.
function flip(path: string, bit = 1): void {
  const bytes = readFileSync(path);
  bytes[bytes.length - 1]! ^= bit;
  writeFileSync(path, bytes);
}

test.run();
