import type { DeviceKind } from '../backend.ts';
import { listDevices } from '../list-devices.ts';
import type { DrawnRows } from './drawn-rows.ts';

/** What the last bits of draws depend on besides their run. */
export interface Circumstances {
  /** Version of covarium. */
  readonly covariumVersion: string;
  readonly device: {
    readonly kind: DeviceKind;
    readonly name: string;
    /** Of the cpu device: its kernels, its BLAS and what that takes the processor for. */
    readonly facts: { readonly [fact: string]: string };
  };
  /** Where the factor was made. */
  readonly factor: string;
}

// Threads change no bit, and where a library lies is nobody's business.
const told = ['processor', 'kernels', 'library', 'library core type'];

export function circumstancesOf(rows: DrawnRows, covariumVersion: string): Circumstances {
  const { kind, name } = rows.device;
  const known = kind === 'cpu' ? (listDevices().find((candidate) => candidate.kind === kind)?.facts ?? {}) : {};
  const facts = Object.fromEntries(Object.entries(known).filter(([fact]) => told.includes(fact)));
  return { covariumVersion, device: { kind, name, facts }, factor: rows.factorOn };
}
