// Tests of the Metal device: over its software stand-in wherever that can be built, on the GPU of a Mac where a test
// needs no hook of the stand-in. Importing this file puts the stand-in's addon into COVARIUM_ADDON, which is read
// when a device is opened.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { cudaKernels } from '../../lib/addon/cuda-kernels.ts';
import { loadAddon } from '../../lib/addon/native.ts';
import { softAddon } from './softmetal/addon.ts';
import { SoftMetal } from './softmetal/softmetal.ts';

const env: NodeJS.ProcessEnv & { COVARIUM_ADDON?: string } = process.env;
// Small work goes to the GPU, too.
env['COVARIUM_METAL_FROM'] ??= '0';
// Nothing can be cached in a folder that can't be made, so each process tests its GPU again.
env['COVARIUM_CACHE'] = '/dev/null/none';

/** The stand-in's build; if COVARIUM_ADDON is set already, it may name a build with a sanitizer. */
function standIn(): ReturnType<typeof softAddon> {
  const { COVARIUM_ADDON: path = '' } = env;
  const folder = dirname(path);
  return path !== '' && existsSync(join(folder, 'softmetal.node')) ? { folder, path } : softAddon();
}

function loaded(): { readonly soft?: SoftMetal; readonly noSoft: string; readonly noMetal: string } {
  const build = standIn();
  if (!('reason' in build)) env.COVARIUM_ADDON = build.path;
  const { addon, reason } = loadAddon();
  if (!('reason' in build)) {
    if (addon === undefined) throw new Error(reason);
    return { soft: new SoftMetal(build), noSoft: '', noMetal: '' };
  }
  const metal = addon?.candidates(cudaKernels).find(({ kind }) => kind === 'metal');
  return { noSoft: build.reason, noMetal: metal === undefined ? reason : metal.reason };
}

const { soft, noSoft, noMetal } = loaded();

// A test that fails leaves its device open; the tests after it must not fail for that.
let hasFailed = false;

/** A test that needs the stand-in's hooks. When it ends, no object of Apple's classes may be left. */
export function onSoftMetal(sentence: string, check: (soft: SoftMetal) => void | Promise<void>): void {
  const hooks = soft;
  if (hooks === undefined) {
    skip(sentence, noSoft);
    return;
  }
  test(sentence, async () => {
    hooks.reset();
    try {
      await check(hooks);
    } catch (error) {
      hasFailed = true;
      throw error;
    } finally {
      hooks.reset();
    }
    nothingIsLeft();
  });
}

/** A test of the Metal device, real or stand-in; only the stand-in has hooks. */
export function onMetal(sentence: string, check: () => void | Promise<void>): void {
  if (soft !== undefined) onSoftMetal(sentence, check);
  else if (noMetal !== '') skip(sentence, noMetal);
  else test(sentence, check);
}

/** Asserts that every object of Apple's classes has been released, where the stand-in counts them. */
function nothingIsLeft(): void {
  if (soft !== undefined && !hasFailed) assert.equal(soft.ledger(), {}, 'an object of Metal is left');
}

/** A test that can't run here, and why. */
export function skip(sentence: string, reason: string): void {
  console.log(`skipped  ${sentence} ${reason}`);
  test.skip(sentence);
}
