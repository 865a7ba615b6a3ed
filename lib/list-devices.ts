import { type Candidate, loadAddon } from './addon/native.ts';
import type { DeviceKind } from './backend.ts';
import { isError } from './covarium-error.ts';
import { openReference } from './reference/device.ts';

/** A device as {@link listDevices} tells it. */
export interface DeviceReport extends Candidate {
  /** Whether `openDevice()` takes this one, the environment's `COVARIUM_DEVICE` considered. */
  readonly chosen: boolean;
}

/** Every kind of device, the preferred first. */
export const deviceKinds: readonly DeviceKind[] = ['metal', 'cpu', 'reference'];

/**
 * Every kind of device in order of preference: whether it can be had and why not, what it is, and which one
 * `openDevice()` takes. Where `COVARIUM_DEVICE` or `COVARIUM_GPU` names one that can't be had, none is chosen.
 */
export function listDevices(): DeviceReport[] {
  const wanted = kindByDefault();
  const candidates = [...nativeCandidates(), referenceCandidate()];
  const chosen = candidates.find(({ kind, available }) => available && (wanted === 'auto' || wanted === kind));
  return candidates.map((candidate) => ({ ...candidate, chosen: candidate === chosen }));
}

/** The kind that the environment asks for, `auto` for none: a GPU that it names is not passed over. */
export function kindByDefault(): string {
  const { COVARIUM_DEVICE, COVARIUM_GPU } = process.env;
  const wanted = COVARIUM_DEVICE || 'auto';
  return wanted === 'auto' && COVARIUM_GPU ? 'metal' : wanted;
}

function nativeCandidates(): Candidate[] {
  const kinds = ['metal', 'cpu'] as const;
  const { addon, reason } = loadAddon();
  if (addon === undefined) return kinds.map((kind) => unavailable(kind, reason));
  try {
    const found = addon.candidates();
    return kinds.map(
      (kind) =>
        found.find((candidate) => candidate.kind === kind) ??
        unavailable(kind, `The native addon knows no such device (${kind}).`),
    );
  } catch (error) {
    const why = `The native addon fails (${isError(error) ? error.message : error}).`;
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
