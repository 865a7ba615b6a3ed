// A run in parts: whichever process draws which part, killed or not, the folder ends with the same bytes.
import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tableFromIPC } from '@uwdata/flechette';
import { parquetMetadata } from 'hyparquet';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type SampleArguments, sample } from '../../lib/cli/sample.ts';
import { type ErrorCode, readTable } from '../../lib/index.ts';
import { outcomeOf, start } from '../harness/command-line.ts';
import { throwsCode } from '../harness/throws-code.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-parts-'));
const at = (...names: string[]) => join(folder, ...names);
const forever = new AbortController().signal;
const model = at('model.json');
const normal = {
  mean: [1, -1],
  covariance: [
    [2, 0.5],
    [0.5, 1],
  ],
};
writeFileSync(model, JSON.stringify({ covarium: 1, columns: ['a', 'b'], ...normal }));

process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

for (const format of ['npy', 'csv', 'parquet', 'arrow'])
  test(`${format}: one process and three shards write the same parts; joined, they have the single file's rows.`, async () => {
    const whole = fresh();
    await draw({ output: whole, format });
    const shared = fresh();
    for (const shard of ['3/3', '1/3', '2/3']) await draw({ output: shared, format, shard });
    assert.equal(parts(shared), parts(whole));
    assert.is(Object.keys(parts(whole)).length, 4);
    const single = at(`single.${format}`);
    await draw({ output: single, rowsPerPart: undefined });
    const joined: number[] = [];
    for (const name of Object.keys(parts(whole))) joined.push(...(await readTable(join(whole, name))).rows.data);
    assert.equal(joined, [...(await readTable(single)).rows.data]);
    assert.is(joined.length, 2000);
  });

test('Parquet and Arrow files say to which run they belong.', async () => {
  const told: (string | undefined)[] = [];
  for (const format of ['parquet', 'arrow']) {
    const output = at(`told.${format}`);
    await draw({ output, rowsPerPart: undefined });
    const bytes = readFileSync(output);
    const text =
      format === 'parquet'
        ? parquetMetadata(Uint8Array.from(bytes).buffer).key_value_metadata?.find(({ key }) => key === 'covarium')
            ?.value
        : tableFromIPC(bytes).schema.metadata?.get('covarium');
    assert.equal(JSON.parse(text!), JSON.parse(readFileSync(`${output}.json`, 'utf8')).run);
    told.push(JSON.parse(text!).format);
  }
  assert.equal(told, ['parquet', 'arrow']);
});

test('Ten kills at random moments, and two processes at once, give the same bytes as an undisturbed run.', async () => {
  const long = { count: '1500000', rowsPerPart: '15000' };
  const trial = async (format: string) => {
    const [calm, disturbed] = [fresh(), fresh()];
    await draw({ output: calm, format, ...long });
    const arguments_ = ['--model', model, '--seed', '42', '--count', long.count, '--rows-per-part', long.rowsPerPart];
    const begin = () => start(['sample', ...arguments_, '--format', format, '--shard', '1/1', '--output', disturbed]);
    for (let kill = 0; kill < 5; kill++) {
      const child = begin();
      const ended = outcomeOf(child);
      await progress(disturbed, child, Math.floor(Math.random() * 5));
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
      child.kill('SIGKILL');
      await ended;
    }
    const killed = Object.keys(parts(disturbed)).length;
    assert.ok(killed > 0 && killed < 100, `(${killed}) parts of 100 were there after the last kill`);
    const outcomes = await Promise.all([outcomeOf(begin()), outcomeOf(begin())]);
    for (const { code, stderr } of outcomes) assert.equal([code, stderr], [0, '']);
    assert.equal(digests(disturbed), digests(calm));
    assert.equal(
      readdirSync(disturbed).filter((name) => name.includes('partial')),
      [],
    );
  };
  await Promise.all([trial('npy'), trial('parquet')]);
});

test('Existing parts are not drawn again, missing ones are.', async () => {
  const output = fresh();
  await draw({ output });
  const before = parts(output);
  const marked = join(output, 'part-000001.npy');
  const manifest = `${marked}.json`;
  // Another machine's manifest of the same run is accepted and not changed.
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(/"name": ".*"/, '"name": "elsewhere"'));
  const told = readFileSync(manifest, 'utf8');
  rmSync(join(output, 'part-000002.npy'));
  rmSync(join(output, 'part-000003.npy.json'));
  await draw({ output, checkParts: true });
  assert.equal(parts(output), before);
  assert.is(readFileSync(manifest, 'utf8'), told);
  assert.ok(existsSync(join(output, 'part-000003.npy.json')));
});

const refusals: [what: string, code: ErrorCode, shown: string, spoil: (output: string) => void, changed?: Changed][] = [
  ['another seed', 'ERR_RUN_MISMATCH', 'its seed is ("42"), and this run\'s is ("43")', () => {}, { seed: '43' }],
  ['another stream', 'ERR_RUN_MISMATCH', 'stream', () => {}, { stream: '1' }],
  ['another count', 'ERR_RUN_MISMATCH', '(1000)', () => {}, { count: '999' }],
  ['another type', 'ERR_RUN_MISMATCH', 'model', () => {}, { dtype: 'float64' }],
  ['another format', 'ERR_RUN_MISMATCH', 'format', () => {}, { format: 'csv' }],
  ['another size of parts', 'ERR_RUN_MISMATCH', 'rowsPerPart', () => {}, { rowsPerPart: '200' }],
  [
    'a part cut short',
    'ERR_MANIFEST_MISMATCH',
    'bytes (100)',
    (output) => truncateSync(join(output, 'part-000001.npy'), 100),
  ],
  [
    'a changed byte',
    'ERR_MANIFEST_MISMATCH',
    'SHA-256',
    (output) => flip(join(output, 'part-000001.npy')),
    { checkParts: true },
  ],
  [
    'a file in the place of a part',
    'ERR_MANIFEST_MISMATCH',
    'has no manifest',
    (output) => {
      rmSync(join(output, 'part-000002.npy.json'));
      writeFileSync(join(output, 'part-000002.npy'), 'my thesis');
    },
  ],
  [
    "another part's manifest",
    'ERR_RUN_MISMATCH',
    'firstRow',
    (output) => {
      copyFileSync(join(output, 'part-000001.npy.json'), join(output, 'part-000002.npy.json'));
    },
  ],
  [
    'a manifest that is none',
    'ERR_MALFORMED_MANIFEST',
    'part-000002.npy.json',
    (output) => writeFileSync(join(output, 'part-000002.npy.json'), '{"a":'),
  ],
  [
    'a run.json that is none',
    'ERR_MALFORMED_MANIFEST',
    'run.json',
    (output) => writeFileSync(join(output, 'run.json'), '{"name":"jog"}'),
  ],
  ['no seed', 'ERR_INVALID_ARGUMENT', '--seed', () => {}, { seed: undefined }],
  ['more than a million parts', 'ERR_OUT_OF_RANGE', '(2000000)', () => {}, { count: '2000000', rowsPerPart: '1' }],
  ['parts of no rows', 'ERR_OUT_OF_RANGE', '(0)', () => {}, { rowsPerPart: '0' }],
  ['parts on standard output', 'ERR_INVALID_ARGUMENT', '(-)', () => {}, { output: '-' }],
];

for (const [what, code, shown, spoil, changed = {}] of refusals)
  test(`A run is refused, and nothing overwritten, for ${what}.`, async () => {
    const output = fresh();
    await draw({ output });
    spoil(output);
    const before = digests(output);
    await throwsCode(code, shown, () => draw({ output, ...changed }));
    assert.equal(digests(output), before);
  });

test('A single file is not written if its manifest would replace something else.', async () => {
  const output = at('draws.npy');
  writeFileSync(`${output}.json`, '{"my":"settings"}');
  await throwsCode('ERR_FILE_UNWRITABLE', 'draws.npy.json', () => draw({ output, rowsPerPart: undefined }));
  assert.not(existsSync(output));
  assert.is(readFileSync(`${output}.json`, 'utf8'), '{"my":"settings"}');
});

type Changed = { [option in keyof SampleArguments]?: SampleArguments[option] | undefined };

function draw(changed: Changed): Promise<void> {
  const options = { model, count: '1000', seed: '42', stream: '0', firstRow: '0', rowsPerPart: '300', ...changed };
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return sample(Object.fromEntries(given) as unknown as SampleArguments, forever);
}

let folders = 0;

function fresh(): string {
  return at(`run-${folders++}`);
}

/** SHA-256 of each file of draws in a folder. */
function parts(output: string): { [name: string]: string } {
  return Object.fromEntries(Object.entries(digests(output)).filter(([name]) => /^part-[^.]*\.\w+$/.test(name)));
}

/** SHA-256 of each file in a folder, except the unfinished file. */
function digests(output: string): { [name: string]: string } {
  const names = readdirSync(output).filter((name) => !name.endsWith('.partial'));
  return Object.fromEntries(
    names.sort().map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(output, name)))
        .digest('hex'),
    ]),
  );
}

function flip(path: string): void {
  const bytes = readFileSync(path);
  bytes[bytes.length - 9]! ^= 1;
  writeFileSync(path, bytes);
}

/** Waits until a process has begun a part and written some more, or until it has ended. */
async function progress(output: string, child: ChildProcess, more: number): Promise<void> {
  const names = () => (existsSync(output) ? readdirSync(output) : []);
  const count = () => names().filter((name) => /^part-[^.]*\.\w+$/.test(name)).length;
  const wanted = count() + more;
  const hasBegun = () => names().some((name) => name.startsWith('.part') && name.includes(`.${child.pid}.`));
  while (!hasBegun() && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 1));
  while (count() < wanted && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 1));
}

test.run();
