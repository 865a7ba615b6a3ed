// The stand-in for Metal by itself: what it computes, what it counts, which faults it makes. softmetal-strict.test.ts
// tests what it says about misuse.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { scratchDriver, softAddon } from './softmetal/addon.ts';
import { SoftMetal } from './softmetal/softmetal.ts';

const build = softAddon();
if ('reason' in build) {
  console.log(`skipped  ${build.reason}`);
  test.skip('Software Metal is not built.');
} else {
  createRequire(import.meta.url)(build.path);
  const soft = new SoftMetal(build);

  const drive = (program: string, env: Record<string, string> = {}, folder = build.folder) => {
    const { status, stdout, stderr } = spawnSync(`${folder}/${program}`, {
      encoding: 'utf8',
      env: { ...process.env, ...env },
      timeout: 120_000,
    });
    return { status, output: stdout + stderr };
  };

  test('Devices, buffers, queues, kernels and copies work.', () => {
    assert.equal(drive('compute'), { status: 0, output: '' });
  });

  test('MPS computes the same as plain loops.', () => {
    assert.equal(drive('matrices'), { status: 0, output: '' });
  });

  test('Queues are asynchronous, in order and limited; every fault can be provoked, and leaves nothing behind.', () => {
    assert.equal(drive('queues'), { status: 0, output: '' });
  });

  test('Any number of threads gives the same result.', () => {
    assert.equal(drive('compute', { SOFTMETAL_THREADS: '3' }), { status: 0, output: '' });
  });

  test('Encoders that share nothing give the same results when they run side by side.', () => {
    for (const program of ['compute', 'matrices', 'device'])
      assert.is(drive(program, { SOFTMETAL_SIDE_BY_SIDE: '1' }).status, 0, program);
  });

  for (const [program, env, finding] of [
    ['compute', { SOFTMETAL_BROKEN_KERNEL: 'squared_norms' }, 'wrong: squared norms of normals'],
    ['compute', { SOFTMETAL_POISON: '0' }, 'wrong: fresh memory is poisoned'],
    ['matrices', { SOFTMETAL_BROKEN_MPS: 'MPSMatrixMultiplication' }, 'wrong: a product'],
    ['matrices', { SOFTMETAL_BROKEN_MPS: 'MPSMatrixVectorMultiplication:nan' }, 'wrong: a matrix-vector product'],
    ['matrices', { SOFTMETAL_BROKEN_MPS: 'MPSMatrixDecompositionCholesky:nan' }, 'wrong: the factor'],
    ['matrices', { SOFTMETAL_BROKEN_MPS: 'MPSMatrixSum' }, 'wrong: a sum'],
    ['matrices', { SOFTMETAL_BROKEN_MPS: 'MPSMatrixCopy' }, 'wrong: a copy'],
    ['matrices', { SOFTMETAL_CHOLESKY_STATUS: '-1' }, 'wrong: a decomposition succeeds'],
  ] as const)
    test(`The drivers notice a fault: ${Object.entries(env).join(' ')}.`, () => {
      const { status, output } = drive(program, env);
      assert.is(status, 1, output);
      assert.ok(output.includes(finding), output);
    });

  // The driver has four scenes, each with one fixture.
  test('A missing release is found for any class, and reported by the class.', () => {
    for (const [release, left] of [
      ['[queue release];', 'MTLCommandQueue (4)'],
      ['[library release];', 'MTLLibrary (4)'],
      ['[squaredNorms release];', 'MTLComputePipelineState (4)'],
      ['[function release];', 'MTLFunction (12)'],
    ] as const) {
      const scratch = scratchDriver('leak', 'compute', {
        'test/metal/softmetal/drivers/fixture.mm': (text) => text.replace(release, ''),
      });
      const { status, output } = drive('compute', {}, scratch);
      assert.is(status, 1);
      assert.ok(output.includes(`alive: ${left}`), output);
    }
  });

  test('The hooks find the addon: the ledger is empty, it owns none of our memory, and only known settings can be set.', () => {
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
