// Folders that the package makes for itself: of its cache, of parts, of reports.
import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeFolder } from '../../lib/file/folder.ts';
import { modulePath, nodeOptions, runNode } from '../harness/child.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-folder-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const codeOf = (path: string): string => {
  try {
    makeFolder(path);
    return '';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
};

test('A folder is made with those above it, in its mode, and one that is there stays.', () => {
  const path = join(folder, 'a', 'b', 'c');
  makeFolder(`${path}/`, 0o700);
  for (const each of [path, join(folder, 'a', 'b'), join(folder, 'a')]) assert.is(statSync(each).mode & 0o777, 0o700);
  makeFolder(path, 0o755);
  assert.is(statSync(path).mode & 0o777, 0o700);
  symlinkSync(path, join(folder, 'link'));
  makeFolder(join(folder, 'link', 'd'));
  assert.ok(existsSync(join(path, 'd')));
});

test('Where a file or a link to nothing is in the way, the error is the system’s.', () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  assert.is(codeOf(file), 'EEXIST');
  assert.is(codeOf(join(file, 'a', 'b')), 'ENOTDIR');
  symlinkSync(join(folder, 'nothing'), join(folder, 'dangling'));
  assert.is(codeOf(join(folder, 'dangling')), 'EEXIST');
  assert.is(codeOf(''), 'ENOENT');
});

// In a process of its own, because Node's own function does not return.
if (existsSync('/proc/self'))
  test('Where the system makes no folders and says ENOENT, that is an error, not a wait without end.', async () => {
    const path = modulePath('lib/file/folder.ts');
    const text = `import { makeFolder } from ${JSON.stringify(path)};
      try { makeFolder('/proc/covarium/compiled'); } catch ({ code }) { console.log(code); }`;
    const { code, signal, stdout } = await runNode([...nodeOptions, '--input-type=module', '--eval', text], {}, 20_000);
    assert.equal([code, signal, stdout], [0, null, 'ENOENT']);
  });

test.run();
