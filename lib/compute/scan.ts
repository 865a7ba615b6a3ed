import { Storage } from '../array/storage.ts';
import { Vector } from '../array/vector.ts';
import type { OpenBackend } from '../backend-handle.ts';
import { checkOptions, orElse, requireBoolean, wrongArgument } from '../check.ts';
import { CommandBuffer } from '../command/command-buffer.ts';
import type { Launch } from '../kernel/kernel.ts';
import { compileParsed, nameFor } from './compile-compute.ts';
import type { ComputeKernel } from './compute-kernel.ts';
import type { Uses } from './compute-options.ts';
import {
  type DtypeOfScalar,
  i32,
  input,
  output,
  requireScalar,
  type Scalar,
  type ScalarName,
  variableTypes,
} from './descriptor.ts';
import { givenFunction, withResult } from './numbers-function.ts';
import { parsedStatements } from './parse.ts';
import { requireIdentity } from './reduction.ts';
import { dtypeOfScalar, type Shaped, shapeOf } from './shapes.ts';
import { ownName } from './vectorize.ts';

/** Options of `Device.scan`. */
export interface ScanOptions {
  /** True if each result combines only the elements before its own; false by default. */
  readonly exclusive?: boolean | undefined;
  /** The name in messages; by default that of the function. */
  readonly name?: string | undefined;
  /** Functions that the text may call, and numbers that it may name; none by default. */
  readonly uses?: Uses | undefined;
}

/** Elements that one thread goes through. */
const chunk = 1024;

/**
 * Combines each element with all elements before it, such as in running sums: `Device.scan` makes it. The order depends
 * only on the number of elements, so the bits are the same on every device.
 */
export class Scan<N extends ScalarName = ScalarName> {
  /** The kernel that runs. */
  readonly kernel: ComputeKernel;
  readonly #device: OpenBackend;
  readonly #type: Scalar<N>;
  readonly #identity: number;
  readonly #exclusive: boolean;

  /** @internal */
  constructor(device: OpenBackend, kernel: ComputeKernel, type: Scalar<N>, identity: number, exclusive: boolean) {
    this.#device = device;
    this.kernel = kernel;
    this.#type = type;
    this.#identity = identity;
    this.#exclusive = exclusive;
  }

  /** A vector of n numbers for an array of n. Rejects with `ERR_INVALID_ARGUMENT`. */
  async run(
    values: Shaped,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Vector<DtypeOfScalar<N>>> {
    checkOptions(options, ['signal']);
    const { commands, out, over } = this.#passes(values);
    try {
      await commands.commit(options);
      return out;
    } finally {
      for (const vector of over) vector.close();
    }
  }

  /** Synchronous twin of {@link run}: n numbers for n. Throws `ERR_INVALID_ARGUMENT`. */
  runSync(values: Shaped): Vector<DtypeOfScalar<N>> {
    const { commands, out, over } = this.#passes(values);
    try {
      commands.commitSync();
      return out;
    } finally {
      for (const vector of over) vector.close();
    }
  }

  #passes(values: Shaped): {
    readonly commands: CommandBuffer;
    readonly out: Vector<DtypeOfScalar<N>>;
    readonly over: readonly Vector[];
  } {
    const shape = shapeOf('values', values);
    if (shape === undefined)
      throw wrongArgument('`values`', values, 'an array of numbers, a Matrix, a Vector or a Volume');
    const n = shape[0] * shape[1] * shape[2];
    const device = this.#device;
    const dtype = dtypeOfScalar[this.#type.scalar] as DtypeOfScalar<N>;
    const over: Vector[] = [];
    const commands = new CommandBuffer(device);
    const out = new Vector(Storage.forResult(device, dtype, n));
    if (n === 0) return { commands, out, over };
    const launch = (values: unknown, offsets: unknown, to: unknown, count: number, mode: number) =>
      commands.launch(this.kernel, {
        grid: Math.ceil(count / chunk),
        arguments: { values, offsets, out: to, n: count, mode } as unknown as Launch['arguments'],
      });
    // What each chunk begins with is an exclusive scan of the chunks' totals.
    const scanned = (values: unknown, to: unknown, count: number, mode: number): void => {
      const chunks = Math.ceil(count / chunk);
      if (chunks === 1) {
        launch(values, [this.#identity], to, count, mode);
        return;
      }
      const [totals, offsets] = Storage.allOnDevice(device, dtype, [chunks, chunks]).map((each) => new Vector(each));
      over.push(totals!, offsets!);
      launch(values, [this.#identity], totals, count, 0);
      scanned(totals, offsets, chunks, 2);
      launch(values, offsets, to, count, mode);
    };
    try {
      scanned(values, out, n, this.#exclusive ? 2 : 1);
      return { commands, out, over };
    } catch (error) {
      for (const vector of [...over, out]) vector.close();
      throw error;
    }
  }
}

/** Makes a {@link Scan}; see `Device.scan`. */
export async function scan<N extends ScalarName>(
  device: OpenBackend,
  type: Scalar<N>,
  combine: (a: number, b: number) => number,
  identity: number,
  options: ScanOptions,
): Promise<Scan<N>> {
  checkOptions(options, ['exclusive', 'name', 'uses']);
  const exclusive = requireBoolean('exclusive', orElse(options.exclusive, false));
  requireScalar('`type`', type, variableTypes);
  requireIdentity(identity, type);
  const name = nameFor(options.name, combine, 'scanned');
  const parsed = givenFunction(combine, 2, 'combine', options.name, 'give it in `uses`');
  const own = ownName(name, ['values', 'offsets', 'n', 'mode', 'first', 'end', 'all', 'at']);
  const body = `const first = x * ${chunk};
const end = first + Math.min(${chunk}, n - first);
if (mode === 0) {
  let all = offsets[0];
  for (let at = first; at < end; at++) all = ${own}(all, values[at]);
  out[x] = all;
} else {
  let all = offsets[x];
  for (let at = first; at < end; at++) {
    const before = all;
    all = ${own}(all, values[at]);
    out[at] = mode === 1 ? all : before;
  }
}`;
  const descriptor = { values: input(type), offsets: input(type), out: output(type), n: i32, mode: i32 };
  const statements = parsedStatements(name, ['{ values, offsets, out, n, mode }', '{ x }'], body);
  const kernel = await compileParsed(device, descriptor, statements, {
    name,
    uses: options.uses,
    functions: new Map([[own, withResult(parsed, type)]]),
  });
  return new Scan(device, kernel as unknown as ComputeKernel, type, identity, exclusive);
}
