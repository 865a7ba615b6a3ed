import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { endOpening } from '../../lib/file/named-pipe.ts';
import { writeTable } from '../../lib/index.ts';
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

test('Opening a named pipe without a reader can be ended, as by the signal of writeTable.', async () => {
  const pipe = join(folder, 'unread.csv');
  if (spawnSync('mkfifo', [pipe]).status !== 0) return console.log('skipped  a pipe: mkfifo is not here.');
  const openings = Array.from({ length: 5 }, () => open(pipe, 'w'));
  assert.is(await Promise.race([openings[0], after(100, 'waits')]), 'waits');
  await Promise.all(openings.map((opening) => endOpening(pipe, opening, 'write')));
  for (const opening of openings) await (await opening).close();
  const stop = new AbortController();
  const writing = writeTable(pipe, [[1, 2]], { signal: stop.signal });
  assert.is(await Promise.race([writing, after(100, 'waits')]), 'waits');
  stop.abort();
  await throwsCode('ERR_ABORTED', () => Promise.race([writing, after(10_000)]));
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
