import workerThreads from 'node:worker_threads';
import type { Backend, DeviceKind, Encoder, MemoryUsage, Timings } from './backend.ts';
import { aborted, notCloneable, onAbort, refuseAborted, wrongArgument } from './check.ts';
import { CovariumError, fromNative } from './covarium-error.ts';
import type { Dtype, Values } from './dtype.ts';

let backendInside: (handle: OpenBackend) => Backend;
let takeEncoder: (handle: OpenBackend) => Encoder;
let keepEncoder: (handle: OpenBackend, encoder: Encoder) => void;

const cloning = notCloneable('A Device', 'open one in each thread');

/**
 * An open device as commands see it: what computes, and whether it is still open. {@link Device} is one that also makes
 * things.
 */
export class OpenBackend {
  /** `metal`, `cpu` or `reference`. */
  readonly kind: DeviceKind;
  /** What computes, for people: a GPU's or a BLAS library's name. */
  readonly name: string;
  /** Threads that share the work of one command. */
  readonly threads: number;
  /** Element types of sampling and linear algebra here, `float32` first; Apple GPUs do not support `float64`. */
  readonly dtypes: readonly Dtype[];
  /** @internal A copy of it would not compute. */
  readonly cloning: symbol = cloning;
  readonly #backend: Backend;
  // A synchronous call keeps its encoder for the next one.
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
  }

  /** @internal */
  constructor(backend: Backend) {
    this.#backend = backend;
    this.kind = backend.kind;
    this.name = backend.name;
    this.threads = backend.threads;
    this.dtypes = Object.freeze([...backend.dtypes]);
  }

  /** Whether {@link close} was called. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Bytes that the device holds now. Throws `ERR_CLOSED`. */
  memory(): MemoryUsage {
    return backendInside(this).memory();
  }

  /** Cancels what is in flight and frees everything, the memory of open matrices included. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#backend.close();
  }

  /** {@link close}, at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/** The contract behind an open device; throws `ERR_CLOSED`. For the rest of lib, not for users. */
export function backendOf(device: OpenBackend): Backend {
  return backendInside(device);
}

/** `device` where it is an open device; throws `ERR_INVALID_ARGUMENT` and `ERR_CLOSED`. */
export function requireDevice<Device extends OpenBackend>(device: Device): Device {
  if (!(device instanceof OpenBackend)) throw wrongArgument('device', device, 'what openDevice() returns');
  backendInside(device);
  return device;
}

/** Runs `work` on the backend of `device`; what the backend throws becomes a CovariumError. */
export function withBackend<Result>(device: OpenBackend, work: (backend: Backend) => Result): Result {
  const backend = backendInside(device);
  try {
    return work(backend);
  } catch (error) {
    throw fromNative(error);
  }
}

/** Records commands on an encoder of `device`; what fails leaves nothing recorded. */
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

/** Records and runs commands before it returns, with an encoder that is kept for the next time. */
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
 * Keeps `memory` on this thread while native code has its address. External memory, ours and that of other addons, is
 * untransferable from the start, and must not be marked again: from Node 24.15 on a mark sets a detach key, and whoever
 * detaches such memory without the key (Node itself at exit) ends the process. Node 20 has no such key and can't tell.
 */
function keepOnThisThread(memory: ArrayBufferLike): void {
  const { markAsUntransferable, isMarkedAsUntransferable }: Threads = workerThreads;
  if (!isMarkedAsUntransferable?.(memory)) markAsUntransferable(memory);
}

interface Threads {
  markAsUntransferable(memory: ArrayBufferLike): void;
  /** Since Node 21. */
  isMarkedAsUntransferable?(memory: ArrayBufferLike): boolean;
}

/**
 * Commits without blocking; an abort of `signal` stops the commit soon and rejects with `ERR_ABORTED`. `reachable`,
 * the operands that the caller can reach, can no longer be transferred to another thread: the device has their
 * addresses.
 */
export async function commit(
  encoder: Encoder,
  reachable: readonly Values[],
  signal?: AbortSignal | undefined,
): Promise<Timings> {
  refuseAborted(signal);
  for (const operand of reachable) keepOnThisThread(operand.buffer);
  const stopWaiting = onAbort(signal, () => encoder.cancel());
  try {
    return await encoder.commit();
  } catch (error) {
    const failure = fromNative(error);
    throw failure.code === 'ERR_ABORTED' && signal?.aborted ? aborted(signal) : failure;
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
