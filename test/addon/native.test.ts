import { spawnSync } from 'node:child_process';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const program = `
  import { listDevices } from './lib/index.ts';
  process.stdout.write(listDevices().find(({ kind }) => kind === 'cpu').reason);
`;

test('Where addons are not allowed, the advice is what allows them, and not another build.', () => {
  // As the permission model does, on every release.
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--no-addons', '--import', 'tsx', '--input-type=module', '--eval', program],
    { encoding: 'utf8', env: { ...process.env, COVARIUM_ADDON: '' } },
  );
  assert.match(stdout, /disabled.*--allow-addons/, stderr);
  assert.not.match(stdout, /build-native/);
});

test.run();
