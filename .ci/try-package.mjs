// Installs the tarball in an empty folder, without scripts, as npm 12 does, and tries it: the prebuilt addon is the one
// that is loaded, the cpu device has it, and draws the normals that the reference device draws.
//
//   node .ci/try-package.mjs covarium-1.2.3.tgz
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const [tarball] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'covarium-try-'));
const run = (command, ...args) => execFileSync(command, args, { cwd: folder, encoding: 'utf8' });

const trial = `
import { MultivariateNormal, listDevices, openDevice } from 'covarium';
import assert from 'node:assert/strict';
const cpu = listDevices().find(({ kind }) => kind === 'cpu');
assert.ok(cpu.available, cpu.reason);
const [drawn, expected] = ['cpu', 'reference'].map((kind) => {
  const device = openDevice(kind);
  const normal = MultivariateNormal.fromCovarianceSync({ device, mean: [0, 0], covariance: [[1, 0], [0, 1]] });
  return normal.sampleSync(1000, { seed: 42 }).toArray();
});
assert.deepEqual(drawn, expected);
`;

try {
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  run('npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', resolve(tarball));
  writeFileSync(join(folder, 'trial.js'), trial);
  run(process.execPath, 'trial.js');
  const main = join('node_modules', 'covarium', 'dist', 'lib', 'cli', 'main.js');
  process.stdout.write(run(process.execPath, main, 'devices'));
  const { addon } = JSON.parse(run(process.execPath, main, 'devices', '--json'));
  if (addon.origin !== 'prebuilt' || addon.warnings.length > 0) throw new Error(JSON.stringify(addon));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
