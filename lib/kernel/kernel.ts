import type { CompiledKernel, LaunchOperand, Timings } from '../backend.ts';
import { commit, OpenBackend, recorded, runCommands } from '../backend-handle.ts';
import { checkOptions, inspectFields, noConstructor, notCloneable, quoted } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Values } from '../dtype.ts';
import { type KernelArguments, operandsOf, valuesOf } from './arguments.ts';
import { type GridSize, threadgroupFor, threadsOf } from './grid.ts';
import type { Parameter } from './parameter.ts';

/** Options of a launch. */
export interface Launch {
  /** Threads along x, y and z. */
  readonly grid: GridSize;
  /**
   * Threads of a group; by default what Apple recommends. If the group does not divide the grid, groups at the far
   * edges have fewer threads.
   */
  readonly threadgroup?: GridSize | undefined;
  /** By name, or in the kernel's order. */
  readonly arguments: KernelArguments;
}

/** What a kernel takes as one of its arguments. */
export interface KernelArgumentInfo {
  /** Its name in the text. */
  readonly name: string;
  /** Metal's name of the element's type, as the text has it. */
  readonly type: string;
  /** `write` if the kernel may write what it is given; `threadgroup` for memory of a threadgroup. */
  readonly access: 'read' | 'write' | 'constant' | 'threadgroup' | 'sampler';
  /** Bytes of one element, or of the struct; 0 for a texture or a sampler, and where the device does not tell. */
  readonly bytes: number;
  /** Its index in Metal's table of its kind: buffers, threadgroup memories, textures, samplers. */
  readonly index: number;
}

/** A checked launch, as an encoder takes it. */
interface Recorded {
  readonly compiled: CompiledKernel;
  readonly operands: readonly LaunchOperand[];
  /** The memory among the operands. */
  readonly reachable: readonly Values[];
  readonly grid: readonly [number, number, number];
  readonly threadgroup: readonly [number, number, number];
}

let recordedInside: (kernel: Kernel, device: OpenBackend, launch: Launch) => Recorded;
let partsInside: (kernel: Kernel) => KernelParts;

/** What a kernel consists of. */
interface KernelParts {
  readonly parameters: readonly Parameter[];
  readonly compiled: CompiledKernel;
}

/** A user's kernel, compiled for one device: `device.kernel(source)` makes it. */
export class Kernel {
  /** @internal A copy of it would not compute. The first field: the device's own refusal has other words. */
  readonly cloning: symbol = notCloneable('Kernel', 'compile one in each thread');
  /** The device for which it is compiled. */
  readonly device: OpenBackend;
  /** Name of its function. */
  readonly name: string;
  /** The names of its arguments, in order; built-in positions are not counted. */
  readonly argumentNames: readonly string[];
  /**
   * The arguments of its text, in order. For a kernel in TypeScript these are the arguments of its Metal text, which
   * may also have the lengths of arrays.
   */
  readonly arguments: readonly KernelArgumentInfo[];
  /** Threads that run in step; a multiple of it is best for the size of a threadgroup. */
  readonly threadExecutionWidth: number;
  /** The most threads that a threadgroup of this kernel may have. */
  readonly maxTotalThreadsPerThreadgroup: number;
  /** Bytes of threadgroup memory of the kernel's own variables. */
  readonly staticThreadgroupMemoryBytes: number;
  /**
   * Sentences that say what check mode could not check, and why; on `cuda`, why the CPU beside the GPU runs the kernel.
   * Usually empty.
   */
  readonly notes: readonly string[];
  readonly #compiled: CompiledKernel;
  readonly #parameters: readonly Parameter[];

  static {
    inspectFields(Kernel.prototype, 'Kernel');
    recordedInside = (kernel, device, launch) => kernel.#recorded(device, launch);
    partsInside = (kernel) => ({ parameters: kernel.#parameters, compiled: kernel.#compiled });
  }

  /** @internal */
  constructor(
    device: OpenBackend,
    name: string,
    parameters: readonly Parameter[],
    compiled: CompiledKernel,
    notes: readonly string[],
    argumentNames?: readonly string[],
  ) {
    if (!(device instanceof OpenBackend)) throw noConstructor('Kernel', 'await device.kernel(source)');
    this.notes = Object.freeze(notes);
    this.device = device;
    this.name = name;
    this.argumentNames = Object.freeze(argumentNames ?? parameters.map((parameter) => parameter.name));
    this.arguments = Object.freeze(
      parameters.map((parameter, i) => Object.freeze(argumentInfo(parameter, compiled.parameters[i]?.sizeBytes))),
    );
    this.threadExecutionWidth = compiled.threadExecutionWidth;
    this.maxTotalThreadsPerThreadgroup = compiled.maxTotalThreadsPerThreadgroup;
    this.staticThreadgroupMemoryBytes = compiled.staticThreadgroupMemoryBytes;
    this.#compiled = compiled;
    this.#parameters = parameters;
    // A kernel in TypeScript adds its texts first.
    if (new.target === Kernel) Object.freeze(this);
  }

  /**
   * Runs the kernel over a grid; settles when all threads have ended and the results can be read. Rejects with
   * `ERR_INVALID_ARGUMENT`, `ERR_SHAPE` or `ERR_OUT_OF_RANGE` if the launch does not fit the kernel, `ERR_KERNEL_CHECK`
   * for an error that check mode finds.
   *
   * ```ts
   * import { openDevice } from 'covarium';
   *
   * const kernel = await openDevice().kernel(`#include <metal_stdlib>
   *   using namespace metal;
   *   kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 2 * x[i]; }`);
   * const x = Float32Array.of(1, 2, 3);
   * await kernel.run({ grid: 3, arguments: { x } });
   * console.log(x.join()); // 2,4,6
   * ```
   */
  async run(launch: Launch, options: { readonly signal?: AbortSignal | undefined } = {}): Promise<Timings> {
    checkOptions(options, ['signal']);
    const { compiled, operands, reachable, grid, threadgroup } = this.#recorded(this.device, launch);
    const encoder = recorded(this.device, (each) => each.launch(compiled, operands, grid, threadgroup));
    return commit(encoder, reachable, options.signal);
  }

  /** Synchronous twin of {@link run}. */
  runSync(launch: Launch): Timings {
    const { compiled, operands, grid, threadgroup } = this.#recorded(this.device, launch);
    return runCommands(this.device, (encoder) => encoder.launch(compiled, operands, grid, threadgroup));
  }

  /** @internal The launch as the compiled text takes it. */
  protected prepared(launch: Launch): Launch {
    return launch;
  }

  #recorded(device: OpenBackend, given: Launch): Recorded {
    checkOptions(given, ['grid', 'threadgroup', 'arguments']);
    if (device !== this.device)
      throw new CovariumError(
        'ERR_FOREIGN_BUFFER',
        `Kernel (${this.name}) belongs to another device (${this.device.name}), not to (${device.name}).`,
      );
    const grid = threadsOf('grid', given.grid);
    const launch = this.prepared(given);
    const threadgroup =
      launch.threadgroup === undefined
        ? threadgroupFor(this.#compiled, grid)
        : threadsOf('threadgroup', launch.threadgroup);
    const operands = operandsOf(device, this.name, this.#parameters, launch.arguments);
    const reachable = operands.map(valuesOf).filter((values): values is Values => values !== undefined);
    return { compiled: this.#compiled, operands, reachable, grid, threadgroup };
  }
}

const accesses: { readonly [kind: string]: KernelArgumentInfo['access'] } = {
  ...{ written: 'write', writtenTexture: 'write', texture: 'read' },
};

function argumentInfo({ name, type, kind, layout, index }: Parameter, compiledBytes: number | undefined) {
  const isObject = kind === 'texture' || kind === 'writtenTexture' || kind === 'sampler';
  const access = accesses[kind] ?? (kind as KernelArgumentInfo['access']);
  return { name, type, access, bytes: isObject ? 0 : compiledBytes || (layout?.sizeBytes ?? 0), index };
}

/** A launch in the form that an encoder of `device` takes, for other modules of lib only. */
export function recordedLaunch(kernel: Kernel, device: OpenBackend, launch: Launch): Recorded {
  if (kernel instanceof Kernel) return recordedInside(kernel, device, launch);
  throw new CovariumError('ERR_INVALID_ARGUMENT', `Kernel is (${quoted(kernel)}); pass what Device.kernel() returns.`);
}

/** The parts of a kernel, for other modules of lib only. */
export function kernelParts(kernel: Kernel): KernelParts {
  return partsInside(kernel);
}
