import type { Timings } from '../backend.ts';
import { checkOptions, wholeNumber } from '../check.ts';
import type { Dtype, Values } from '../dtype.ts';
import { copiedNumbers, hostValues } from './host-memory.ts';
import { Storage } from './storage.ts';

let storageInside: (vector: Vector) => Storage;

/** A list of numbers: an array, a typed array, or a Vector. */
export type VectorInput = Vector | Values | readonly number[];

/** A vector of numbers. */
export class Vector {
  readonly #length: number;
  readonly #storage: Storage;

  static {
    storageInside = (vector) => vector.#storage;
  }

  /** @internal */
  constructor(storage: Storage) {
    this.#storage = storage;
    this.#length = storage.values.length;
  }

  /** Number of entries, from 0. */
  get length(): number {
    return this.#length;
  }

  /**
   * A vector of n host values, `float32` by default for an array. A typed array of type `dtype` is wrapped, not copied;
   * anything else is copied. Throws `ERR_INVALID_ARGUMENT` (an entry that is not a number) and `ERR_CLOSED`.
   */
  static from(values: VectorInput, options: { readonly dtype?: Dtype | undefined } = {}): Vector {
    checkOptions(options, ['dtype']);
    if (values instanceof Vector) return new Vector(new Storage(hostValues(values.data, options.dtype, true)));
    if (!Array.isArray(values)) return new Vector(new Storage(hostValues(values as Values, options.dtype)));
    return new Vector(new Storage(copiedNumbers(values, options.dtype)));
  }

  /** Type of the entries. */
  get dtype(): Dtype {
    return this.#storage.dtype;
  }

  /** The numbers: a live view, not a copy. Throws `ERR_CLOSED` once closed. */
  get data(): Values {
    return this.#storage.values;
  }

  /** Timings of the commit that computed this vector; undefined for host values. */
  get timings(): Timings | undefined {
    return this.#storage.timings;
  }

  /** True once the numbers are gone: {@link close} was called, or their device is closed. */
  get closed(): boolean {
    return this.#storage.closed;
  }

  /** The entry at an index, counted from 0. Throws `ERR_OUT_OF_RANGE` and `ERR_CLOSED`. */
  get(index: number): number {
    return this.data[wholeNumber('Index', index, 0, this.length - 1)]!;
  }

  /** A copy as an array. Throws `ERR_CLOSED`. */
  toArray(): number[] {
    return Array.from(this.data);
  }

  /** Releases device memory once no commit in flight uses it. Idempotent. */
  close(): void {
    this.#storage.close();
  }

  /** Calls {@link close} at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/** The storage behind a vector, for other modules of lib only. */
export function vectorStorage(vector: Vector): Storage {
  return storageInside(vector);
}
