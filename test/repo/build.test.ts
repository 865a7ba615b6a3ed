// build.mjs, in a folder whose sources are newer than its addon, without a compiler.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const clone = fileURLToPath(new URL('../..', import.meta.url));
// It loads the builder of the addon from there.
const isBuilt = existsSync(join(clone, 'dist/lib/addon/build.js'));

(isBuilt ? test : test.skip)('An addon of older sources is not used when a new one cannot be built.', () => {
  const folder = mkdtempSync(join(tmpdir(), 'covarium-build-'));
  try {
    for (const name of ['dist', 'node_modules']) symlinkSync(join(clone, name), join(folder, name));
    const copied = ['build.mjs', 'notices.mjs', 'package.json'];
    const sources = ['lib', 'bench', 'binding.gyp', 'tsconfig.json', 'tsconfig.build.json', 'msl', 'objc'];
    for (const name of copied) copyFileSync(join(clone, name), join(folder, name));
    for (const name of sources) writeFileSync(join(folder, name), '');
    // All but objc are older than dist/.
    for (const name of [...copied, ...sources])
      utimesSync(join(folder, name), 1, name === 'objc' ? Date.now() / 1e3 : 1);
    const addon = join(folder, 'build/Release/covarium.node');
    const build = () =>
      spawnSync(process.execPath, ['build.mjs', '--optional'], { cwd: folder, env: { PATH: '' }, encoding: 'utf8' });
    const without = build();
    assert.is(without.status, 0, without.stderr);
    assert.match(without.stderr, /\. But the reference device in plain TypeScript works without it\.$/m);
    mkdirSync(join(folder, 'build/Release'), { recursive: true });
    writeFileSync(addon, '');
    utimesSync(addon, 1, 1);
    const stale = build();
    assert.is(stale.status, 1, stale.stderr);
    assert.match(
      stale.stderr,
      /build\/Release\/covarium\.node is of older sources: delete it, and the reference device/,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.run();
