import { cudaKernels } from './addon/cuda-kernels.ts';
import { type Candidate, loadAddon } from './addon/native.ts';
import type { DeviceKind } from './backend.ts';
import { isError } from './covarium-error.ts';
import { openReference } from './reference/device.ts';

/** A device in the result of {@link listDevices}. */
export interface DeviceReport extends Candidate {
  /** True if `openDevice()` opens this one, given the environment's `COVARIUM_DEVICE`. */
  readonly chosen: boolean;
}

/** The kind of device that a named GPU belongs to. */
export const gpuKind: DeviceKind = process.platform === 'darwin' ? 'metal' : 'cuda';

/** Every kind of device, in order of preference. */
export const deviceKinds: readonly DeviceKind[] = ['metal', 'cuda', 'cpu', 'reference'];

/**
 * Lists every kind of device in order of preference: its name, whether it is available or why not, and whether
 * `openDevice()` opens it. If `COVARIUM_DEVICE` or `COVARIUM_GPU` names a device that is not available, none is chosen.
 *
 * ```ts
 * import { listDevices } from 'covarium';
 *
 * for (const { kind, available, reason } of listDevices()) console.log(kind, available ? 'available' : reason);
 * ```
 */
export function listDevices(): DeviceReport[] {
  const wanted = kindByDefault();
  const candidates = [...nativeCandidates(), referenceCandidate()];
  const chosen = candidates.find(({ kind, available }) => available && (wanted === 'auto' || wanted === kind));
  return candidates.map((candidate) => ({ ...candidate, chosen: candidate === chosen }));
}

/** The kind that the environment names, or `auto`. A GPU named by the environment means the system's kind of GPU. */
export function kindByDefault(): string {
  const { COVARIUM_DEVICE, COVARIUM_GPU } = process.env;
  const wanted = COVARIUM_DEVICE || 'auto';
  return wanted === 'auto' && COVARIUM_GPU ? gpuKind : wanted;
}

function nativeCandidates(): Candidate[] {
  const kinds = ['metal', 'cuda', 'cpu'] as const;
  const { addon, reason } = loadAddon();
  if (addon === undefined) return kinds.map((kind) => unavailable(kind, reason));
  try {
    const found = addon.candidates(cudaKernels);
    return kinds.map(
      (kind) =>
        found.find((candidate) => candidate.kind === kind) ??
        unavailable(kind, `The native addon does not have this device (${kind}).`),
    );
  } catch (error) {
    const why = `The native addon failed (${isError(error) ? error.message : error}).`;
    return kinds.map((kind) => unavailable(kind, why));
  }
}

function referenceCandidate(): Candidate {
  const backend = openReference();
  const { name, threads } = backend;
  backend.close();
  const facts = { engine: `V8 ${process.versions.v8}`, threads: String(threads) };
  return { kind: 'reference', available: true, name, reason: '', facts, warnings: [] };
}

function unavailable(kind: DeviceKind, reason: string): Candidate {
  return { kind, available: false, name: '', reason, facts: {}, warnings: [] };
}
