// What the command does before it loads the rest: Node keeps what it compiles.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { runProcess } from '../harness/command-line.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-compiled-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

// In place of Node's function, which Node 20 lacks.
const says = `import module from 'node:module';
  module.enableCompileCache = (folder) => process.stderr.write('keeps in ' + folder);`;
const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(says)}`;

async function keptIn(COVARIUM_CACHE: string): Promise<string> {
  const { code, stdout, stderr } = await runProcess(['--version'], { COVARIUM_CACHE, NODE_OPTIONS });
  assert.is(code, 0, stderr);
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  return stderr.replace('keeps in ', '');
}

test('The command keeps what Node compiles of it in a folder of the cache that only its user can enter.', async () => {
  const cache = join(folder, 'cache');
  assert.is(await keptIn(cache), join(cache, 'compiled'));
  assert.is(statSync(join(cache, 'compiled')).mode & 0o777, 0o700);
});

test('Where others may write to that folder, or it cannot be made, the command runs without it.', async () => {
  const shared = join(folder, 'shared', 'compiled');
  mkdirSync(shared, { recursive: true });
  chmodSync(shared, 0o777);
  assert.is(await keptIn(join(folder, 'shared')), '');
  const file = join(folder, 'file');
  writeFileSync(file, '');
  assert.is(await keptIn(file), '');
});

test.run();
