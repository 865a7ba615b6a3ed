import { test } from 'uvu';
import type { Backend } from '../../lib/backend.ts';
import type { Values } from '../../lib/dtype.ts';
import { isAsked } from './asked-device.ts';
import { openCpuBackend } from './cpu-backend.ts';
import { openGpuBackend, reasonAgainst } from './gpu-backend.ts';
import { counterOf } from './naive.ts';
import { onNative } from './on-native.ts';

const noMetal = reasonAgainst('metal');

/** Apple's largest threadgroup is 1,024; a simdgroup is 32. */
export const groupSizes: readonly number[] = [1, 2, 31, 32, 33, 64, 1000, 1024];

/** Launches one kernel and waits for it. */
export function launch(
  backend: Backend,
  kernel: string,
  operands: readonly Values[],
  grid: readonly number[],
  group: readonly number[],
): void {
  const encoder = backend.encoder();
  encoder.launch(kernel, operands, grid, group);
  encoder.commitSync();
}

// A launched kernel never uses a library, so test runs for a library's products leave these tests out.
const { COVARIUM_BLAS: library }: NodeJS.ProcessEnv & { COVARIUM_BLAS?: string } = process.env;
const isLeftOut = library !== undefined && library !== 'none';
if (isLeftOut) console.log('left out  launches on cpu, which multiply by no library');

/** The same check with one thread and with more than there are cores. */
export function onCpu(sentence: string, check: (device: Backend) => void | Promise<void>): void {
  if (isLeftOut) return;
  for (const threads of [1, 3])
    onNative(`${threads} threads: ${sentence}`, async () => {
      const device = openCpuBackend(threads);
      await check(device);
      device.close();
    });
}

/** Like the above, also on the metal device; if there is none, the reason is printed. */
export function onCpuAndMetal(sentence: string, check: (device: Backend) => void | Promise<void>): void {
  onCpu(sentence, check);
  if (!isAsked('metal')) return;
  if (noMetal !== '') {
    console.log(`skipped  metal: ${sentence} ${noMetal}`);
    test.skip(`metal: ${sentence}`);
    return;
  }
  test(`metal: ${sentence}`, async () => {
    const device = openGpuBackend('metal');
    await check(device);
    device.close();
  });
}

/** Params of fill_normal: msl/params.h. */
export const normalParams = (first: number, count: number): Uint32Array =>
  Uint32Array.of(...counterOf(7, 3, first), count);
/** Params of add_row: two words, then a float. */
export function rowParams(rows: number, columns: number, scale: number): Uint32Array {
  const params = Uint32Array.of(rows, columns, 0);
  new Float32Array(params.buffer)[2] = scale;
  return params;
}
