import type { Timings } from '../backend.ts';
import { checkOptions, fromStart, noConstructor, orElse, wholeNumber } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { type Dtype, requireDtype, type Values } from '../dtype.ts';
import type { MadeOf } from './element-type.ts';
import {
  type ArrayContents,
  type ArrayJson,
  arrayJson,
  clonedContents,
  inspectAs,
  isArrayJson,
  jsonValues,
} from './face.ts';
import { elementTypeOf, isStrided, rowsOfStrided, type StridedArray } from './foreign.ts';
import { copiedNumbers, hostValues } from './host-memory.ts';
import { nestedRows } from './nested.ts';
import { Storage } from './storage.ts';

let storageInside: <D extends Dtype>(vector: Vector<D>) => Storage<D>;
let ownContents: PropertyDescriptor;

/**
 * Numbers in a row: an array, a typed array, a Vector, what its `toJSON` gives, or a strided array of one dimension of
 * another library.
 */
export type VectorInput = Vector | Values | readonly number[] | StridedArray | ArrayJson;

/** A vector of numbers of element type D. */
export class Vector<D extends Dtype = Dtype> {
  readonly #length: number;
  readonly #storage: Storage<D>;

  static {
    storageInside = (vector) => vector.#storage;
    ownContents = inspectAs(Vector.prototype, 'Vector');
  }

  /** @internal */
  constructor(storage: Storage<D>) {
    if (!(storage instanceof Storage)) throw noConstructor('Vector', 'Vector.from(numbers)');
    this.#storage = storage;
    this.#length = storage.values.length;
    Object.defineProperty(this, 'contents', ownContents);
  }

  /** Number of entries, from 0. */
  get length(): number {
    return this.#length;
  }

  /**
   * A vector of n host values, `float32` by default for an array. A typed array of type `dtype` is wrapped, not copied;
   * anything else is copied. Throws `ERR_INVALID_ARGUMENT` (an entry that is not a number), `ERR_OUT_OF_RANGE` (one
   * that `float32` does not hold, if you pass no `dtype`) and `ERR_CLOSED`.
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
    if (isArrayJson(values)) {
      const numbers = jsonValues(values);
      requireVectorShape(values.shape);
      return new Vector(new Storage(hostValues(numbers, dtype)));
    }
    const given = clonedContents<unknown>(values);
    if (isStrided(given)) return new Vector(new Storage(stridedNumbers(given, dtype)));
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

  /** The length; other libraries read a strided array by {@link strides} and {@link offset} too. */
  get shape(): [length: number] {
    return [this.#length];
  }

  /** The step in {@link data} from one entry to the next, in elements. */
  get strides(): [entry: number] {
    return [1];
  }

  /** The index of the first entry in {@link data}. */
  get offset(): number {
    return 0;
  }

  /** Timings of the commit that computed this vector; undefined for host values. */
  get timings(): Timings | undefined {
    return this.#storage.timings;
  }

  /**
   * Type, shape and numbers as an own property, which structuredClone and postMessage copy and {@link Vector.from}
   * takes. Throws `ERR_CLOSED` once closed.
   */
  get contents(): ArrayContents<D> {
    return { dtype: this.dtype, shape: this.shape, data: this.data };
  }

  /** True once this or its device was closed, or the memory was transferred to another thread. */
  get closed(): boolean {
    return this.#storage.closed;
  }

  /** The entry at an index, counted from 0. Throws `ERR_OUT_OF_RANGE` and `ERR_CLOSED`. */
  get(index: number): number {
    return this.data[wholeNumber('Index', index, 0, this.length - 1)]!;
  }

  /** The entry at an index; a negative index counts from the end. Throws like {@link get}. */
  at(index: number): number {
    return this.get(fromStart('Index', index, this.length));
  }

  /** The entries in turn. Throws `ERR_CLOSED`. */
  [Symbol.iterator](): ArrayIterator<number> {
    return this.data[Symbol.iterator]();
  }

  /** A copy as an array. Throws `ERR_CLOSED`. */
  toArray(): number[] {
    return nestedRows(this.data, 1, this.length)[0]!;
  }

  /**
   * The vector for JSON.stringify. {@link Vector.from} makes a vector with the same bits from it. Throws `ERR_CLOSED`.
   */
  toJSON(): ArrayJson<D> {
    return arrayJson(this.dtype, this.shape, this.data);
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

function requireVectorShape(shape: readonly number[]): void {
  if (shape.length === 1) return;
  throw new CovariumError(
    'ERR_SHAPE',
    `\`values\` of shape (${[...shape].join(', ')}) is not a vector: pass one dimension.`,
  );
}

function stridedNumbers(values: StridedArray, asked: Dtype | undefined): Values {
  requireVectorShape(values.shape);
  const own = elementTypeOf(values);
  const dtype = requireDtype(orElse(asked, own === 'plain' ? 'float32' : own));
  return hostValues(rowsOfStrided(values, dtype, asked !== undefined).values, asked);
}

/** The storage behind a vector, for other modules of lib only. */
export function vectorStorage<D extends Dtype>(vector: Vector<D>): Storage<D> {
  return storageInside(vector);
}
