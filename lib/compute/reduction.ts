import { Storage } from '../array/storage.ts';
import { Vector } from '../array/vector.ts';
import type { Timings } from '../backend.ts';
import type { OpenBackend } from '../backend-handle.ts';
import { checkOptions, quoted, wrongArgument } from '../check.ts';
import { CommandBuffer } from '../command/command-buffer.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Launch } from '../kernel/kernel.ts';
import type { ComputeKernel } from './compute-kernel.ts';
import type { Uses } from './compute-options.ts';
import type { Scalar } from './descriptor.ts';
import { dtypeOfScalar, inCallersWords, type Shaped, shapeOf } from './shapes.ts';

/** Options of `Device.reduce`. */
export interface ReduceOptions {
  /**
   * A function of one element, or of one element of each array in `from`, whose results are combined; by default the
   * identity.
   */
  readonly map?: ((...values: number[]) => number) | undefined;
  /** The types of the arrays that `map` takes; by default one array of the type of the result. */
  readonly from?: readonly Scalar[] | undefined;
  /** The name in messages; by default that of the function. */
  readonly name?: string | undefined;
  /** Functions that the texts may call, and numbers that they may name; none by default. */
  readonly uses?: Uses | undefined;
}

/** Elements that one thread combines, in 16 rows side by side. */
export const chunk = 4096;
export const lanes = 16;

/**
 * Combines all elements of arrays to one number: `Device.reduce` makes it. The order depends only on the number of
 * elements, so the bits are the same on every device. In each block of 4,096 elements, element i is combined into
 * number i mod 16. The numbers of all blocks, in order, are combined in the same way, until at most 16 are left, which
 * are combined from the first to the last.
 */
export class Reduction {
  /** The kernel that maps and combines. */
  readonly kernel: ComputeKernel;
  readonly #next: ComputeKernel;
  readonly #device: OpenBackend;
  readonly #type: Scalar;
  readonly #count: number;
  readonly #identity: number;

  /** @internal */
  constructor(
    device: OpenBackend,
    first: ComputeKernel,
    next: ComputeKernel,
    type: Scalar,
    count: number,
    identity: number,
  ) {
    this.#device = device;
    this.kernel = first;
    this.#next = next;
    this.#type = type;
    this.#count = count;
    this.#identity = identity;
  }

  /**
   * The number to which all elements are combined; the identity if there are none. Several arrays must have the same
   * number of elements. Rejects with `ERR_SHAPE`, `ERR_INVALID_ARGUMENT`.
   */
  async run(
    values: Shaped | readonly Shaped[],
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<number> {
    checkOptions(options, ['signal']);
    return this.#combined(values, (commands) => commands.commit(options));
  }

  /** Synchronous twin of {@link run}. */
  runSync(values: Shaped | readonly Shaped[]): number {
    let result = this.#identity;
    const over = this.#passes(values, (commands, last) => {
      commands.commitSync();
      result = last.data[0]!;
    });
    for (const vector of over) vector.close();
    return result;
  }

  async #combined(
    values: Shaped | readonly Shaped[],
    commit: (commands: CommandBuffer) => Promise<Timings>,
  ): Promise<number> {
    let running: { readonly commands: CommandBuffer; readonly last: Vector } | undefined;
    const over = this.#passes(values, (commands, last) => {
      running = { commands, last };
    });
    try {
      if (running === undefined) return this.#identity;
      await commit(running.commands);
      return running.last.data[0]!;
    } finally {
      for (const vector of over) vector.close();
    }
  }

  /** Records the passes and hands them on; returns the memory between them. */
  #passes(given: Shaped | readonly Shaped[], run: (commands: CommandBuffer, last: Vector) => void): Vector[] {
    const values = this.#count === 1 && !isList(given) ? [given as Shaped] : (given as readonly Shaped[]);
    if (!Array.isArray(values) || values.length !== this.#count)
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `\`values\` is (${quoted(given)}), but reduction (${this.kernel.name}) takes (${this.#count}) arrays.`,
      );
    const lengths = values.map((value, i) => lengthOf(this.#count === 1 ? 'values' : `values[${i}]`, value));
    const n = lengths[0]!;
    const other = lengths.findIndex((length) => length !== n);
    if (other > 0)
      throw new CovariumError(
        'ERR_SHAPE',
        `\`values[${other}]\` has (${lengths[other]}) elements, but \`values[0]\` has (${n}).`,
      );
    if (n === 0) return [];
    const made: Vector[] = [];
    try {
      const commands = new CommandBuffer(this.#device);
      const pass = (kernel: ComputeKernel, inputs: readonly unknown[], count: number, isLast: boolean): Vector => {
        const threads = isLast ? 1 : Math.ceil(count / chunk);
        const out = new Vector(
          Storage.onDevice(this.#device, dtypeOfScalar[this.#type.scalar], isLast ? 1 : threads * lanes),
        );
        made.push(out);
        const named = Object.fromEntries(inputs.map((value, i) => [`values${i}`, value]));
        const all = { ...named, out, n: count, last: Number(isLast), identity: this.#identity };
        commands.launch(kernel, { grid: threads, arguments: all as unknown as Launch['arguments'] });
        return out;
      };
      let out = pass(this.kernel, values, n, false);
      while (out.length > lanes) out = pass(this.#next, [out], out.length, false);
      run(commands, pass(this.#next, [out], out.length, true));
      return made;
    } catch (error) {
      for (const vector of made) vector.close();
      throw inCallersWords(error, (i, element) => `${this.#count === 1 ? 'values' : `values[${i}]`}${element}`);
    }
  }
}

// An array of arrays, rather than one of numbers.
function isList(given: unknown): boolean {
  return Array.isArray(given) && given.length > 0 && typeof given[0] !== 'number';
}

function lengthOf(name: string, value: Shaped): number {
  const [width, height, depth] = shapeOf(name, value) ?? [0, 0, 0];
  const isNumber = typeof value === 'number';
  if (isNumber) throw wrongArgument(`\`${name}\``, value, 'an array of numbers, a Matrix, a Vector or a Volume');
  return width * height * depth;
}

/** Throws `ERR_INVALID_ARGUMENT` unless an identity is a number, `ERR_OUT_OF_RANGE` if the type does not hold it. */
export function requireIdentity(identity: unknown, type?: Scalar): void {
  if (typeof identity !== 'number') throw wrongArgument('`identity`', identity, 'a number');
  if (type === undefined) return;
  const held = type(identity);
  const isWhole = type.scalar !== 'f32' && type.scalar !== 'f64';
  if (isWhole ? held !== identity : Number.isFinite(identity) && !Number.isFinite(held))
    throw new CovariumError('ERR_OUT_OF_RANGE', `\`identity\` is (${identity}), which no ${type.scalar} is.`);
}
