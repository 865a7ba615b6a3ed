// Builds what is missing or older than its sources: dist/ by tsc, build/Release/covarium.node by node-gyp.
// With --optional an addon that can't be built is said, and the reference device remains; without it that is a failure.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const folder = fileURLToPath(new URL('.', import.meta.url));
const optional = process.argv.includes('--optional');

function newest(path) {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return Math.max(...readdirSync(path).map((name) => newest(join(path, name))), 0);
}

function isCurrent(product, sources) {
  return (
    existsSync(join(folder, product)) &&
    newest(join(folder, product)) >= Math.max(...sources.map((name) => newest(join(folder, name))))
  );
}

function run(script, args, stdio) {
  return spawnSync(process.execPath, [script, ...args], { cwd: folder, stdio, encoding: 'utf8' });
}

if (!isCurrent('dist/index.js', ['lib', 'tsconfig.json', 'tsconfig.build.json'])) {
  rmSync(join(folder, 'dist'), { recursive: true, force: true });
  const { status } = run(require.resolve('typescript/bin/tsc'), ['-p', 'tsconfig.build.json'], 'inherit');
  if (status !== 0) process.exit(1);
}

if (!isCurrent('build/Release/covarium.node', ['objc', 'msl', 'binding.gyp'])) {
  console.error('Building the native addon (about half a minute) ...');
  const { status, stdout, stderr } = run(
    require.resolve('node-gyp/bin/node-gyp.js'),
    ['rebuild', '--jobs', 'max'],
    'pipe',
  );
  if (status !== 0) {
    console.error(stdout + stderr);
    console.error(
      'The native addon is not built: it needs python3, make and a C++17 compiler (Debian or Ubuntu: apt-get install python3 make g++;\n' +
        'macOS: xcode-select --install). The reference device in plain TypeScript works without it.',
    );
    if (!optional) process.exit(1);
  }
}
