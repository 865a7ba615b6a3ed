import { checkOptions, noConstructor, orElse, quoted, wholeNumber } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { type Dtype, requireDtype, type Values, zerosOf } from '../dtype.ts';
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

let storageInside: <D extends Dtype>(volume: Volume<D>) => Storage<D>;
let ownContents: PropertyDescriptor;

/** Width, height and depth; height and depth are 1 by default. */
export interface VolumeSize {
  /** Numbers along x, from 1. */
  readonly width: number;
  /** Numbers along y, from 1; 1 by default. */
  readonly height?: number | undefined;
  /** Numbers along z, from 1; 1 by default. */
  readonly depth?: number | undefined;
}

/**
 * Numbers in a grid of x, y and z, in a kernel's order: x varies fastest. Use it for a kernel that needs three
 * dimensions. Linear algebra uses a {@link Matrix}, which has two.
 */
export class Volume<D extends Dtype = Dtype> {
  readonly #size: readonly [number, number, number];
  readonly #storage: Storage<D>;

  static {
    storageInside = (volume) => volume.#storage;
    ownContents = inspectAs(Volume.prototype, 'Volume');
  }

  /** @internal */
  constructor(storage: Storage<D>, size: readonly [number, number, number]) {
    if (!(storage instanceof Storage)) throw noConstructor('Volume', 'Volume.from(numbers, { width, height, depth })');
    this.#storage = storage;
    this.#size = size;
    Object.defineProperty(this, 'contents', ownContents);
  }

  /** Numbers along x, from 1. */
  get width(): number {
    return this.#size[0];
  }

  /** Numbers along y, from 1. */
  get height(): number {
    return this.#size[1];
  }

  /** Numbers along z, from 1. */
  get depth(): number {
    return this.#size[2];
  }

  /**
   * A volume of host values, width x height x depth, x fastest. A typed array of type `dtype` is wrapped, not copied;
   * an array becomes float32 by default. The size is known if the values are a volume, the result of `toJSON` or
   * structuredClone, or a strided array of shape (depth, height, width). Throws `ERR_SHAPE` if the size doesn't fit,
   * `ERR_OUT_OF_RANGE`, `ERR_INVALID_ARGUMENT`.
   */
  static from<
    Given extends Values | readonly number[] | StridedArray | ArrayJson | Volume,
    D extends Dtype | undefined = undefined,
  >(values: Given, options: Partial<VolumeSize> & { readonly dtype?: D } = {}): Volume<MadeOf<Given, NoInfer<D>>> {
    checkOptions(options, ['width', 'height', 'depth', 'dtype']);
    const given = clonedContents<unknown>(values);
    if (isArrayJson(given) || given !== values) {
      const { shape, data } = given as ArrayJson | ArrayContents;
      const [depth = 1, height = 1, width = 1] = shape;
      const numbers = isArrayJson(given) ? jsonValues(given) : (data as Values);
      return Volume.from(values instanceof Volume ? numbers.slice() : numbers, {
        ...{ width, height, depth },
        ...options,
      }) as Volume<Dtype> as Volume<MadeOf<Given, NoInfer<D>>>;
    }
    if (isStrided(given)) {
      const [depth, height, width] = shapeOf(given);
      sizeOf({ width, height, depth });
      const numbers = stridedNumbers(given, options.dtype);
      return Volume.from(numbers, { width, height, depth, ...options }) as Volume<MadeOf<Given, NoInfer<D>>>;
    }
    const size = sizeOf(options as VolumeSize);
    const host = Array.isArray(values)
      ? copiedNumbers(values, options.dtype)
      : hostValues(values as Values, options.dtype);
    if (host.length !== size[0] * size[1] * size[2])
      throw new CovariumError(
        'ERR_SHAPE',
        `\`values\` has (${host.length}) numbers, but the volume has (${size.join(' x ')}).`,
      );
    return new Volume(new Storage(host), size) as Volume<Dtype> as Volume<MadeOf<Given, NoInfer<D>>>;
  }

  /** Width, height and depth: the grid of a kernel with one thread for each number. */
  get size(): [width: number, height: number, depth: number] {
    return [this.width, this.height, this.depth];
  }

  /** Depth, height and width; the last index varies fastest in {@link data}. */
  get shape(): [depth: number, height: number, width: number] {
    return [this.depth, this.height, this.width];
  }

  /** Type of the entries. */
  get dtype(): D {
    return this.#storage.dtype;
  }

  /** The numbers, x fastest, then y: a live view, not a copy. Throws `ERR_CLOSED` once closed. */
  get data(): Values<D> {
    return this.#storage.values;
  }

  /**
   * Type, shape and numbers as an own property, which structuredClone and postMessage copy and {@link Volume.from}
   * takes. Throws `ERR_CLOSED` once closed.
   */
  get contents(): ArrayContents<D> {
    return { dtype: this.dtype, shape: this.shape, data: this.data };
  }

  /** True once this or its device was closed, or the memory was transferred to another thread. */
  get closed(): boolean {
    return this.#storage.closed;
  }

  /** The number at x, y, z, each counted from 0. Throws `ERR_OUT_OF_RANGE` and `ERR_CLOSED`. */
  get(x: number, y = 0, z = 0): number {
    return this.data[this.#at(x, y, z)]!;
  }

  /** Writes a number at x, y, z. Throws like {@link get}. */
  set(x: number, y: number, z: number, value: number): void {
    this.data[this.#at(x, y, z)] = value;
  }

  /** A copy as arrays of rows, by z and y. Throws `ERR_CLOSED`. */
  toArray(): number[][][] {
    const { data, width, height, depth } = this;
    const rows = nestedRows(data, depth * height, width);
    return Array.from({ length: depth }, (_, z) => rows.slice(z * height, (z + 1) * height));
  }

  /**
   * The volume for JSON.stringify. {@link Volume.from} makes a volume with the same bits from it. Throws `ERR_CLOSED`.
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

  #at(x: number, y: number, z: number): number {
    wholeNumber('`x`', x, 0, this.width - 1);
    wholeNumber('`y`', y, 0, this.height - 1);
    wholeNumber('`z`', z, 0, this.depth - 1);
    return (z * this.height + y) * this.width + x;
  }
}

function shapeOf({ shape }: StridedArray): [depth: number, height: number, width: number] {
  if (shape.length === 3) return [shape[0]!, shape[1]!, shape[2]!];
  throw new CovariumError(
    'ERR_SHAPE',
    `\`values\` of shape (${[...shape].join(', ')}) is not a volume: pass three dimensions.`,
  );
}

function stridedNumbers(values: StridedArray, asked: Dtype | undefined): Values {
  const [depth, height, width] = shapeOf(values);
  const own = elementTypeOf(values);
  const dtype = requireDtype(orElse(asked, own === 'plain' ? 'float32' : own));
  const { data, strides, stride, offset = 0 } = values;
  const steps = strides ?? stride ?? [height * width, width, 1];
  const isWhole = Array.isArray(steps) && steps.length === 3 && steps.every(Number.isSafeInteger);
  if (!isWhole || depth * height * width > data.length)
    throw new CovariumError(
      'ERR_SHAPE',
      `\`values\` has shape (${[depth, height, width].join(', ')}), strides (${quoted(steps)}) and (${data.length}) numbers: pass three whole strides, and a number for each place.`,
    );
  const [next, down, across] = steps;
  const rows = (count: number, from: number) =>
    rowsOfStrided({ data, shape: [count, width], strides: [down!, across!], offset: from }, dtype, asked !== undefined)
      .values;
  if (next === height * down!) return rows(depth * height, offset);
  const all = zerosOf(dtype, depth * height * width);
  for (let z = 0; z < depth; z++) all.set(rows(height, offset + z * next!), z * height * width);
  return all;
}

/** Three whole numbers; throws `ERR_OUT_OF_RANGE`, `ERR_INVALID_ARGUMENT`. */
export function sizeOf({ width, height = 1, depth = 1 }: VolumeSize): [number, number, number] {
  return [wholeNumber('Width', width, 1), wholeNumber('Height', height, 1), wholeNumber('Depth', depth, 1)];
}

/** The storage behind a volume, for other modules of lib only. */
export function volumeStorage<D extends Dtype>(volume: Volume<D>): Storage<D> {
  return storageInside(volume);
}
