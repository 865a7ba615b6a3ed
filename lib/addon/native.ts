import type { Backend, DeviceKind } from '../backend.ts';
import { CovariumError, isError } from '../covarium-error.ts';
import { nodeRequire } from '../node-require.ts';
import { type AddonFile, findAddon } from './file.ts';
import type { EarlierGpu, KnownGpu } from './known-gpus.ts';

/** A kind of device, and whether the addon can open it. */
export interface Candidate {
  /** `metal`, `cuda`, `cpu` or `reference`. */
  readonly kind: DeviceKind;
  /** True if the device can be opened. */
  readonly available: boolean;
  /** The name of the hardware or library that computes, for people. */
  readonly name: string;
  /** Why the device cannot be opened; '' if it can. */
  readonly reason: string;
  /** For bug reports: library, core type, processor, instruction set, threads. */
  readonly facts: Readonly<Record<string, string>>;
  /** Sentences about what slows it down or is switched off. */
  readonly warnings: readonly string[];
}

/** The result of {@link Addon.readCsv} for a block of records: `CsvRows` of lib/table/csv-rows.ts. */
interface NativeCsvRows {
  readonly rows: number;
  readonly dropped: number;
  readonly lines: number;
  readonly fault: number;
  readonly record: number;
  readonly field: number;
}

/** Options of {@link Addon.openDevice}. */
interface NativeOpenOptions {
  /** 0: the device chooses. */
  readonly threads: number;
  /** '': the device chooses. */
  readonly gpu?: string;
  /**
   * What {@link Opened.learned} was in earlier processes: such GPUs need no self-test, and are measured anew only if
   * that is old.
   */
  readonly knownGpus?: readonly EarlierGpu[];
}

/** A device that {@link Addon.openDevice} has opened. */
export interface Opened extends Backend {
  /** The GPU and its system's build, if it has passed all of its self-test or was measured now. */
  readonly learned?: KnownGpu;
}

/** The native module, as objc/addon exports it. */
export interface Addon {
  /** The version of the package whose sources it was built from. */
  readonly version: string;
  /** `kernels` is called if there is a GPU of NVIDIA's. */
  candidates(kernels: () => Uint8Array): Candidate[];
  /** `kernels` as above; only `cuda` needs them. Throws `ERR_DEVICE_UNAVAILABLE`. */
  openDevice(
    kind: 'metal' | 'cuda' | 'cpu',
    options: NativeOpenOptions & { readonly kernels?: () => Uint8Array },
  ): Opened;
  /** The same on another thread; resolves to null if it needs the kernels and has none. */
  openDeviceAsync(
    kind: 'metal' | 'cuda' | 'cpu',
    options: NativeOpenOptions & { readonly kernels?: Uint8Array },
  ): Promise<Opened | null>;
  /**
   * Parses on another thread into `values`, which has room for all rows that the bytes may hold. The bytes must not
   * change until it settles.
   */
  readCsv(
    bytes: Uint8Array,
    places: Int32Array,
    columns: number,
    delimiter: number,
    comment: number,
    drop: boolean,
    values: Float64Array,
  ): Promise<NativeCsvRows>;
  /**
   * Writes rows of `columns` numbers as text into `bytes`, which has 26 bytes for each number, on another thread;
   * resolves to the number of bytes written.
   */
  writeCsv(values: Float32Array | Float64Array, columns: number, bytes: Uint8Array): Promise<number>;
  /**
   * On another thread: columns as rows into `out`, of the same type, from `at` on; true if all are finite. The memory
   * must stay as it is until it settles.
   */
  interleave(
    columns: readonly (Float32Array | Float64Array)[],
    rows: number,
    out: Float32Array | Float64Array,
    at: number,
  ): Promise<boolean>;
  /** Rows of `columns` numbers as columns, one each `stride` numbers of `out`, from number `at` of each on. */
  deinterleave(
    values: Float32Array | Float64Array,
    columns: number,
    out: Float32Array | Float64Array,
    stride: number,
    at: number,
  ): void;
  /**
   * On another thread: columns of an open file, each from its position on, as rows into `out` from `at` on, whose type
   * is that of the numbers; true if all are finite. Rejects with `ERR_FILE_UNREADABLE` if the file ends before. The
   * file must stay open, and the memory as it is, until it settles.
   */
  readColumns(
    descriptor: number,
    positions: readonly number[],
    rows: number,
    out: Float32Array | Float64Array,
    at: number,
  ): Promise<boolean>;
  /** Call it before the memory is first touched: large pages make that much cheaper. */
  useLargePages(memory: ArrayBuffer): void;
  /** Tells V8 of so many bytes more, or fewer, outside of its heap. */
  adjustExternalMemory(bytes: number): void;
}

/** The addon and its file, or the reason why there is none. */
export type Loaded =
  | { readonly addon: Addon; readonly reason: ''; readonly file: AddonFile }
  | { readonly addon: undefined; readonly reason: string; readonly file: AddonFile | undefined };

const loaded = new Map<string, Loaded>();

/**
 * Loads the addon at the first call: the file that `COVARIUM_ADDON` names, a build on this machine, or the package's
 * prebuilt one. If it is missing or fails to load, the result is a reason, never a crash: the reference device works
 * without it.
 */
export function loadAddon(): Loaded {
  const { COVARIUM_ADDON: named = '' } = process.env;
  const known = loaded.get(named);
  if (known !== undefined) return known;
  const answer = load(named);
  // A failure may not occur the next time: too many open files, no memory.
  if (answer.addon !== undefined) loaded.set(named, answer);
  return answer;
}

// node-gyp-build's word where the package has no addon for musl, and how musl's loader begins when it refuses one.
const muslWords = /\blibc=musl\b|^Error (?:loading shared library|relocating) /;

const denied = 'ERR_ACCESS_DENIED';
const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

function helpWith(error: unknown, why: string, named: string, file: AddonFile | undefined): string {
  // The permission model, or --no-addons: no build helps.
  if (codeOf(error) === 'ERR_DLOPEN_DISABLED')
    return ' Under the permission model start node with --allow-addons, and without --no-addons.';
  if (codeOf(error) === denied)
    return ` Under the permission model start node with --allow-fs-read=${(error as { resource?: string }).resource}.`;
  if (named !== '') return ` COVARIUM_ADDON names (${file?.path ?? named}).`;
  const musl = muslWords.test(why) && file?.origin !== 'built here';
  const other = musl ? " The prebuilt addon is for glibc; this system's C library is musl." : '';
  return `${other} \`covarium build-native\` builds one here.`;
}

function load(named: string): Loaded {
  let file: AddonFile | undefined;
  try {
    file = findAddon(named);
    const addon: Addon = nodeRequire()(file.path);
    if (typeof addon?.candidates === 'function') return { addon, reason: '', file };
    return { addon: undefined, reason: `The native addon is not covarium's (${file.path}).`, file };
  } catch (error) {
    if (error instanceof CovariumError) return { addon: undefined, reason: error.message, file };
    // Node appends the stack of required files after the first line.
    const [why] = String(isError(error) ? error.message : error).split('\n');
    const help = helpWith(error, why!, named, file);
    const failed = file === undefined && codeOf(error) !== denied ? 'is not built' : 'cannot be loaded';
    return { addon: undefined, reason: `The native addon ${failed} (${why}).${help}`, file };
  }
}
