// Signals end a command at once; if it has an unfinished file, that is removed first.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { moduleUrl, nodeOptions, spawnNode } from '../harness/child.ts';
import { outcomeOf, start } from '../harness/command-line.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-signals-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/** A pipe without a writer; `reading` resolves when a reader opens it. */
function hangingPipe(name: string): { path: string; reading: () => Promise<{ close(): Promise<void> }> } {
  const path = join(folder, name);
  execFileSync('mkfifo', [path]);
  return { path, reading: () => open(path, 'w') };
}

if (process.platform === 'win32') console.log('skipped  signals: Windows has none');
else {
  for (const signal of signals)
    test(`${signal} ends a command that waits for its input.`, async () => {
      const { path, reading } = hangingPipe(`${signal}.csv`);
      const child = start(['fit', path, '--output', join(folder, 'model.json')]);
      const ended = new Promise((resolve) => child.once('exit', (code, by) => resolve(by ?? code)));
      const writer = await reading();
      child.kill(signal);
      assert.is(await ended, signal);
      await writer.close();
    });

  test('SIGHUP ends a sample like SIGTERM, and leaves no file.', async () => {
    const where = mkdtempSync(join(folder, 'hangup-'));
    const covariance = join(folder, 'c.csv');
    writeFileSync(covariance, '1,0\n0,1\n');
    const output = join(where, 'draws.npy');
    const child = start(['sample', '--covariance', covariance, '--count', '3000000000', '--output', output]);
    const ended = outcomeOf(child);
    while (readdirSync(where).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    child.kill('SIGHUP');
    const { code, stderr } = await ended;
    assert.equal([code, stderr], [128 + constants.signals.SIGHUP, '']);
    assert.equal(readdirSync(where), []);
  });

  // A command that hangs with an unfinished file is ended, too.
  for (const kills of [1, 2])
    test(`A command that does not stop is ended by ${kills === 1 ? 'some seconds' : 'a second signal'}, and leaves no file.`, async () => {
      const where = mkdtempSync(join(folder, 'stuck-'));
      const { path, reading } = hangingPipe(`stuck-${kills}`);
      const text = `
        import { readFileSync } from 'node:fs';
        import { readFile } from 'node:fs/promises';
        import { interruptible } from '${moduleUrl('lib/cli/interruption.ts')}';
        import { openOutputFile } from '${moduleUrl('lib/file/output.ts')}';
        interruptible();
        await openOutputFile('${join(where, 'file')}');
        await readFile('${path}');`;
      const child = spawnNode([...nodeOptions, '--input-type=module', '--eval', text]);
      const ended = new Promise((resolve) => child.once('exit', (_, by) => resolve(by)));
      const writer = await reading();
      assert.is(readdirSync(where).length, 1);
      for (let kill = 0; kill < kills; kill++) {
        child.kill('SIGTERM');
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
      assert.is(await ended, 'SIGTERM');
      assert.equal(readdirSync(where), []);
      await writer.close();
    });
}

test.run();
