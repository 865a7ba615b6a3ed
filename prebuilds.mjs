// Builds prebuilds/<platform>-<arch>/covarium[.glibc].node for the tarball, stripped; on an arm64 Mac `--arch x64`
// gives the other one. The clone takes the one for this machine too: it need not be compiled again.
import { cpSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import prebuildify from 'prebuildify';
import { findNodeGyp, nodeHeaders } from './dist/lib/addon/node-gyp.js';
import { stageSources } from './dist/lib/addon/stage.js';
import { requireNotices } from './notices.mjs';

requireNotices();

const { values: options } = parseArgs({ options: { arch: { type: 'string', default: process.arch } } });
const folder = fileURLToPath(new URL('.', import.meta.url));
const isLinux = process.platform === 'linux';
if (process.env.npm_config_nodedir === undefined && nodeHeaders() !== '')
  process.env.npm_config_nodedir = nodeHeaders();

// prebuildify hands no number of jobs to node-gyp, which then compiles one file after the other.
process.env.JOBS ??= 'max';

const stage = stageSources();
try {
  await promisify(prebuildify)({
    cwd: stage,
    out: folder,
    arch: options.arch,
    // Node-API: one build serves every version from this one's headers on.
    napi: true,
    strip: true,
    tagLibc: isLinux,
    targets: [process.versions.node],
    nodeGyp: findNodeGyp(),
    quiet: true,
  });
} finally {
  rmSync(stage, { recursive: true, force: true });
}

const name = `${process.platform}-${options.arch}`;
const path = join(folder, 'prebuilds', name, `covarium${isLinux ? '.glibc' : ''}.node`);
if (options.arch === process.arch) cpSync(path, join(folder, 'build/Release/covarium.node'));
const bytes = await readFile(path);
const newest = (prefix) =>
  [...new Set(bytes.toString('latin1').match(new RegExp(`${prefix}_[0-9.]+`, 'g')))]
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    .at(-1);
const needs = isLinux ? `, which needs ${newest('GLIBC')} and ${newest('GLIBCXX')}` : '';
console.log(`${path} (${bytes.length} bytes)${needs}`);
