import { Matrix } from './array/matrix.ts';
import { Storage } from './array/storage.ts';
import { Vector } from './array/vector.ts';
import { sizeOf, Volume, type VolumeSize } from './array/volume.ts';
import { OpenBackend } from './backend-handle.ts';
import { checkOptions, wholeNumber } from './check.ts';
import { CommandBuffer } from './command/command-buffer.ts';
import { loading } from './covarium-error.ts';
import './decomposition/operations.ts';
import { type Dtype, requireDtype } from './dtype.ts';
import type { KernelOptions, LibraryOptions } from './kernel/compile.ts';
import type { Kernel } from './kernel/kernel.ts';

/** The element type of what {@link Device.matrix}, {@link Device.vector} and {@link Device.volume} make. */
export interface DtypeOption<D extends Dtype = Dtype> {
  /** `float32` by default. */
  readonly dtype?: D | undefined;
}

/** A device that computes; {@link openDevice} opens one. It has one queue: commits run in order. */
export class Device extends OpenBackend {
  /**
   * A matrix of zeros, rows x columns, in the device's memory. Throws `ERR_OUT_OF_RANGE`, `ERR_TOO_LARGE`,
   * `ERR_OUT_OF_MEMORY`, `ERR_CLOSED`.
   */
  matrix<D extends Dtype = 'float32'>(rows: number, columns: number, options: DtypeOption<D> = {}): Matrix<D> {
    wholeNumber('Number of rows', rows);
    wholeNumber('Number of columns', columns, 1);
    return new Matrix(this.#zeros(rows * columns, options), rows, columns);
  }

  /** A vector of `length` zeros in the device's memory. Throws like {@link matrix}. */
  vector<D extends Dtype = 'float32'>(length: number, options: DtypeOption<D> = {}): Vector<D> {
    return new Vector(this.#zeros(wholeNumber('Length', length), options));
  }

  /** A volume of zeros, width x height x depth, in the device's memory. Throws like {@link matrix}. */
  volume<D extends Dtype = 'float32'>(size: VolumeSize, options: DtypeOption<D> = {}): Volume<D> {
    checkOptions(size, ['width', 'height', 'depth']);
    const [width, height, depth] = sizeOf(size);
    return new Volume(this.#zeros(width * height * depth, options), [width, height, depth]);
  }

  /** A new command buffer: record commands, then commit them once. Throws `ERR_CLOSED`. */
  commandBuffer(): CommandBuffer {
    return new CommandBuffer(this);
  }

  /**
   * Compiles a kernel from Metal Shading Language. On the cpu device, the system's C++ compiler makes a library, which
   * is cached. Rejects with `ERR_KERNEL_COMPILE` and the place in the text, `ERR_INVALID_ARGUMENT` (an unknown name;
   * the message lists the existing ones), `ERR_NO_COMPILER`, and `ERR_UNSUPPORTED` on the reference device.
   */
  async kernel(source: string, options: KernelOptions = {}): Promise<Kernel> {
    const { compileKernel } = await loading(import('./kernel/compile.ts'));
    return compileKernel(this, source, options);
  }

  /**
   * Compiles all kernels of a text at once, by name. Takes the options of {@link kernel} but for the name, and throws
   * the same errors: one kernel that does not compile refuses the text.
   */
  async library(source: string, options: LibraryOptions = {}): Promise<ReadonlyMap<string, Kernel>> {
    const { compileLibrary } = await loading(import('./kernel/compile.ts'));
    return compileLibrary(this, source, options);
  }

  #zeros<D extends Dtype>(length: number, options: DtypeOption<D>): Storage<D> {
    checkOptions(options, ['dtype']);
    const dtype = requireDtype((options.dtype ?? 'float32') as D);
    const storage = Storage.onDevice(this, dtype, length);
    storage.values.fill(0);
    return storage;
  }
}
