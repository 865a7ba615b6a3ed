import type { Backend, DeviceKind, Encoder, MemoryUsage, Timings } from './backend.ts';
import { aborted, noConstructor, notCloneable, onAbort, refuseAborted, wrongArgument } from './check.ts';
import { CovariumError, fromNative } from './covarium-error.ts';
import type { Dtype, Values } from './dtype.ts';
import { type Piece, Slabs } from './slab.ts';
import { sinceTurn, turn } from './work.ts';

let backendInside: (handle: OpenBackend) => Backend;
let takeEncoder: (handle: OpenBackend) => Encoder;
let keepEncoder: (handle: OpenBackend, encoder: Encoder) => void;
let slabsInside: (handle: OpenBackend) => Slabs;

/**
 * An open device as commands use it: its backend, and whether it is still open. {@link Device} extends it with methods
 * that create things.
 */
export class OpenBackend {
  /** `metal`, `cuda`, `cpu` or `reference`. */
  readonly kind: DeviceKind;
  /** The name of the GPU or the BLAS library that computes, for people. */
  readonly name: string;
  /** Threads that share the work of one command. */
  readonly threads: number;
  /** Element types of sampling and linear algebra, `float32` first; Apple GPUs do not support `float64`. */
  readonly dtypes: readonly Dtype[];
  /** @internal A copy of it would not compute. */
  readonly cloning: symbol = notCloneable('A Device', 'open one in each thread');
  readonly #backend: Backend;
  readonly #slabs: Slabs;
  // Kept from one synchronous call for the next.
  #spare: Encoder | undefined;
  #closed = false;

  static {
    backendInside = (handle) => {
      if (handle.#closed) throw new CovariumError('ERR_CLOSED', `Device (${handle.name}) is closed.`);
      return handle.#backend;
    };
    takeEncoder = (handle) => {
      const backend = backendInside(handle);
      const encoder = handle.#spare ?? backend.encoder();
      handle.#spare = undefined;
      return encoder;
    };
    keepEncoder = (handle, encoder) => {
      encoder.reset();
      handle.#spare = encoder;
    };
    slabsInside = (handle) => handle.#slabs;
  }

  /** @internal */
  constructor(backend: Backend) {
    if (!Array.isArray((backend as Backend | undefined)?.dtypes)) throw noConstructor('Device', 'openDevice(kind)');
    this.#backend = backend;
    this.#slabs = new Slabs(backend);
    this.kind = backend.kind;
    this.name = backend.name;
    this.threads = backend.threads;
    this.dtypes = Object.freeze([...backend.dtypes]);
    Object.freeze(this);
  }

  /** True once {@link close} was called. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Bytes that the device holds now. Throws `ERR_CLOSED`. */
  memory(): MemoryUsage {
    const { liveBytes, pooledBytes } = backendInside(this).memory();
    const { idleBytes } = this.#slabs;
    // What was collected leaves the two counts one after the other.
    return { liveBytes: Math.max(0, liveBytes - idleBytes), pooledBytes: pooledBytes + idleBytes };
  }

  /**
   * Cancels the commits in flight and frees the device's memory: the pool at once, and the memory of matrices that are
   * still open when the garbage collector finds them. Their numbers cannot be read any more. Idempotent.
   */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#backend.close();
  }

  /** Calls {@link close} at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/** The backend of an open device, for other modules of lib only; throws `ERR_CLOSED`. */
export function backendOf(device: OpenBackend): Backend {
  return backendInside(device);
}

/** Returns `device` if it is an open device; throws `ERR_INVALID_ARGUMENT` and `ERR_CLOSED`. */
export function requireDevice<Device extends OpenBackend>(device: Device): Device {
  if (!(device instanceof OpenBackend)) throw wrongArgument('device', device, 'what openDevice() returns');
  backendInside(device);
  return device;
}

/** Memory for a small array; see {@link Slabs.piece}. Throws `ERR_OUT_OF_MEMORY`, `ERR_CLOSED`. */
export function pieceOf(device: OpenBackend, sizeBytes: number): Piece | undefined {
  return withBackend(device, () => slabsInside(device).piece(sizeBytes));
}

/** Runs `work` on the backend of `device`; an error of the backend becomes a CovariumError. */
export function withBackend<Result>(device: OpenBackend, work: (backend: Backend) => Result): Result {
  const backend = backendInside(device);
  try {
    return work(backend);
  } catch (error) {
    throw fromNative(error);
  }
}

/** Records commands on an encoder of `device`; if one fails, nothing is recorded. */
export function recorded(device: OpenBackend, record: (encoder: Encoder) => void): Encoder {
  return withBackend(device, (backend) => {
    const encoder = backend.encoder();
    try {
      record(encoder);
      return encoder;
    } catch (error) {
      encoder.reset();
      throw error;
    }
  });
}

/** Records and runs commands synchronously, with an encoder that is kept for the next call. */
export function runCommands(device: OpenBackend, record: (encoder: Encoder) => void): Timings {
  try {
    const encoder = takeEncoder(device);
    try {
      record(encoder);
      return encoder.commitSync();
    } finally {
      keepEncoder(device, encoder);
    }
  } catch (error) {
    throw fromNative(error);
  }
}

/**
 * Keeps `memory` on this thread while native code has its address. External memory, ours or another addon's, cannot be
 * transferred anyway and must not be marked again: from Node 24.15 on, a mark sets a detach key, and detaching such
 * memory without the key (as Node itself does at exit) ends the process. Node 20 has no such key, and cannot say
 * whether memory is marked.
 */
function keepOnThisThread(memory: ArrayBufferLike): void {
  const { markAsUntransferable, isMarkedAsUntransferable } = workerThreads();
  if (isMarkedAsUntransferable === undefined) kept.add(memory);
  if (!isMarkedAsUntransferable?.(memory)) markAsUntransferable(memory);
}

// In Node 20.
const kept = new WeakSet<ArrayBufferLike>();

/** True if native code may have the address of this memory: it must not be moved. */
export function isKept(memory: ArrayBufferLike): boolean {
  const { isMarkedAsUntransferable } = workerThreads();
  return isMarkedAsUntransferable?.(memory) ?? kept.has(memory);
}

/** Not imported: it takes milliseconds to load, and only commits that do not block need it. */
function workerThreads(): Threads {
  threads ??= process.getBuiltinModule('node:worker_threads');
  return threads;
}

let threads: Threads | undefined;

interface Threads {
  markAsUntransferable(memory: ArrayBufferLike): void;
  /** Added in Node 21. */
  isMarkedAsUntransferable?(memory: ArrayBufferLike): boolean;
}

/** How long brief commits run on the caller's thread before one lets the event loop turn. */
const mostBriefMs = 1;

/**
 * Commits without blocking. When `signal` aborts, the commit stops soon and rejects with `ERR_ABORTED`. The device has
 * the addresses of the `reachable` operands, those that the caller can reach, so they can no longer be transferred to
 * another thread.
 */
export async function commit(
  encoder: Encoder,
  reachable: readonly Values[],
  signal?: AbortSignal | undefined,
): Promise<Timings> {
  refuseAborted(signal);
  for (const operand of reachable) keepOnThisThread(operand.buffer);
  // To hand them to another thread and to hear of it takes several times as long as such commands themselves.
  if (sinceTurn() < mostBriefMs && encoder.isBrief()) return commitSync(encoder);
  const stopWaiting = onAbort(signal, () => encoder.cancel());
  try {
    const timings = await encoder.commit();
    // Libuv settles up to a thousand commits before it lets the event loop turn, each as soon as it has run.
    await turn();
    return timings;
  } catch (error) {
    const failure = fromNative(error);
    if (failure.code !== 'ERR_ABORTED') throw failure;
    if (signal?.aborted) throw aborted(signal);
    throw new CovariumError('ERR_ABORTED', 'Device was closed before the call was over.', { cause: failure });
  } finally {
    stopWaiting();
  }
}

/** Commits and runs before it returns. */
export function commitSync(encoder: Encoder): Timings {
  try {
    return encoder.commitSync();
  } catch (error) {
    throw fromNative(error);
  }
}
