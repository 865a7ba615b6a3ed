// The stand-in for Metal by itself: what it computes, what it counts, which faults it makes. Its sentences about misuse are in
// softmetal-strict.test.ts.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { softAddon } from './softmetal/addon.ts';
import { SoftMetal } from './softmetal/softmetal.ts';

const build = softAddon();
if ('reason' in build) {
  console.log(`skipped  ${build.reason}`);
  test.skip('Software Metal is not built.');
} else {
  createRequire(import.meta.url)(build.path);
  const soft = new SoftMetal(build);

  const drive = (program: string, env: Record<string, string> = {}) => {
    const { status, stdout, stderr } = spawnSync(`${build.folder}/${program}`, {
      encoding: 'utf8',
      env: { ...process.env, ...env },
      timeout: 120_000,
    });
    return { status, output: stdout + stderr };
  };

  test('Devices, buffers, queues, kernels and copies do what they say.', () => {
    assert.equal(drive('compute'), { status: 0, output: '' });
  });

  test('The driver program can fail.', () => {
    const { status, output } = drive('compute', { SOFTMETAL_BROKEN_KERNEL: 'squared_norms' });
    assert.is(status, 1);
    assert.match(output, 'wrong: squared norms');
  });

  test('The hooks find the addon: an empty ledger, no memory of ours, settings by name only.', () => {
    assert.equal(soft.ledger(), {});
    assert.not(soft.owns(new Float32Array(4)));
    soft.set('executionWidth', 31);
    assert.throws(() => soft.set('noSuchSetting', 1), /noSuchSetting/);
    soft.reset();
    assert.equal(soft.counters(), {});
    assert.throws(() => new SoftMetal({ ...build, path: '/nowhere/covarium.node' }).ledger(), /not loaded/);
  });
}

test.run();
