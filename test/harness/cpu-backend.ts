import { cudaKernels } from '../../lib/addon/cuda-kernels.ts';
import { loadAddon } from '../../lib/addon/native.ts';
import type { Backend } from '../../lib/backend.ts';

const { addon, reason } = loadAddon();
const candidate = addon?.candidates(cudaKernels).find(({ kind }) => kind === 'cpu');
const { kernels = 'none' } = candidate?.facts ?? {};

/** Why there is no cpu device here; '' if there is one. */
export const noCpu: string = candidate === undefined ? reason : candidate.reason;

/** The instruction set that the cpu device's kernels were chosen for at load, such as AVX2. */
export const cpuKernels: string = kernels;

/**
 * The cpu device below the public interface, where a stream can begin at any element. `threads` 0: the device
 * chooses.
 */
export function openCpuBackend(threads: number): Backend {
  return addon!.openDevice('cpu', { threads });
}

/** Kernels of a lesser instruction set that a processor can also run: the values of COVARIUM_INSTRUCTION_SET. */
export type LesserSet = 'avx2' | 'baseline';

/** Why a lesser instruction set cannot be tested here, as when its kernels are already in use; '' if it can. */
export function noLesser(set: LesserSet): string {
  const isLess = kernels === 'AVX-512' || (set === 'baseline' && kernels === 'AVX2');
  return noCpu || (isLess ? '' : `The kernels here are for (${kernels}) already.`);
}

/** Calls `open` with the kernels of a lesser instruction set: the environment is read when a device is opened. */
export function withLesser<T>(set: LesserSet, open: () => T): T {
  const env: NodeJS.ProcessEnv & { COVARIUM_INSTRUCTION_SET?: string } = process.env;
  env.COVARIUM_INSTRUCTION_SET = set;
  try {
    return open();
  } finally {
    delete env.COVARIUM_INSTRUCTION_SET;
  }
}
