import { loadAddon } from '../../lib/addon/native.ts';
import type { Backend } from '../../lib/backend.ts';

const { addon, reason } = loadAddon();
const candidate = addon?.candidates().find(({ kind }) => kind === 'cpu');
const { kernels = 'none' } = candidate?.facts ?? {};

/** Why there is no cpu device here; '' if there is one. */
export const noCpu: string = candidate === undefined ? reason : candidate.reason;

/** The instruction set that the cpu device's kernels were chosen for at load, such as AVX2. */
export const cpuKernels: string = kernels;

/** The cpu device below the face, where a stream can be asked for any element; `threads` 0 is its own choice. */
export function openCpuBackend(threads: number): Backend {
  return addon!.openDevice('cpu', { threads });
}
