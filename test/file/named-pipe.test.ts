import { spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { endOpening } from '../../lib/file/named-pipe.ts';
import { Matrix, readTable, writeTable } from '../../lib/index.ts';
import { throwsCode } from '../harness/throws-code.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-pipe-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

test('Opening a named pipe without a writer can be ended, even as many as libuv has threads.', async () => {
  const pipe = join(folder, 'pipe');
  if (spawnSync('mkfifo', [pipe]).status !== 0) return console.log('skipped  a pipe: mkfifo is not here.');
  const openings = Array.from({ length: 5 }, () => open(pipe));
  const first = await Promise.race([openings[0], after(100, 'waits')]);
  assert.is(first, 'waits');
  await Promise.all(openings.map((opening) => endOpening(pipe, opening)));
  for (const opening of openings) await (await opening).close();
});

test('A named pipe that is written holds no thread and ends by its signal, without a reader and with an idle one.', async () => {
  const pipe = join(folder, 'unread.csv');
  if (spawnSync('mkfifo', [pipe]).status !== 0) return console.log('skipped  a pipe: mkfifo is not here.');
  // More than libuv has threads, and than a pipe holds bytes.
  const stopped = async () => {
    const stop = new AbortController();
    const rows = Matrix.from(new Float64Array(100_000), { rows: 100_000 });
    const writings = Array.from({ length: 5 }, () => writeTable(pipe, rows, { signal: stop.signal }));
    assert.is(await Promise.race([...writings, after(100, 'waits')]), 'waits');
    assert.is(await Promise.race([stat(folder).then(() => 'free'), after(10_000, 'held')]), 'free');
    stop.abort();
    for (const writing of writings) await throwsCode('ERR_ABORTED', () => Promise.race([writing, after(10_000)]));
  };
  await stopped();
  const idle = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  await stopped();
  closeSync(idle);
});

test('A named pipe gets all bytes, and its reader sees their end; a reader that goes is an error.', async () => {
  const pipe = join(folder, 'read.csv');
  if (spawnSync('mkfifo', [pipe]).status !== 0) return console.log('skipped  a pipe: mkfifo is not here.');
  const rows = Matrix.from(
    Float64Array.from({ length: 300_000 }, (_, i) => i),
    { rows: 100_000 },
  );
  const writing = writeTable(pipe, rows);
  const read = await readTable(pipe, { header: false });
  await writing;
  assert.equal(read.rows.data, rows.data);
  const leaving = open(pipe);
  const refused = throwsCode('ERR_FILE_UNWRITABLE', 'EPIPE', () => writeTable(pipe, rows));
  const file = await leaving;
  await file.read(Buffer.alloc(10));
  await file.close();
  await refused;
});

test('A file is not changed, and a missing one is not made.', async () => {
  const path = join(folder, 'file');
  writeFileSync(path, 'kept');
  const never = new Promise<never>(() => {});
  await endOpening(path, never);
  await endOpening(join(folder, 'none'), never);
  await endOpening(join(path, 'below a file'), never);
});

test.run();
