import { cudaKernels, cudaKernelsAsync } from './addon/cuda-kernels.ts';
import { type EarlierGpu, keepKnown, knownGpus } from './addon/known-gpus.ts';
import { type Addon, loadAddon, type Opened } from './addon/native.ts';
import type { Backend, DeviceKind } from './backend.ts';
import { checkOptions, describe, oneOf, quoted, wholeNumber } from './check.ts';
import { CovariumError, fromNative } from './covarium-error.ts';
import { Device } from './device.ts';
import { deviceKinds, gpuKind, kindByDefault } from './list-devices.ts';
import { openReference } from './reference/device.ts';

/** Options of {@link openDevice}. */
export interface OpenOptions {
  /**
   * Threads that share the work of one command; by default `COVARIUM_THREADS`, or else the number that the machine can
   * run at once.
   */
  readonly threads?: number | undefined;
  /**
   * The GPU to open where there are several: on a Mac by name or registry id (a decimal string), an NVIDIA GPU by
   * index, name, UUID or PCI id; by default `COVARIUM_GPU`, or else the system's choice on a Mac, and the first NVIDIA
   * GPU that works. If a GPU is named, no other kind of device is opened in its place.
   */
  readonly gpu?: string | undefined;
}

/**
 * Opens a device: the given kind, else the kind that `COVARIUM_DEVICE` names, else the best available kind ({@link
 * listDevices} says which, and why others are not available). If only `reference` is available, the process emits a
 * warning once, with the reason. Throws `ERR_DEVICE_UNAVAILABLE` with the reason, `ERR_INVALID_ARGUMENT` for an unknown
 * kind or a GPU for a kind without GPUs, `ERR_OUT_OF_RANGE` for a number of threads that is not a whole number from 1
 * to 1024.
 *
 * ```ts
 * import { openDevice } from 'covarium';
 *
 * const device = openDevice(); // the best that works here
 * const twoThreads = openDevice('cpu', { threads: 2 });
 * console.log(device.kind, device.name, twoThreads.threads);
 * ```
 */
export function openDevice(kind?: DeviceKind | 'auto', options: OpenOptions = {}): Device {
  return open(kind, options, warnOnce);
}

/**
 * {@link openDevice} without holding the event loop: opens the device on another thread. The first `cuda` device of a
 * user on a machine takes a second or more, because NVIDIA's driver compiles kernels, and keeps them for later
 * processes; `cpu` opens in a millisecond or two. Rejects with what {@link openDevice} throws:
 * `ERR_DEVICE_UNAVAILABLE`, `ERR_INVALID_ARGUMENT` or `ERR_OUT_OF_RANGE`.
 *
 * ```ts
 * import { openDeviceAsync } from 'covarium';
 *
 * const device = await openDeviceAsync();
 * console.log(device.kind, device.name);
 * ```
 */
export async function openDeviceAsync(kind?: DeviceKind | 'auto', options: OpenOptions = {}): Promise<Device> {
  const { kinds, threads, gpu, goesOn } = plan(kind, options);
  let why = '';
  for (const each of kinds)
    try {
      return new Device(await openBackendAsync(each, threads, gpu));
    } catch (error) {
      why = requireUnavailable(error, goesOn);
    }
  warnOnce(why);
  return new Device(openReference());
}

/** {@link openDevice} for the command line, which has a line of its own for what is passed over. */
export function openQuietly(kind?: DeviceKind | 'auto', options: OpenOptions = {}): Device {
  return open(kind, options, () => {});
}

let isWarned = false;

function warnOnce(why: string): void {
  if (isWarned) return;
  isWarned = true;
  const warning = `Device (reference) is opened, plain TypeScript, which is slow. ${why}`;
  process.emitWarning(warning, { type: 'CovariumWarning' });
}

interface Plan {
  /** Tried in this order. */
  readonly kinds: readonly DeviceKind[];
  readonly threads: number;
  readonly gpu: string;
  /** Whether a kind that is not available is passed over, and `reference` is opened at last. */
  readonly goesOn: boolean;
}

function plan(kind: DeviceKind | 'auto' | undefined, options: OpenOptions): Plan {
  checkOptions(options, ['threads', 'gpu']);
  const { threads: asked } = options;
  const threads = asked === undefined ? threadsByDefault() : wholeNumber('threads', asked, 1, 1024);
  const wanted = kind === undefined ? requireKind('COVARIUM_DEVICE', kindByDefault()) : requireKind('kind', kind);
  const gpu = options.gpu === undefined ? gpuByDefault() : requireGpu(options.gpu, wanted);
  if (wanted !== 'auto') return { kinds: [wanted], threads, gpu, goesOn: false };
  if (gpu !== '') return { kinds: [gpuKind], threads, gpu, goesOn: false };
  return { kinds: ['metal', 'cuda', 'cpu'], threads, gpu, goesOn: true };
}

// Each kind is opened without asking first: on a GPU, the question costs as much as opening.
function open(kind: DeviceKind | 'auto' | undefined, options: OpenOptions, warn: (why: string) => void): Device {
  const { kinds, threads, gpu, goesOn } = plan(kind, options);
  let why = '';
  for (const each of kinds)
    try {
      return new Device(openBackend(each, threads, gpu));
    } catch (error) {
      why = requireUnavailable(error, goesOn);
    }
  warn(why);
  return new Device(openReference());
}

function requireUnavailable(error: unknown, goesOn: boolean): string {
  if (goesOn && error instanceof CovariumError && error.code === 'ERR_DEVICE_UNAVAILABLE') return error.message;
  throw error;
}

function openBackend(kind: DeviceKind, threads: number, gpu: string): Backend {
  if (kind === 'reference') return openReference();
  const { addon, path } = requireAddon(kind);
  try {
    return kept(
      path,
      addon.openDevice(kind, { threads, gpu, knownGpus: knownBefore(kind, path), kernels: cudaKernels }),
    );
  } catch (thrown) {
    throw refused(kind, thrown);
  }
}

async function openBackendAsync(kind: DeviceKind, threads: number, gpu: string): Promise<Backend> {
  if (kind === 'reference') return openReference();
  const { addon, path } = requireAddon(kind);
  try {
    const native = { threads, gpu, knownGpus: knownBefore(kind, path) };
    const opened =
      (await addon.openDeviceAsync(kind, native)) ??
      (await addon.openDeviceAsync(kind, { ...native, kernels: await cudaKernelsAsync() }));
    return kept(path, opened!);
  } catch (thrown) {
    throw refused(kind, thrown);
  }
}

function requireAddon(kind: DeviceKind): { readonly addon: Addon; readonly path: string } {
  const { addon, reason, file } = loadAddon();
  if (addon === undefined) throw unavailable(kind, reason);
  return { addon, path: file.path };
}

// The CPU does not ask, and need not wait for a file.
function knownBefore(kind: DeviceKind, path: string): readonly EarlierGpu[] {
  return kind === 'cpu' ? [] : knownGpus(path);
}

function kept(path: string, opened: Opened): Backend {
  if (opened.learned !== undefined) keepKnown(path, opened.learned);
  return opened;
}

function refused(kind: DeviceKind, thrown: unknown): CovariumError {
  const error = fromNative(thrown);
  return error.code === 'ERR_DEVICE_UNAVAILABLE' ? unavailable(kind, error.message) : error;
}

function unavailable(kind: DeviceKind, reason: string): CovariumError {
  return new CovariumError('ERR_DEVICE_UNAVAILABLE', `Device (${kind}) is not available: ${reason}`);
}

function requireKind(name: string, kind: string): DeviceKind | 'auto' {
  if (kind === 'auto' || kind === '') return 'auto';
  return oneOf(name, kind, ['auto', ...deviceKinds]);
}

function requireGpu(gpu: unknown, kind: DeviceKind | 'auto'): string {
  if (typeof gpu !== 'string' || gpu === '')
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `\`gpu\` is (${quoted(gpu)}): pass a name or another id of a GPU, as a string that is not empty.`,
    );
  if (kind === 'auto' || kind === 'metal' || kind === 'cuda') return gpu;
  throw new CovariumError('ERR_INVALID_ARGUMENT', `Device (${kind}) has no GPU to choose (${describe(gpu)}).`);
}

function gpuByDefault(): string {
  const { COVARIUM_GPU = '' } = process.env;
  return COVARIUM_GPU;
}

// 0 lets the device choose: one thread for each processor that this process may use.
function threadsByDefault(): number {
  const { COVARIUM_THREADS = '' } = process.env;
  if (COVARIUM_THREADS === '') return 0;
  const threads = Number(COVARIUM_THREADS);
  return wholeNumber('COVARIUM_THREADS', Number.isNaN(threads) ? COVARIUM_THREADS : threads, 1, 1024);
}
