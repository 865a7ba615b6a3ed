import type { DeviceKind } from './backend.ts';
import { type Candidate, loadAddon } from './native.ts';
import { openReference } from './reference/device.ts';

/** A device as {@link listDevices} tells it. */
export interface DeviceReport extends Candidate {
  /** Whether `openDevice()` takes this one, the environment's `COVARIUM_DEVICE` considered. */
  readonly chosen: boolean;
}

/** Every kind of device, the preferred first. */
export const deviceKinds: readonly DeviceKind[] = ['metal', 'cpu', 'reference'];

/**
 * Every kind of device in order of preference: whether it can be had and why not, what it is, and which one `openDevice()` takes.
 * Where `COVARIUM_DEVICE` names a device that can't be had, none is chosen.
 */
export function listDevices(): DeviceReport[] {
  const { COVARIUM_DEVICE } = process.env;
  const wanted = COVARIUM_DEVICE || 'auto';
  const candidates = deviceKinds.map(candidateOf);
  const chosen = candidates.find(({ kind, available }) => available && (wanted === 'auto' || wanted === kind));
  return candidates.map((candidate) => ({ ...candidate, chosen: candidate === chosen }));
}

/** One kind of device, whether it can be had or not. */
export function candidateOf(kind: DeviceKind): Candidate {
  if (kind === 'reference') return referenceCandidate();
  const { addon, reason } = loadAddon();
  if (addon === undefined) return unavailable(kind, reason);
  try {
    const found = addon.candidates().find((candidate) => candidate.kind === kind);
    return found ?? unavailable(kind, `The native addon knows no such device (${kind}).`);
  } catch (error) {
    return unavailable(kind, `The native addon fails (${error instanceof Error ? error.message : error}).`);
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
