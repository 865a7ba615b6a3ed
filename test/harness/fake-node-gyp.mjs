// In node-gyp's place, in test/cli/build-native.test.ts: writes down what it is given, and leaves a file as the addon,
// without compiling.
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
// What can't be changed can't be built in, nor removed.
const readOnly = ['objc', ...sources].filter((path) => existsSync(path) && !(statSync(path).mode & 0o200));
const missing = sources.filter((path) => !existsSync(path));
// A compiler that goes on for a minute, unless it is ended with the whole.
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
