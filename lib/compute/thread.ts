import type { Scalar, WrittenNumbers } from './descriptor.ts';

/** Numbers of 32-bit integers that atomic functions change. */
type Counters = WrittenNumbers;

/**
 * The positions, sizes and functions of a thread of a kernel: the second parameter of the function that
 * `Device.compute` takes. All positions and sizes are `i32`.
 */
export interface Thread {
  /** The thread's position in the grid. */
  readonly x: number;
  /** The thread's position in the grid. */
  readonly y: number;
  /** The thread's position in the grid. */
  readonly z: number;
  /** Threads of the grid along x. */
  readonly width: number;
  /** Threads of the grid along y. */
  readonly height: number;
  /** Threads of the grid along z. */
  readonly depth: number;
  /** The thread's position in its threadgroup. */
  readonly localX: number;
  /** The thread's position in its threadgroup. */
  readonly localY: number;
  /** The thread's position in its threadgroup. */
  readonly localZ: number;
  /** The position of the threadgroup among all. */
  readonly groupX: number;
  /** The position of the threadgroup among all. */
  readonly groupY: number;
  /** The position of the threadgroup among all. */
  readonly groupZ: number;
  /** Threads of this threadgroup along x; fewer at the edge of the grid. */
  readonly groupWidth: number;
  /** Threads of this threadgroup along y. */
  readonly groupHeight: number;
  /** Threads of this threadgroup along z. */
  readonly groupDepth: number;
  /**
   * An array that the threads of a group share. `length` is a whole number, known before the kernel runs. Its content
   * is undefined until a thread writes it. Only as `const name = shared(f32, 256);`: elsewhere `ERR_KERNEL_COMPILE`.
   */
  shared(type: Scalar, length: number): WrittenNumbers;
  /** An array of the thread's own, of zeros. Only as `const name = array(f32, 16);`: else `ERR_KERNEL_COMPILE`. */
  array(type: Scalar, length: number): WrittenNumbers;
  /**
   * Waits until all threads of the group arrive; what they wrote is then visible. `ERR_KERNEL_CHECK` if some do not
   * arrive.
   */
  barrier(): void;
  /** a b + c, rounded once; `ERR_KERNEL_COMPILE` for f64. */
  fma(a: number, b: number, c: number): number;
  /** Adds to an element; gives its value before. `ERR_KERNEL_COMPILE` unless i32 or u32. */
  atomicAdd(numbers: Counters, index: number, value: number): number;
  /** Subtracts from an element; gives its value before. `ERR_KERNEL_COMPILE`: see atomicAdd. */
  atomicSub(numbers: Counters, index: number, value: number): number;
  /** An element becomes the lesser of it and `value`; gives its value before. `ERR_KERNEL_COMPILE`: see atomicAdd. */
  atomicMin(numbers: Counters, index: number, value: number): number;
  /** An element becomes the greater of it and `value`; gives its value before. `ERR_KERNEL_COMPILE`: see atomicAdd. */
  atomicMax(numbers: Counters, index: number, value: number): number;
  /** An element becomes element & value; gives its value before. `ERR_KERNEL_COMPILE`: see atomicAdd. */
  atomicAnd(numbers: Counters, index: number, value: number): number;
  /** An element becomes element | value; gives its value before. `ERR_KERNEL_COMPILE`: see atomicAdd. */
  atomicOr(numbers: Counters, index: number, value: number): number;
  /** An element becomes element ^ value; gives its value before. `ERR_KERNEL_COMPILE`: see atomicAdd. */
  atomicXor(numbers: Counters, index: number, value: number): number;
  /** An element becomes `value`; gives its value before. `ERR_KERNEL_COMPILE`: see atomicAdd. */
  atomicExchange(numbers: Counters, index: number, value: number): number;
}

/** The names of {@link Thread} that are numbers. */
export const places: readonly string[] = [
  ...['x', 'y', 'z', 'width', 'height', 'depth', 'localX', 'localY', 'localZ', 'groupX', 'groupY', 'groupZ'],
  ...['groupWidth', 'groupHeight', 'groupDepth'],
];

/** The names of {@link Thread} that are functions. */
export const threadFunctions: readonly string[] = [
  ...['shared', 'array', 'barrier', 'fma', 'atomicAdd', 'atomicSub', 'atomicMin', 'atomicMax', 'atomicAnd'],
  ...['atomicOr', 'atomicXor', 'atomicExchange'],
];
