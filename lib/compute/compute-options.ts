import type { Descriptor, SeenBy } from './descriptor.ts';
import type { Thread } from './thread.ts';

/** Functions and numbers that a kernel's text may name. */
export type Uses = { readonly [name: string]: ((...values: never[]) => unknown) | number };

/** Options of `Device.compute`. */
export interface ComputeOptions {
  /** The kernel's name in texts and messages; by default that of the function, or `unnamed`. */
  readonly name?: string | undefined;
  /** Functions that the text may call, and numbers that it may name; none by default. */
  readonly uses?: Uses | undefined;
  /**
   * True to check each access to an array; false by default. A wrong access fails the commit with `ERR_KERNEL_CHECK`
   * and the line of the function. On `cuda` the CPU beside the GPU then runs the kernel. Throws `ERR_UNSUPPORTED` on
   * `metal`.
   */
  readonly check?: boolean | undefined;
}

/** A kernel in TypeScript: a function of the kernel's arguments and of the {@link Thread} that runs it. */
export type ComputeFunction<D extends Descriptor> = (given: SeenBy<D>, thread: Thread) => void;
