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

test('If addons are not allowed, the advice is how to allow them, not another build.', () => {
  // --no-addons does what the permission model does, on every release.
  const { stdout, stderr } = run(program, ['--no-addons'], '');
  assert.match(stdout, /disabled.*--allow-addons/, stderr);
  assert.not.match(stdout, /build-native/);
});

test('If a file that tells which addon fits may not be read, the advice is how to allow that.', () => {
  if (process.platform !== 'linux') return;
  // As under the permission model if only the package may be read.
  const refusal = `
    fs.existsSync = (resource) => {
      throw Object.assign(new Error('Access is restricted.'), { code: 'ERR_ACCESS_DENIED', resource });
    };`;
  const { stdout, stderr } = run(program.replace('process', `${refusal} process`), [], '');
  assert.match(stdout, /cannot be loaded .*start node with --allow-fs-read=\/etc\/alpine-release\.$/, stderr);
});

test('A file that is not an addon is named.', () => {
  const { stdout, stderr } = run(program, [], 'LICENSE');
  assert.match(stdout, /\(.*LICENSE\)\.$/, stderr);
});

test.run();
