// Replaces node-gyp in test/cli/build-native.test.ts: records its arguments and writes a file as the addon, without
// compiling.
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';

const { FAKE_SEEN, FAKE_ADDON, FAKE_ENDING } = process.env;
const sources = [
  'binding.gyp',
  'package.json',
  'objc/addon/module.cc',
  'msl/cpu/metal_stdlib',
  'node-addon-api/napi.h',
];
// Read-only files can neither be built in nor removed.
const readOnly = ['objc', ...sources].filter((path) => existsSync(path) && !(statSync(path).mode & 0o200));
const missing = sources.filter((path) => !existsSync(path));
// A compiler that runs for a minute, unless it is ended with its process group.
if (FAKE_ENDING === 'never') {
  const compiler = `setTimeout(() => fs.writeFileSync(${JSON.stringify(`${FAKE_SEEN}.compiled`)}, ''), 60_000)`;
  spawn(process.execPath, ['--eval', compiler], { stdio: 'inherit' });
}
writeFileSync(
  FAKE_SEEN,
  JSON.stringify({ arguments: process.argv.slice(2), folder: process.cwd(), missing, readOnly }),
);
if (FAKE_ENDING === 'never') setInterval(() => {}, 1000);
else if (FAKE_ENDING !== undefined) {
  console.error(FAKE_ENDING);
  process.exitCode = 1;
} else {
  mkdirSync('build/Release', { recursive: true });
  copyFileSync(FAKE_ADDON, 'build/Release/covarium.node');
}
