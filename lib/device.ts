import { Matrix } from './array/matrix.ts';
import { Storage } from './array/storage.ts';
import { Vector } from './array/vector.ts';
import { sizeOf, Volume, type VolumeSize } from './array/volume.ts';
import type { ExplainedCommand, Explanation } from './backend.ts';
import { backendOf, OpenBackend } from './backend-handle.ts';
import { checkOptions, inspectFields, named, oneOf, orElse, requireBoolean, wholeNumber } from './check.ts';
import { CommandBuffer } from './command/command-buffer.ts';
import type { ComputeKernel } from './compute/compute-kernel.ts';
import type { ComputeFunction, ComputeOptions } from './compute/compute-options.ts';
import type { Descriptor, Scalar, ScalarName } from './compute/descriptor.ts';
import type { Elementwise, ElementwiseOptions, ReductionOfTexts, ReductionTexts } from './compute/elementwise.ts';
import type { ReduceOptions, Reduction } from './compute/reduction.ts';
import type { Scan, ScanOptions } from './compute/scan.ts';
import type { Vectorized, VectorizeOptions } from './compute/vectorized.ts';
import { loading } from './covarium-error.ts';
import './decomposition/operations.ts';
import { type Dtype, type RealDtype, requireDtype } from './dtype.ts';
import type { KernelOptions, LibraryOptions } from './kernel/compile.ts';
import type { Kernel } from './kernel/kernel.ts';

/** The element type of what {@link Device.matrix}, {@link Device.vector} and {@link Device.volume} make. */
export interface DtypeOption<D extends Dtype = Dtype> {
  /** `float32` by default. */
  readonly dtype?: D | undefined;
}

/** The size of what {@link Device.explain} is asked about. */
export interface ExplainedSize {
  /** Of the draws, of the points, or of the first matrix; 1 by default. */
  readonly rows?: number | undefined;
  /** The columns of the first matrix and the rows of the second, for `multiply` only. */
  readonly inner?: number | undefined;
  /** Of the result, or of the factor. */
  readonly columns: number;
  /** `float32` by default. */
  readonly dtype?: RealDtype | undefined;
  /** As in the options of `sample`: the draws stay in the GPU's memory. */
  readonly onDevice?: boolean | undefined;
}

const sizesOf: Readonly<Record<ExplainedCommand, readonly (keyof ExplainedSize)[]>> = {
  sample: ['rows', 'columns', 'dtype', 'onDevice'],
  factor: ['columns', 'dtype'],
  logPdf: ['rows', 'columns', 'dtype'],
  multiply: ['rows', 'inner', 'columns', 'dtype'],
};

/** A device that computes; {@link openDevice} opens one. It has one queue: commits run in order. */
export class Device extends OpenBackend {
  static {
    inspectFields(Device.prototype, 'Device');
  }

  /**
   * A matrix of zeros, rows x columns, in the device's memory. Throws `ERR_OUT_OF_RANGE`, `ERR_TOO_LARGE`,
   * `ERR_OUT_OF_MEMORY`, `ERR_CLOSED`.
   */
  matrix<D extends Dtype = 'float32'>(rows: number, columns: number, options: DtypeOption<D> = {}): Matrix<NoInfer<D>> {
    wholeNumber('rows', rows);
    wholeNumber('columns', columns, 1);
    return new Matrix(this.#zeros('rows', rows * columns, options), rows, columns);
  }

  /** A vector of `length` zeros in the device's memory. Throws like {@link matrix}. */
  vector<D extends Dtype = 'float32'>(length: number, options: DtypeOption<D> = {}): Vector<NoInfer<D>> {
    return new Vector(this.#zeros('length', wholeNumber('length', length), options));
  }

  /** A volume of zeros, width x height x depth, in the device's memory. Throws like {@link matrix}. */
  volume<D extends Dtype = 'float32'>(size: VolumeSize, options: DtypeOption<D> = {}): Volume<NoInfer<D>> {
    checkOptions(size, ['width', 'height', 'depth'], 'size');
    const [width, height, depth] = sizeOf(size);
    return new Volume(this.#zeros('size', width * height * depth, options), [width, height, depth]);
  }

  /** A new command buffer: record commands, then commit them once. Throws `ERR_CLOSED`. */
  commandBuffer(): CommandBuffer {
    return new CommandBuffer(this);
  }

  /**
   * Which processor would run a command, and why: a GPU has the CPU beside it run what takes longer to send than to
   * compute. `sample` and `logPdf` take `rows` and `columns`, the Cholesky `factor` of a normal takes `columns`, and
   * `multiply` takes `rows` x `inner` by `inner` x `columns`. The factor is taken to be on the device already, other
   * operands to be on the host. After a commit, its `timings` say where it ran.
   *
   * ```ts
   * device.explain('sample', { rows: 1_000_000, columns: 2 });
   * // { runsOn: 'gpu', because: 'By rates measured ...', cpuMs: 2.1, gpuMs: 0.3 }
   * ```
   *
   * Throws `ERR_INVALID_ARGUMENT` (an unknown command, a size that it lacks), `ERR_OUT_OF_RANGE`,
   * `ERR_UNKNOWN_OPTION`, `ERR_CLOSED`.
   */
  explain(command: ExplainedCommand, size: ExplainedSize): Explanation {
    checkOptions(size, sizesOf[oneOf('command', command, Object.keys(sizesOf) as ExplainedCommand[])], 'size');
    const rows = wholeNumber('rows', orElse(size.rows, 1));
    const columns = wholeNumber('columns', size.columns, 1);
    const inner = command === 'multiply' ? wholeNumber('inner', size.inner, 1) : 1;
    const dtype = oneOf<RealDtype>('dtype', orElse(size.dtype, 'float32'), ['float32', 'float64']);
    const onDevice = requireBoolean('onDevice', orElse(size.onDevice, false));
    return backendOf(this).explain(command, rows, inner, columns, dtype, onDevice);
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
   * Compiles all kernels of a text at once, and returns them by name. It takes the options of {@link kernel} except
   * `name`. Rejects like {@link kernel}, with `ERR_KERNEL_COMPILE` for the whole text if one of them does not compile,
   * and with `ERR_INVALID_ARGUMENT` if it has none.
   */
  async library(source: string, options: LibraryOptions = {}): Promise<ReadonlyMap<string, Kernel>> {
    const { compileLibrary } = await loading(import('./kernel/compile.ts'));
    return compileLibrary(this, source, options);
  }

  /**
   * Compiles a kernel written in TypeScript: `descriptor` has the types of its arguments, and `text` is a function that
   * one thread of the grid runs. covarium reads its text, so it cannot use names from outside the function, except
   * those in `uses`.
   *
   * ```ts
   * const saxpy = await device.compute({ a: f32, x: input(f32), y: output(f32) }, ({ a, x, y }, { x: i }) => {
   *   y[i] = a * x[i]! + y[i]!;
   * });
   * await saxpy.run({ grid: n, arguments: { a: 2, x: [1, 2, 3], y } });
   * ```
   *
   * Rejects with `ERR_KERNEL_COMPILE` and the place in the function if a kernel cannot contain the code there,
   * `ERR_INVALID_ARGUMENT`, `ERR_UNSUPPORTED_DTYPE` (`f64` on an Apple GPU), `ERR_NO_COMPILER`.
   */
  async compute<const D extends Descriptor>(
    descriptor: D,
    text: ComputeFunction<D>,
    options: ComputeOptions = {},
  ): Promise<ComputeKernel<D>> {
    const { compileCompute } = await loading(import('./compute/compile-compute.ts'));
    return compileCompute(this, descriptor, text, options);
  }

  /**
   * A function of numbers as a kernel over arrays, element by element, which repeats numbers, rows and columns:
   *
   * ```ts
   * const hypot = await device.vectorize([f32, f32], f32, (x, y) => Math.sqrt(x * x + y * y));
   * const lengths = await hypot.run([matrix, row]);
   * ```
   *
   * `types` are those of the arguments (at most 7), `result` that of the results. Rejects like {@link compute}.
   */
  async vectorize<N extends ScalarName, const T extends readonly Scalar[]>(
    types: T,
    result: Scalar<N>,
    text: (...values: { -readonly [I in keyof T]: number }) => number,
    options: VectorizeOptions = {},
  ): Promise<Vectorized<N>> {
    const { vectorize } = await loading(import('./compute/vectorize.ts'));
    return vectorize(this, types, result, text as (...values: number[]) => number, options);
  }

  /**
   * Combines all elements of an array to one number: `combine` is a function of two numbers, and `identity` the number
   * that leaves the other one as it is.
   *
   * ```ts
   * const sum = await device.reduce(f32, (a, b) => a + b, 0);
   * const dot = await device.reduce(f32, (a, b) => a + b, 0, { from: [f32, f32], map: (x, y) => x * y });
   * console.log(await sum.run(vector), await dot.run([vector, vector]));
   * ```
   *
   * Rejects like {@link compute}, and with `ERR_OUT_OF_RANGE` for an identity that the type does not hold.
   */
  async reduce(
    type: Scalar,
    combine: (a: number, b: number) => number,
    identity: number,
    options: ReduceOptions = {},
  ): Promise<Reduction> {
    const { reduce } = await loading(import('./compute/reduce.ts'));
    return reduce(this, type, combine, identity, options);
  }

  /**
   * Combines each element with all elements before it, such as in running sums:
   *
   * ```ts
   * const running = await device.scan(i32, (a, b) => a + b, 0);
   * console.log((await running.run(Int32Array.of(1, 2, 3))).toArray()); // [1, 3, 6]
   * ```
   *
   * Rejects like {@link reduce}.
   */
  async scan<N extends ScalarName>(
    type: Scalar<N>,
    combine: (a: number, b: number) => number,
    identity: number,
    options: ScanOptions = {},
  ): Promise<Scan<N>> {
    const { scan } = await loading(import('./compute/scan.ts'));
    return scan(this, type, combine, identity, options);
  }

  /**
   * A short text that runs over arrays, element by element, and assigns the result to `out`: `device.elementwise('x, y,
   * a', 'out = a * x + y')`. The arguments of each call determine the types. The language is that of {@link compute}.
   * Rejects with `ERR_INVALID_ARGUMENT`, `ERR_KERNEL_COMPILE`.
   */
  async elementwise(names: string, text: string, options: ElementwiseOptions = {}): Promise<Elementwise> {
    const { elementwise } = await loading(import('./compute/elementwise.ts'));
    return elementwise(this, names, text, options);
  }

  /**
   * {@link reduce} with texts instead of functions: `device.reduction({ from: 'x, y', map: 'x * y', reduce: 'a + b',
   * identity: 0 })`. The arguments of each call determine the types. Rejects with `ERR_INVALID_ARGUMENT`,
   * `ERR_KERNEL_COMPILE`.
   */
  async reduction(texts: ReductionTexts): Promise<ReductionOfTexts> {
    const { reductionOfTexts } = await loading(import('./compute/elementwise.ts'));
    return reductionOfTexts(this, texts);
  }

  #zeros<D extends Dtype>(name: string, length: number, options: DtypeOption<D>): Storage<D> {
    checkOptions(options, ['dtype']);
    const dtype = requireDtype(orElse<Dtype>(options.dtype, 'float32') as D);
    const storage = named(name, () => Storage.onDevice(this, dtype, length));
    storage.values.fill(0);
    return storage;
  }
}
