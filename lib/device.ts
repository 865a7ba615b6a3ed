import { fromNative } from './addon/error.ts';
import { Matrix } from './array/matrix.ts';
import { Storage } from './array/storage.ts';
import { Vector } from './array/vector.ts';
import { sizeOf, Volume, type VolumeSize } from './array/volume.ts';
import type { Backend, DeviceKind, Encoder, MemoryUsage, Timings } from './backend.ts';
import { checkOptions, describe, wholeNumber } from './check.ts';
import { CommandBuffer } from './command/command-buffer.ts';
import { CovariumError } from './covarium-error.ts';
import { type Dtype, requireDtype } from './dtype.ts';
import type { KernelOptions } from './kernel/compile.ts';
import type { Kernel } from './kernel/kernel.ts';

let backendInside: (device: Device) => Backend;
let takeEncoder: (device: Device) => Encoder;
let keepEncoder: (device: Device, encoder: Encoder) => void;

/** What computes; {@link openDevice} opens one. It has one queue: commits run in order. */
export class Device {
  /** `metal`, `cpu` or `reference`. */
  readonly kind: DeviceKind;
  /** What computes, for people: a GPU's or a BLAS library's name. */
  readonly name: string;
  /** Threads that share the work of one command. */
  readonly threads: number;
  /** Element types of sampling and linear algebra here, `float32` first; Apple GPUs have no `float64`. */
  readonly dtypes: readonly Dtype[];
  readonly #backend: Backend;
  #spare: Encoder | undefined;
  #closed = false;

  static {
    backendInside = (device) => {
      if (device.#closed) throw new CovariumError('ERR_CLOSED', `Device (${device.name}) is closed.`);
      return device.#backend;
    };
    takeEncoder = (device) => {
      const backend = backendInside(device);
      const encoder = device.#spare ?? backend.encoder();
      device.#spare = undefined;
      return encoder;
    };
    keepEncoder = (device, encoder) => {
      encoder.reset();
      device.#spare = encoder;
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

  /**
   * A matrix of zeros, rows x columns, in the device's memory. Throws `ERR_OUT_OF_RANGE`, `ERR_TOO_LARGE`, `ERR_OUT_OF_MEMORY`, `ERR_CLOSED`.
   */
  matrix(rows: number, columns: number, options: { readonly dtype?: Dtype | undefined } = {}): Matrix {
    wholeNumber('Number of rows', rows);
    wholeNumber('Number of columns', columns, 1);
    return new Matrix(this.#zeros(rows * columns, options), rows, columns);
  }

  /** A vector of `length` zeros in the device's memory. Throws as {@link matrix}. */
  vector(length: number, options: { readonly dtype?: Dtype | undefined } = {}): Vector {
    return new Vector(this.#zeros(wholeNumber('Length', length), options));
  }

  /** A volume of zeros, width x height x depth, in the device's memory. Throws as {@link matrix}. */
  volume(size: VolumeSize, options: { readonly dtype?: Dtype | undefined } = {}): Volume {
    checkOptions(size, ['width', 'height', 'depth']);
    const [width, height, depth] = sizeOf(size);
    return new Volume(this.#zeros(width * height * depth, options), [width, height, depth]);
  }

  /** A fresh command buffer: record commands, then commit them once. Throws `ERR_CLOSED`. */
  commandBuffer(): CommandBuffer {
    return new CommandBuffer(this);
  }

  /**
   * A kernel made of a text in Metal Shading Language. On the cpu device the system's C++ compiler makes a library of it, which is kept for
   * the next time. Rejects with `ERR_KERNEL_COMPILE` and the place in the text, `ERR_INVALID_ARGUMENT` (an unknown name, with those that
   * there are), `ERR_NO_COMPILER`, and `ERR_UNSUPPORTED` on the reference device.
   */
  async kernel(source: string, options: KernelOptions = {}): Promise<Kernel> {
    const { compileKernel } = await import('./kernel/compile.ts');
    return compileKernel(this, source, options);
  }

  /** Bytes that the device holds now. Throws `ERR_CLOSED`. */
  memory(): MemoryUsage {
    return backendOf(this).memory();
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

  #zeros(length: number, options: { readonly dtype?: Dtype | undefined }): Storage {
    checkOptions(options, ['dtype']);
    const dtype = requireDtype(options.dtype ?? 'float32');
    const storage = Storage.onDevice(this, dtype, length);
    storage.values.fill(0);
    return storage;
  }
}

/** The contract behind an open device; throws `ERR_CLOSED`. For the rest of lib, not for users. */
export function backendOf(device: Device): Backend {
  return backendInside(device);
}

/** `device` where it is an open Device; throws `ERR_INVALID_ARGUMENT` and `ERR_CLOSED`. */
export function requireDevice(device: unknown): Device {
  if (!(device instanceof Device))
    throw new CovariumError('ERR_INVALID_ARGUMENT', `Device is not one that openDevice() gives (${describe(device)}).`);
  backendInside(device);
  return device;
}

/** Records and runs commands before it returns, with an encoder that is kept for the next time. */
export function runCommands(device: Device, record: (encoder: Encoder) => void): Timings {
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

/** Runs `work` on the backend of `device`; what the backend throws becomes a CovariumError. */
export function withBackend<Result>(device: Device, work: (backend: Backend) => Result): Result {
  const backend = backendInside(device);
  try {
    return work(backend);
  } catch (error) {
    throw fromNative(error);
  }
}
