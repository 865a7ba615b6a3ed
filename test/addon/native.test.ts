import { spawnSync } from 'node:child_process';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const program = `
  import fs from 'node:fs';
  import { listDevices } from './lib/index.ts';
  process.stdout.write(listDevices().find(({ kind }) => kind === 'cpu').reason);
`;

function run(text: string, args: readonly string[], addon: string): { stdout: string; stderr: string } {
  return spawnSync(process.execPath, [...args, '--import', 'tsx', '--input-type=module', '--eval', text], {
    encoding: 'utf8',
    env: { ...process.env, COVARIUM_ADDON: addon },
  });
}

test('Where addons are not allowed, the advice is what allows them, and not another build.', () => {
  // As the permission model does, on every release.
  const { stdout, stderr } = run(program, ['--no-addons'], '');
  assert.match(stdout, /disabled.*--allow-addons/, stderr);
  assert.not.match(stdout, /build-native/);
});

test('Where a file may not be read that tells which addon fits, the advice is what allows that.', () => {
  if (process.platform !== 'linux') return;
  // As the permission model does if the package may be read alone.
  const refusal = `
    fs.existsSync = (resource) => {
      throw Object.assign(new Error('Access is restricted.'), { code: 'ERR_ACCESS_DENIED', resource });
    };`;
  const { stdout, stderr } = run(program.replace('process', `${refusal} process`), [], '');
  assert.match(stdout, /cannot be loaded .*start node with --allow-fs-read=\/etc\/alpine-release\.$/, stderr);
});

test('A file that is no addon is named.', () => {
  const { stdout, stderr } = run(program, [], 'LICENSE');
  assert.match(stdout, /\(.*LICENSE\)\.$/, stderr);
});

test.run();
