// build.mjs, in a folder whose sources are newer than its addon or its kernels, without a compiler.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fingerprint } from '../../msl/cuda/embed.mjs';

const clone = fileURLToPath(new URL('../..', import.meta.url));
// It loads the builder of the addon from there.
const isBuilt = existsSync(join(clone, 'dist/lib/addon/build.js'));

(isBuilt ? test : test.skip)('An addon of older sources is not used when a new one cannot be built.', () => {
  const folder = mkdtempSync(join(tmpdir(), 'covarium-build-'));
  try {
    for (const name of ['dist', 'node_modules']) symlinkSync(join(clone, name), join(folder, name));
    const copied = ['build.mjs', 'notices.mjs', 'package.json'];
    // Where dist/ has no kernels, it asks for some.
    mkdirSync(join(folder, 'msl/cuda'), { recursive: true });
    const script = 'msl/cuda/embed.mjs';
    const sources = ['lib', 'bench', 'binding.gyp', 'tsconfig.json', 'tsconfig.build.json', 'objc', script];
    for (const name of copied) copyFileSync(join(clone, name), join(folder, name));
    for (const name of sources) writeFileSync(join(folder, name), '');
    writeFileSync(join(folder, script), "export const makePtx = () => ({ reason: 'There is no clang.' });");
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

const kernelsTest = process.platform === 'linux' ? test : test.skip;
kernelsTest('Kernels are made anew if they are older than msl/; without a clang they are removed.', () => {
  const folder = mkdtempSync(join(tmpdir(), 'covarium-build-'));
  try {
    for (const name of ['build.mjs', 'notices.mjs']) copyFileSync(join(clone, name), join(folder, name));
    cpSync(join(clone, 'msl'), join(folder, 'msl'), { recursive: true });
    const sources = ['lib', 'bench', 'binding.gyp', 'tsconfig.json', 'tsconfig.build.json'];
    for (const name of sources) writeFileSync(join(folder, name), '');
    for (const name of [...sources, 'build.mjs', 'notices.mjs']) utimesSync(join(folder, name), 1, 1);
    mkdirSync(join(folder, 'dist/lib'), { recursive: true });
    writeFileSync(join(folder, 'dist/lib/index.js'), '');
    const kernels = join(folder, 'dist/cuda-kernels.bin');
    writeFileSync(kernels, '');
    const build = (clang: string) => {
      const env = { PATH: '', CLANGXX: clang };
      const { status, stderr } = spawnSync(process.execPath, ['build.mjs', '--no-addon'], { cwd: folder, env });
      assert.is(status, 0, `${stderr}`);
      return `${stderr}`;
    };
    assert.is(build('/no/such/clang++'), '');
    utimesSync(kernels, 1, 1);
    assert.is(build('/no/such/clang++'), 'The cuda device has no kernels: No clang++ is found.\n');
    assert.not(existsSync(kernels));
    const clang = join(folder, 'clang++');
    writeFileSync(clang, '#!/bin/sh\necho .version 6.3');
    chmodSync(clang, 0o755);
    assert.is(build(clang), '');
    const text = `${brotliDecompressSync(readFileSync(kernels).subarray(4))}`;
    assert.is(text, `//${fingerprint()}\n.version 6.3\n.version 6.3\n`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.run();
