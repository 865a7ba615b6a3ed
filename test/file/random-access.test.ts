// Small reads that are close together are merged, and give the same bytes as each alone.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteSource } from '../../lib/file/input.ts';
import { randomAccess } from '../../lib/file/random-access.ts';
import { throwsCode } from '../harness/throws-code.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-random-access-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const bytes = Uint8Array.from({ length: 700_000 }, (_, i) => (i * 31 + (i >> 9)) % 251);
const path = join(folder, 'bytes');
writeFileSync(path, bytes);

test('Small reads forwards, backwards, far apart and side by side give their own bytes.', async () => {
  const file = (await randomAccess(new ByteSource(path)))!;
  const read = async (start: number, length: number) => {
    const out = new Uint8Array(length);
    await file.read(start, out);
    assert.equal(out, bytes.slice(start, start + length), `${length} from ${start}`);
  };
  for (let at = 0; at < 3000; at += 97) await read(at, 97);
  for (const at of [2000, 0, 600_000, 600_010, 100, 699_999, 262_143, 262_200]) await read(at, 1);
  await read(600_500, 5000);
  await read(699_000, 1000);
  await Promise.all(Array.from({ length: 4000 }, (_, i) => read(i * 170, 170)));
  await file.close();
});

test('A file that became shorter is refused, however small the read.', async () => {
  const shorter = join(folder, 'shorter');
  writeFileSync(shorter, bytes);
  const file = (await randomAccess(new ByteSource(shorter)))!;
  writeFileSync(shorter, bytes.subarray(0, 1000));
  for (const start of [2000, 2010]) await throwsCode('ERR_FILE_UNREADABLE', () => file.read(start, new Uint8Array(10)));
  await file.close();
});

test.run();
