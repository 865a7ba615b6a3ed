// Tests of the CUDA device over the stand-in for NVIDIA's driver, each in its own process, because a process loads
// the driver once.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Ending, modulePath, moduleUrl, nodeOptions, runChild, runNode } from '../harness/child.ts';
import { softAddon } from '../metal/softmetal/addon.ts';

const build = softAddon();

/** The stand-in's file, which has stand-ins for cuBLAS and cuSOLVER too. */
export const standInFile: string = 'reason' in build ? '' : join(build.folder, 'softcuda/libcuda.so.1');

const cache = mkdtempSync(join(tmpdir(), 'covarium-cuda-'));
process.on('exit', () => rmSync(cache, { recursive: true, force: true }));

/** How the stand-in behaves: SOFTCUDA_ variables, and those of covarium. */
export type Setting = Readonly<Record<string, string>>;

function environment(setting: Setting): NodeJS.ProcessEnv {
  if ('reason' in build) throw new Error(build.reason);
  const {
    COVARIUM_DEVICE: _,
    COVARIUM_GPU: __,
    COVARIUM_ADDON: ___,
    ...env
  } = process.env as { [name: string]: string };
  return {
    ...env,
    LD_LIBRARY_PATH: join(build.folder, 'softcuda'),
    // NVIDIA's compiler calls driver functions that the stand-in lacks, and crashes.
    COVARIUM_NVRTC: 'none',
    COVARIUM_CUBLAS: 'none',
    COVARIUM_CUSOLVER: 'none',
    COVARIUM_CUDA_FROM: '0',
    COVARIUM_CXX: 'clang++',
    COVARIUM_CACHE: cache,
    SOFTCUDA_LEDGER: '1',
    ...setting,
  };
}

/** Runs a module's text, in which `covarium` is lib/index.ts, beside the stand-in. */
export function besideCuda(text: string, setting: Setting = {}): Promise<Ending> {
  return runChild(`import * as covarium from '${moduleUrl('lib/index.ts')}';\n${text}`, environment(setting));
}

/** Runs the `covarium` command beside the stand-in. */
export function commandBesideCuda(command: readonly string[], setting: Setting = {}): Promise<Ending> {
  return runNode([...nodeOptions, modulePath('lib/cli/main.ts'), ...command], environment(setting));
}

/** Three rounds of worker threads, each with a plan of test/harness/native-worker.mjs. */
export function roundsBesideCuda(plans: readonly string[]): Promise<Ending> {
  const script = fileURLToPath(new URL('../harness/worker-rounds.mjs', import.meta.url));
  return runNode([script, '3', ...plans], environment({ COVARIUM_TEST_DEVICE: 'cuda' }));
}

/** What the text prints. Its process must end well and leave nothing with the driver. */
export async function printedBesideCuda(text: string, setting: Setting = {}): Promise<string> {
  const { code, stdout, stderr } = await besideCuda(text, setting);
  assert.is(code, 0, `${stdout}\n${stderr}`);
  assert.match(stderr, 'softcuda: blocks 0, pinned 0, streams 0, events 0, modules 0, contexts 0');
  return stdout;
}

const hasClang = spawnSync('clang++', ['--version']).status === 0;

/** A test of user kernels, which clang compiles to PTX here. */
export function onClang(sentence: string, check: () => Promise<void>): void {
  if (hasClang) onSoftCuda(sentence, check);
  else {
    console.log(`skipped  ${sentence} (clang++ is not installed)`);
    test.skip(sentence);
  }
}

/** A test that needs the stand-in. */
export function onSoftCuda(sentence: string, check: () => Promise<void>): void {
  if (!('reason' in build)) {
    test(sentence, check);
    return;
  }
  console.log(`skipped  cuda: ${sentence} ${build.reason}`);
  test.skip(sentence);
}
