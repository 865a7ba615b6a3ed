import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Backend, DeviceKind } from './backend.ts';

/** A device that the addon has or would have. */
export interface Candidate {
  readonly kind: DeviceKind;
  readonly available: boolean;
  /** What computes, for people. */
  readonly name: string;
  /** Why it can't be had; '' where it can. */
  readonly reason: string;
  /** For bug reports: library, core type, processor, instruction set, threads. */
  readonly facts: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

/** The native module, as objc/addon exports it. */
export interface Addon {
  candidates(): Candidate[];
  /** `threads` 0 and `gpu` '' are the device's own choice. Throws `ERR_DEVICE_UNAVAILABLE`. */
  openDevice(kind: 'metal' | 'cpu', options: { readonly threads: number; readonly gpu?: string }): Backend;
}

/** The addon, or why there is none. */
export type Loaded =
  | { readonly addon: Addon; readonly reason: '' }
  | { readonly addon: undefined; readonly reason: string };

const loaded = new Map<string, Loaded>();

/**
 * Loads the addon at the first call: the file that `COVARIUM_ADDON` names, or what node-gyp built. An addon that is missing or
 * doesn't load is a reason, never a crash: the reference device works without it.
 */
export function loadAddon(): Loaded {
  const { COVARIUM_ADDON: path = '' } = process.env;
  const known = loaded.get(path);
  if (known !== undefined) return known;
  const answer = load(path);
  loaded.set(path, answer);
  return answer;
}

function load(path: string): Loaded {
  const require = createRequire(import.meta.url);
  const packageFolder = fileURLToPath(new URL('..', import.meta.url));
  try {
    const addon: Addon = path === '' ? require('node-gyp-build')(packageFolder) : require(resolve(path));
    if (typeof addon?.candidates === 'function') return { addon, reason: '' };
    return { addon: undefined, reason: `The native addon is not covarium's (${path}).` };
  } catch (error) {
    // Node adds a stack of required files to the first line.
    const [why] = String(error instanceof Error ? error.message : error).split('\n');
    const failed = path === '' && /No native build/.test(why!) ? 'is not built' : "can't be loaded";
    return { addon: undefined, reason: `The native addon ${failed} (${why}).` };
  }
}
