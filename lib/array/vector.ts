import type { Timings } from '../backend.ts';
import { checkOptions, wholeNumber } from '../check.ts';
import type { Dtype, Values } from '../dtype.ts';
import type { MadeOf } from './element-type.ts';
import { copiedNumbers, hostValues } from './host-memory.ts';
import { Storage } from './storage.ts';

let storageInside: <D extends Dtype>(vector: Vector<D>) => Storage<D>;

/** Numbers in a row: an array, a typed array, or a Vector. */
export type VectorInput = Vector | Values | readonly number[];

/** A vector of numbers of element type D. */
export class Vector<D extends Dtype = Dtype> {
  readonly #length: number;
  readonly #storage: Storage<D>;

  static {
    storageInside = (vector) => vector.#storage;
  }

  /** @internal */
  constructor(storage: Storage<D>) {
    this.#storage = storage;
    this.#length = storage.values.length;
  }

  /** Number of entries, from 0. */
  get length(): number {
    return this.#length;
  }

  /**
   * A vector of n host values, `float32` by default for an array. A typed array of type `dtype` is wrapped, not copied;
   * anything else is copied. Throws `ERR_INVALID_ARGUMENT` (an entry that is no number) and `ERR_CLOSED`.
   */
  static from<Given extends VectorInput, D extends Dtype | undefined = undefined>(
    values: Given,
    options: { readonly dtype?: D } = {},
  ): Vector<MadeOf<Given, NoInfer<D>>> {
    checkOptions(options, ['dtype']);
    return Vector.#from(values, options.dtype) as Vector<Dtype> as Vector<MadeOf<Given, NoInfer<D>>>;
  }

  static #from(values: VectorInput, dtype: Dtype | undefined): Vector {
    if (values instanceof Vector) return new Vector(new Storage(hostValues(values.data, dtype, true)));
    if (!Array.isArray(values)) return new Vector(new Storage(hostValues(values as Values, dtype)));
    return new Vector(new Storage(copiedNumbers(values, dtype)));
  }

  /** Type of the entries. */
  get dtype(): D {
    return this.#storage.dtype;
  }

  /** The numbers: a live view, not a copy. Throws `ERR_CLOSED` once closed. */
  get data(): Values<D> {
    return this.#storage.values;
  }

  /** Of the commit that computed this vector; undefined for host values. */
  get timings(): Timings | undefined {
    return this.#storage.timings;
  }

  /** Whether the numbers are gone: {@link close} was called, or their device is closed. */
  get closed(): boolean {
    return this.#storage.closed;
  }

  /** The entry at an index from 0. Throws `ERR_OUT_OF_RANGE` and `ERR_CLOSED`. */
  get(index: number): number {
    return this.data[wholeNumber('Index', index, 0, this.length - 1)]!;
  }

  /** A copy as an array. Throws `ERR_CLOSED`. */
  toArray(): number[] {
    return Array.from(this.data);
  }

  /** Gives device memory back, once no commit in flight uses it. Idempotent. */
  close(): void {
    this.#storage.close();
  }

  /** {@link close}, at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/** The storage behind a vector. For the rest of lib, not for users. */
export function vectorStorage<D extends Dtype>(vector: Vector<D>): Storage<D> {
  return storageInside(vector);
}
