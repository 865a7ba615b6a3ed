import { cudaKernels } from '../../lib/addon/cuda-kernels.ts';
import { type Candidate, loadAddon } from '../../lib/addon/native.ts';
import type { Backend } from '../../lib/backend.ts';

type GpuKind = 'metal' | 'cuda';

// Loaded at first use, because a test may choose the addon after importing this file.
let known: Candidate[] | undefined;

/**
 * Why there is no such device here; '' if there is one: on a Mac, beside an NVIDIA GPU, or over one of the stand-ins.
 */
export function reasonAgainst(kind: GpuKind): string {
  const { addon, reason } = loadAddon();
  known ??= addon?.candidates(cudaKernels);
  return known?.find((candidate) => candidate.kind === kind)?.reason ?? reason;
}

/** The device below the public interface. */
export function openGpuBackend(kind: GpuKind): Backend {
  return loadAddon().addon!.openDevice(kind, { threads: 0, kernels: cudaKernels });
}
