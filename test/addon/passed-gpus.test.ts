import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'; // biome-ignore format: one list
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { keepPassed, passedGpus } from '../../lib/addon/passed-gpus.ts';

const hasPassed = (addon: string, gpu: string): boolean => passedGpus(addon).includes(gpu);

const test = suite<{ folder: string; addon: string; file: string }>('passed-gpus');
const before = process.env['COVARIUM_CACHE'];

test.before.each((context) => {
  const folder = mkdtempSync(join(tmpdir(), 'covarium-passed-'));
  const cache = join(folder, 'cache');
  process.env['COVARIUM_CACHE'] = cache;
  context.folder = folder;
  context.file = join(cache, 'passed-gpus.json');
  context.addon = join(folder, 'covarium.node');
  writeFileSync(context.addon, 'an addon');
});

test.after.each(({ folder }) => {
  if (before === undefined) delete process.env['COVARIUM_CACHE'];
  else process.env['COVARIUM_CACHE'] = before;
  rmSync(folder, { recursive: true, force: true });
});

test('A GPU has passed once that is recorded, only for this addon.', ({ folder, addon, file }) => {
  assert.not(hasPassed(addon, 'one'));
  keepPassed(addon, 'one');
  keepPassed(addon, 'two');
  keepPassed(addon, 'one');
  for (const gpu of ['one', 'two']) assert.ok(hasPassed(addon, gpu));
  assert.not(hasPassed(addon, 'three'));
  assert.is(JSON.parse(readFileSync(file, 'utf8')).length, 2);
  assert.is(statSync(file).mode & 0o777, 0o600);
  assert.equal(readdirSync(join(folder, 'cache')), ['passed-gpus.json'], 'no draft is left');
  utimesSync(addon, 1, 1);
  assert.not(hasPassed(addon, 'one'), 'an addon that was rebuilt');
  writeFileSync(addon, 'a longer addon');
  utimesSync(addon, 1, 1);
  keepPassed(addon, 'one');
  assert.ok(hasPassed(addon, 'one'));
  assert.not(hasPassed(join(folder, 'none.node'), 'one'));
});

test('The latest twenty GPUs are kept.', ({ addon }) => {
  for (let gpu = 0; gpu < 25; gpu++) keepPassed(addon, String(gpu));
  for (let gpu = 0; gpu < 25; gpu++) assert.is(hasPassed(addon, String(gpu)), gpu >= 5, String(gpu));
});

test('A file that others can write, a link and a huge file are not trusted.', ({ folder, addon, file }) => {
  keepPassed(addon, 'one');
  for (const mode of [0o620, 0o602]) {
    chmodSync(file, mode);
    assert.not(hasPassed(addon, 'one'), mode.toString(8));
  }
  chmodSync(file, 0o600);
  assert.ok(hasPassed(addon, 'one'));
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text + ' '.repeat(20_000));
  assert.not(hasPassed(addon, 'one'));
  const other = join(folder, 'other.json');
  writeFileSync(other, text, { mode: 0o600 });
  rmSync(file);
  symlinkSync(other, file);
  assert.not(hasPassed(addon, 'one'));
});

test('A damaged file is replaced.', ({ addon, file }) => {
  for (const text of ['', '{', 'null', '{"one": 1}', '[1, null]']) {
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, text, { mode: 0o600 });
    assert.not(hasPassed(addon, 'one'), text);
    keepPassed(addon, 'one');
    assert.ok(hasPassed(addon, 'one'), text);
    rmSync(file);
  }
});

test('If nothing can be stored, nothing is stored, without an error.', ({ folder, addon }) => {
  writeFileSync(join(folder, 'plain'), '');
  process.env['COVARIUM_CACHE'] = join(folder, 'plain', 'cache');
  keepPassed(addon, 'one');
  assert.not(hasPassed(addon, 'one'));
  process.env['COVARIUM_CACHE'] = join(folder, 'cache');
  mkdirSync(join(folder, 'cache', 'passed-gpus.json'), { recursive: true });
  keepPassed(addon, 'one');
  assert.not(hasPassed(addon, 'one'));
  assert.equal(readdirSync(join(folder, 'cache')), ['passed-gpus.json'], 'no draft is left');
});

test.run();
