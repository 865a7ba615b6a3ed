import type { Matrix } from '../array/matrix.ts';
import type { Vector } from '../array/vector.ts';
import type { Volume } from '../array/volume.ts';
import type { OpenBackend } from '../backend-handle.ts';
import { checkOptions, quoted } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Values } from '../dtype.ts';
import type { GridSize } from '../kernel/grid.ts';
import type { ComputeKernel } from './compute-kernel.ts';
import type { Uses } from './compute-options.ts';
import type { DtypeOfScalar, Scalar, ScalarName } from './descriptor.ts';
import {
  commonShape,
  dtypeOfScalar,
  inCallersWords,
  isSameShape,
  resultOf,
  type Shape,
  type Shaped,
  shapeOf,
  strides,
} from './shapes.ts';

/** The results, of type N: a Volume or a Matrix if an argument is one, else a Vector. */
export type Result<N extends ScalarName> =
  | Matrix<DtypeOfScalar<N>>
  | Vector<DtypeOfScalar<N>>
  | Volume<DtypeOfScalar<N>>;

/** The {@link Result} for arguments of these types; a union where an argument's class is known only at run time. */
export type ResultOf<N extends ScalarName, Given extends readonly unknown[]> =
  IsAmong<Volume, Given> extends true
    ? Volume<DtypeOfScalar<N>>
    :
        | MayBeAmong<Volume, Given, Volume<DtypeOfScalar<N>>>
        | (IsAmong<Matrix, Given> extends true
            ? Matrix<DtypeOfScalar<N>>
            : Vector<DtypeOfScalar<N>> | MayBeAmong<Matrix, Given, Matrix<DtypeOfScalar<N>>>);

type IsAmong<Class, Given extends readonly unknown[]> = true extends {
  [I in keyof Given]: [Given[I]] extends [Class] ? true : false;
}[number]
  ? true
  : false;

type MayBeAmong<Class, Given extends readonly unknown[], Result> =
  Extract<Given[number], Class> extends never ? never : Result;

/** Options of a call of a {@link Vectorized}. */
export interface VectorizedOptions<Out extends object> {
  /**
   * The destination of the results, with the broadcast shape of the arguments. It must not share memory with an
   * argument. A new array by default.
   */
  readonly out?: Out | undefined;
  /** Stops the work. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of `Device.vectorize`. */
export interface VectorizeOptions {
  /** The name in messages; by default that of the function. */
  readonly name?: string | undefined;
  /** Functions that the text may call, and numbers that it may name; none by default. */
  readonly uses?: Uses | undefined;
}

/**
 * A function of numbers that runs over arrays, element by element: `Device.vectorize` makes it. Arrays whose size along
 * an axis is 1, and numbers, are repeated; a vector is one row.
 */
export class Vectorized<N extends ScalarName = ScalarName> {
  /** The kernel that runs. */
  readonly kernel: ComputeKernel;
  readonly #device: OpenBackend;
  readonly #names: readonly string[];
  readonly #result: Scalar<N>;

  /** @internal */
  constructor(device: OpenBackend, kernel: ComputeKernel, types: readonly Scalar[], result: Scalar<N>) {
    this.#device = device;
    this.kernel = kernel;
    this.#names = types.map((_, i) => `values${i}`);
    this.#result = result;
  }

  /**
   * The results for arrays and numbers: a Volume or a Matrix if an argument is one, else a Vector. Rejects with
   * `ERR_SHAPE` if the shapes do not fit each other, `ERR_INVALID_ARGUMENT`.
   */
  async run<
    const Given extends readonly (Shaped | number)[],
    Out extends Result<N> | Values<DtypeOfScalar<N>> = ResultOf<N, Given>,
  >(values: Given, options: VectorizedOptions<Out> = {}): Promise<NoInfer<Out>> {
    checkOptions(options, ['out', 'signal']);
    const { launch, out } = this.#launch(values, options.out);
    try {
      await this.kernel.run(launch, { signal: options.signal });
    } catch (error) {
      throw inCallersWords(error, placeIn(values));
    }
    return out as Out;
  }

  /** Synchronous twin of {@link run}. */
  runSync<
    const Given extends readonly (Shaped | number)[],
    Out extends Result<N> | Values<DtypeOfScalar<N>> = ResultOf<N, Given>,
  >(values: Given, options: Pick<VectorizedOptions<Out>, 'out'> = {}): NoInfer<Out> {
    checkOptions(options, ['out']);
    const { launch, out } = this.#launch(values, options.out);
    try {
      this.kernel.runSync(launch);
    } catch (error) {
      throw inCallersWords(error, placeIn(values));
    }
    return out as Out;
  }

  #launch(
    values: readonly (Shaped | number)[],
    given: object | undefined,
  ): { readonly launch: { readonly grid: GridSize; readonly arguments: Record<string, never> }; readonly out: object } {
    const names = this.#names;
    if (!Array.isArray(values) || values.length !== names.length)
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `\`values\` is (${quoted(values)}), but kernel (${this.kernel.name}) takes an array of (${names.length}) arguments.`,
      );
    const shapes = values.map((value, i) => shapeOf(`values[${i}]`, value));
    const common = commonShape(shapes);
    const out = given ?? resultOf(this.#device, dtypeOfScalar[this.#result.scalar], common, values);
    if (given !== undefined && !fits(shapeOf('out', given), common, given))
      throw new CovariumError(
        'ERR_SHAPE',
        `\`out\` does not have (${common.join(' x ')}) elements, columns by rows by layers, as the arguments together.`,
      );
    const isFlat = shapes.every((shape) => isSameShape(shape, common));
    const all: Record<string, unknown> = { out, flat: Number(isFlat) };
    names.forEach((name, i) => {
      const value = values[i]!;
      // A number is an array of one, which is repeated.
      all[name] = typeof value === 'number' ? [value] : value;
      const steps = strides(shapes[i]);
      all[`${name}x`] = steps[0];
      all[`${name}y`] = steps[1];
      all[`${name}z`] = steps[2];
    });
    const grid = isFlat ? [common[0] * common[1] * common[2]] : [...common];
    return { launch: { grid, arguments: all as Record<string, never> }, out };
  }
}

function placeIn(values: readonly unknown[]): (index: number, element: string) => string {
  return (index, element) => `values[${index}]${typeof values[index] === 'number' ? '' : element}`;
}

function fits(shape: Shape | undefined, common: Shape, given: object): boolean {
  if (shape === undefined) return false;
  const length = ([x, y, z]: Shape) => x * y * z;
  return ArrayBuffer.isView(given) ? length(shape) === length(common) : isSameShape(shape, common);
}
