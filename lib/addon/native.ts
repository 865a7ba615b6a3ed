import { createRequire } from 'node:module';
import type { Backend, DeviceKind } from '../backend.ts';
import { isError } from '../covarium-error.ts';
import { type AddonFile, findAddon } from './file.ts';

/** A device that the addon has or would have. */
export interface Candidate {
  /** `metal`, `cpu` or `reference`. */
  readonly kind: DeviceKind;
  /** Whether it can be had. */
  readonly available: boolean;
  /** What computes, for people. */
  readonly name: string;
  /** Why it can't be had; '' where it can. */
  readonly reason: string;
  /** For bug reports: library, core type, processor, instruction set, threads. */
  readonly facts: Readonly<Record<string, string>>;
  /** What slows it down or is off, in sentences. */
  readonly warnings: readonly string[];
}

/** What {@link Addon.readCsv} makes of a block of records: `CsvRows` of lib/table/csv-rows.ts. */
export interface NativeCsvRows {
  readonly values: Float64Array<ArrayBuffer>;
  readonly dropped: number;
  readonly lines: number;
  readonly fault: number;
  readonly record: number;
  readonly field: number;
}

/** The native module, as objc/addon exports it. */
export interface Addon {
  /** The version of the package whose sources it was built from. */
  readonly version: string;
  candidates(): Candidate[];
  /** `threads` 0 and `gpu` '' are the device's own choice. Throws `ERR_DEVICE_UNAVAILABLE`. */
  openDevice(kind: 'metal' | 'cpu', options: { readonly threads: number; readonly gpu?: string }): Backend;
  /** On another thread; the bytes must stay as they are until it settles. */
  readCsv(
    bytes: Uint8Array,
    places: Int32Array,
    columns: number,
    delimiter: number,
    comment: number,
    drop: boolean,
  ): Promise<NativeCsvRows>;
  /**
   * On another thread: rows of `columns` numbers as text into `bytes`, with 26 bytes a number; gives how many they are.
   */
  writeCsv(values: Float32Array | Float64Array, columns: number, bytes: Uint8Array): Promise<number>;
  /** Before memory is first touched: in large pages that costs much less. */
  useLargePages(memory: ArrayBuffer): void;
}

/** The addon and its file, or why there is none. */
export type Loaded =
  | { readonly addon: Addon; readonly reason: ''; readonly file: AddonFile }
  | { readonly addon: undefined; readonly reason: string; readonly file: AddonFile | undefined };

const loaded = new Map<string, Loaded>();

/**
 * Loads the addon at the first call: the file that `COVARIUM_ADDON` names, a build on this machine, or what the package
 * brings. An addon that is missing or doesn't load is a reason, never a crash: the reference device works without it.
 */
export function loadAddon(): Loaded {
  const { COVARIUM_ADDON: named = '' } = process.env;
  const known = loaded.get(named);
  if (known !== undefined) return known;
  const answer = load(named);
  // A failure may be over the next time: too many open files, no memory.
  if (answer.addon !== undefined) loaded.set(named, answer);
  return answer;
}

function helpWith(error: unknown, named: string): string {
  // The permission model, or --no-addons: no build helps.
  if ((error as NodeJS.ErrnoException).code === 'ERR_DLOPEN_DISABLED')
    return ' Under the permission model start node with --allow-addons, and without --no-addons.';
  return named === '' ? ' `covarium build-native` builds one here.' : '';
}

function load(named: string): Loaded {
  let file: AddonFile | undefined;
  try {
    file = findAddon(named);
    const addon: Addon = createRequire(import.meta.url)(file.path);
    if (typeof addon?.candidates === 'function') return { addon, reason: '', file };
    return { addon: undefined, reason: `The native addon is not covarium's (${file.path}).`, file };
  } catch (error) {
    // Node adds a stack of required files to the first line.
    const [why] = String(isError(error) ? error.message : error).split('\n');
    const help = helpWith(error, named);
    const failed = file === undefined ? 'is not built' : "can't be loaded";
    return { addon: undefined, reason: `The native addon ${failed} (${why}).${help}`, file };
  }
}
