import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'; // biome-ignore format: one list
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { keepKnown, knownGpus } from '../../lib/addon/known-gpus.ts';

const keep = (addon: string, gpu: string, rates: readonly number[] = []) => keepKnown(addon, { gpu, rates });
const isKnown = (addon: string, name: string): boolean => knownGpus(addon).some(({ gpu }) => gpu === name);

const test = suite<{ folder: string; addon: string; file: string }>('known-gpus');
const before = process.env['COVARIUM_CACHE'];

test.before.each((context) => {
  const folder = mkdtempSync(join(tmpdir(), 'covarium-known-'));
  const cache = join(folder, 'cache');
  process.env['COVARIUM_CACHE'] = cache;
  context.folder = folder;
  context.file = join(cache, 'known-gpus.json');
  context.addon = join(folder, 'covarium.node');
  writeFileSync(context.addon, 'an addon');
});

test.after.each(({ folder }) => {
  if (before === undefined) delete process.env['COVARIUM_CACHE'];
  else process.env['COVARIUM_CACHE'] = before;
  rmSync(folder, { recursive: true, force: true });
});

test('A GPU is known once it is recorded, only for this addon.', ({ folder, addon, file }) => {
  assert.not(isKnown(addon, 'one'));
  keep(addon, 'one');
  keep(addon, 'two');
  keep(addon, 'one');
  for (const gpu of ['one', 'two']) assert.ok(isKnown(addon, gpu));
  assert.not(isKnown(addon, 'three'));
  assert.is(JSON.parse(readFileSync(file, 'utf8')).length, 2);
  assert.is(statSync(file).mode & 0o777, 0o600);
  assert.equal(readdirSync(join(folder, 'cache')), ['known-gpus.json'], 'no draft is left');
  utimesSync(addon, 1, 1);
  assert.not(isKnown(addon, 'one'), 'an addon that was rebuilt');
  writeFileSync(addon, 'a longer addon');
  utimesSync(addon, 1, 1);
  keep(addon, 'one');
  assert.ok(isKnown(addon, 'one'));
  assert.not(isKnown(join(folder, 'none.node'), 'one'));
});

test('The rates of a GPU are those that were kept last.', ({ addon }) => {
  const rates = [3e-5, 1 / 3, 0, 1e-300];
  keep(addon, 'one', [1]);
  keep(addon, 'one', rates);
  assert.equal(knownGpus(addon), [{ gpu: 'one', rates, isOld: false }]);
});

test('After a minute it is time to measure a GPU again, and if nobody knows when it was measured.', ({
  addon,
  file,
}) => {
  keep(addon, 'one');
  const [kept] = JSON.parse(readFileSync(file, 'utf8'));
  const minute = 60_000;
  for (const [measured, isOld] of [
    [Date.now() - minute / 2, false],
    [Date.now() - 2 * minute, true],
    [Date.now() + 2 * minute, true], // a clock that was put back
    [undefined, true],
  ] as const) {
    writeFileSync(file, JSON.stringify([{ ...kept, measured }]));
    assert.equal(knownGpus(addon), [{ gpu: 'one', rates: [], isOld }], `${measured}`);
  }
});

test('The latest twenty GPUs are kept.', ({ addon }) => {
  for (let gpu = 0; gpu < 25; gpu++) keep(addon, String(gpu));
  for (let gpu = 0; gpu < 25; gpu++) assert.is(isKnown(addon, String(gpu)), gpu >= 5, String(gpu));
});

test('A file that others can write, a link and a huge file are not trusted.', ({ folder, addon, file }) => {
  keep(addon, 'one');
  for (const mode of [0o620, 0o602]) {
    chmodSync(file, mode);
    assert.not(isKnown(addon, 'one'), mode.toString(8));
  }
  chmodSync(file, 0o600);
  assert.ok(isKnown(addon, 'one'));
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text + ' '.repeat(20_000));
  assert.not(isKnown(addon, 'one'));
  const other = join(folder, 'other.json');
  writeFileSync(other, text, { mode: 0o600 });
  rmSync(file);
  symlinkSync(other, file);
  assert.not(isKnown(addon, 'one'));
});

test('A damaged file is replaced.', ({ addon, file }) => {
  for (const text of [
    '',
    '{',
    'null',
    '{"gpu": 1}',
    '[1, null]',
    '[{"gpu": "one"}]',
    '[{"gpu": "one", "rates": [null]}]',
  ]) {
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, text, { mode: 0o600 });
    assert.not(isKnown(addon, 'one'), text);
    keep(addon, 'one');
    assert.ok(isKnown(addon, 'one'), text);
    rmSync(file);
  }
});

test('If nothing can be stored, nothing is stored, without an error.', ({ folder, addon }) => {
  writeFileSync(join(folder, 'plain'), '');
  process.env['COVARIUM_CACHE'] = join(folder, 'plain', 'cache');
  keep(addon, 'one');
  assert.not(isKnown(addon, 'one'));
  process.env['COVARIUM_CACHE'] = join(folder, 'cache');
  mkdirSync(join(folder, 'cache', 'known-gpus.json'), { recursive: true });
  keep(addon, 'one');
  assert.not(isKnown(addon, 'one'));
  assert.equal(readdirSync(join(folder, 'cache')), ['known-gpus.json'], 'no draft is left');
});

test.run();
