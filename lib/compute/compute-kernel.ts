import type { CompiledKernel, Timings } from '../backend.ts';
import type { OpenBackend } from '../backend-handle.ts';
import { quoted } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Values } from '../dtype.ts';
import type { KernelArgument } from '../kernel/arguments.ts';
import type { GridSize } from '../kernel/grid.ts';
import { Kernel, type Launch } from '../kernel/kernel.ts';
import type { Parameter } from '../kernel/parameter.ts';
import type { Descriptor, GivenTo } from './descriptor.ts';

/** Options of a launch of a {@link ComputeKernel}. */
export interface ComputeLaunch<D extends Descriptor = Descriptor> {
  /** Threads along x, y and z: a number, or an array of one to three. */
  readonly grid: GridSize;
  /** Threads of a group; by default what Apple recommends. */
  readonly threadgroup?: GridSize | undefined;
  /** By name. */
  readonly arguments: GivenTo<D>;
}

/** The largest position: positions are `i32`. */
const mostThreads = 2 ** 31 - 1;

/**
 * A kernel written in TypeScript, for one device: `Device.compute` makes it. {@link CommandBuffer.launch} takes it as
 * it takes other kernels.
 */
export class ComputeKernel<D extends Descriptor = Descriptor> extends Kernel {
  /** The kernel as a text in Metal Shading Language, which `metal`, `cuda` and `cpu` compile. */
  readonly source: string;
  /** The kernel as JavaScript with the roundings of its types, which `reference` runs. */
  readonly javaScript: string;
  readonly #descriptor: Descriptor;
  /** The arrays whose lengths are arguments too. */
  readonly #lengths: readonly string[];

  /** @internal */
  constructor(
    device: OpenBackend,
    parts: {
      readonly name: string;
      readonly parameters: readonly Parameter[];
      readonly compiled: CompiledKernel;
      readonly notes: readonly string[];
    },
    texts: { readonly source: string; readonly javaScript: string },
    descriptor: Descriptor,
    lengths: readonly string[],
  ) {
    const names = Object.keys(descriptor);
    // Messages have the names of the function, which are others in the text where Metal does not take them.
    const parameters = parts.parameters.map((each, i) => ({ ...each, name: names[i] ?? each.name }));
    super(device, parts.name, parameters, parts.compiled, parts.notes, names);
    this.source = texts.source;
    this.javaScript = texts.javaScript;
    this.#descriptor = descriptor;
    this.#lengths = lengths;
    Object.freeze(this);
  }

  /**
   * Runs the kernel over a grid; settles when all threads have ended and the results can be read. Rejects with
   * `ERR_INVALID_ARGUMENT`, `ERR_SHAPE` or `ERR_OUT_OF_RANGE` if the launch does not fit the kernel, `ERR_KERNEL_CHECK`
   * for an error that check mode finds.
   */
  override run(
    launch: ComputeLaunch<D>,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Timings> {
    return super.run(launch as Launch, options);
  }

  /** Synchronous twin of {@link run}. */
  override runSync(launch: ComputeLaunch<D>): Timings {
    return super.runSync(launch as Launch);
  }

  /** @internal */
  protected override prepared(launch: Launch): Launch {
    const given = launch.arguments;
    const names = Object.keys(this.#descriptor);
    if (typeof given !== 'object' || given === null || Array.isArray(given) || ArrayBuffer.isView(given))
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Arguments of kernel (${this.name}) are an object by name (${names.join(', ')}), not (${quoted(given)}).`,
      );
    const byName = given as { readonly [name: string]: KernelArgument };
    for (const name of Object.keys(byName))
      if (!names.includes(name))
        throw new CovariumError(
          'ERR_INVALID_ARGUMENT',
          `Kernel (${this.name}) has no argument (${name}); it takes (${names.join(', ')}).`,
        );
    const values = names.map((name) => this.#argument(name, byName[name]));
    const lengths = this.#lengths.map((name) => lengthOf(name, byName[name]!));
    for (const size of typeof launch.grid === 'number' ? [launch.grid] : launch.grid)
      if (size > mostThreads)
        throw new CovariumError(
          'ERR_OUT_OF_RANGE',
          `\`grid\` has (${size}) threads along an axis; the limit is (${mostThreads}).`,
        );
    return { grid: launch.grid, threadgroup: launch.threadgroup, arguments: [...values, ...lengths] };
  }

  #argument(name: string, value: KernelArgument | undefined): KernelArgument {
    const type = this.#descriptor[name]!;
    if (value === undefined)
      throw new CovariumError('ERR_INVALID_ARGUMENT', `Argument (${name}) of kernel (${this.name}) is missing.`);
    if ('scalar' in type) {
      if (typeof value !== 'number')
        throw new CovariumError(
          'ERR_INVALID_ARGUMENT',
          `Argument (${name}) of kernel (${this.name}) is a number of type ${type.scalar}, not (${quoted(value)}).`,
        );
      return type.scalar === 'f64' ? Float64Array.of(value) : value;
    }
    const isArray = Array.isArray(value) || ArrayBuffer.isView(value);
    if (typeof value !== 'object' || value === null || !(isArray || 'dtype' in value))
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Argument (${name}) of kernel (${this.name}) is an array of ${type.element}, not (${quoted(value)}).`,
      );
    return type.element === 'f64' ? doubles(name, value, type.access) : value;
  }
}

// Metal has no double, so the launch does not know its arrays.
function doubles(name: string, value: KernelArgument, access: 'read' | 'written'): KernelArgument {
  if (Array.isArray(value)) {
    // It would be copied, and the results lost.
    if (access === 'written')
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Argument (${name}) is written: it takes a Matrix, a Vector, a Volume or a typed array, not (${quoted(value)}).`,
      );
    const at = (value as unknown[]).findIndex((each) => typeof each !== 'number');
    if (at >= 0)
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Argument (${name}[${at}]) is an f64, not (${quoted(value[at])}).`,
      );
    return Float64Array.from(value as number[]);
  }
  const { dtype } = value as { readonly dtype?: string };
  if (value instanceof Float64Array || dtype === 'float64') return value;
  throw new CovariumError(
    'ERR_INVALID_ARGUMENT',
    `Argument (${name}) has elements of type f64, which takes (float64), not (${quoted(value)}).`,
  );
}

function lengthOf(name: string, value: KernelArgument): number {
  const holder = value as { readonly length?: number; readonly data?: Values; readonly shape?: readonly number[] };
  const shape: readonly unknown[] | undefined = Array.isArray(holder.shape) ? holder.shape : undefined;
  const length =
    shape === undefined ? holder.length : shape.reduce<number>((product, each) => product * Number(each), 1);
  // The launch refuses what has no length, and says what it takes.
  if (typeof length !== 'number') return 0;
  if (length <= mostThreads) return length;
  throw new CovariumError(
    'ERR_OUT_OF_RANGE',
    `Argument (${name}) has (${length}) elements, and the kernel, which asks for its length, counts to (${mostThreads}).`,
  );
}
