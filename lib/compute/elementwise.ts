import type { OpenBackend } from '../backend-handle.ts';
import { checkOptions, quoted, wrongArgument } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { dtypeOf, type Values } from '../dtype.ts';
import { nameFor } from './compile-compute.ts';
import type { Uses } from './compute-options.ts';
import { f32, f64, i32, requireScalar, type Scalar, type ScalarName, u8, u32, variableTypes } from './descriptor.ts';
import { textFunction } from './numbers-function.ts';
import type { Parsed } from './parse.ts';
import { reduceParsed } from './reduce.ts';
import { type Reduction, requireIdentity } from './reduction.ts';
import { type Shaped, shapeOf } from './shapes.ts';
import { isName } from './source-text.ts';
import { vectorizeParsed } from './vectorize.ts';
import type { Result, ResultOf, Vectorized, VectorizedOptions } from './vectorized.ts';

/** Options of `Device.elementwise`. */
export interface ElementwiseOptions {
  /** The type of the results; by default the common type of all arrays. */
  readonly result?: Scalar | undefined;
  /** The name in messages; `elementwise` by default. */
  readonly name?: string | undefined;
  /** Functions that the text may call, and numbers that it may name; none by default. */
  readonly uses?: Uses | undefined;
}

/** The texts of `Device.reduction`. */
export interface ReductionTexts {
  /** Names of the arrays, separated by commas. */
  readonly from: string;
  /** An expression of these names; by default the name itself, if there is only one. */
  readonly map?: string | undefined;
  /** An expression of `a` and `b`, such as `a + b`. */
  readonly reduce: string;
  /** The number that leaves the other operand as it is: 0 for a sum. */
  readonly identity: number;
  /** The type of the result; by default the common type of all arrays. */
  readonly result?: Scalar | undefined;
  /** The name in messages; `reduction` by default. */
  readonly name?: string | undefined;
  /** Functions that the texts may call, and numbers that they may name; none by default. */
  readonly uses?: Uses | undefined;
}

const scalarOf = { float32: f32, float64: f64, int32: i32, uint32: u32, uint8: u8 } as const;

/** A short text that runs over arrays, element by element: `Device.elementwise` makes it. */
export class Elementwise {
  readonly #device: OpenBackend;
  readonly #names: readonly string[];
  readonly #text: Parsed;
  readonly #options: ElementwiseOptions;
  readonly #made: Map<string, Promise<Vectorized>> = new Map();

  /** @internal */
  constructor(device: OpenBackend, names: readonly string[], text: string, options: ElementwiseOptions) {
    this.#device = device;
    this.#names = names;
    this.#text = textFunction('text', text, names, 'statements', 'add it to `names`, or give it in `uses`');
    this.#options = options;
  }

  /**
   * The results for arrays and numbers, which are passed in the order of the names. A call with new types compiles
   * first. Rejects like {@link Vectorized.run}, and with `ERR_KERNEL_COMPILE`.
   */
  async run<
    const Given extends readonly (Shaped | number)[],
    Out extends Result<ScalarName> | Values = ResultOf<ScalarName, Given>,
  >(values: Given, options: VectorizedOptions<Out> = {}): Promise<NoInfer<Out>> {
    const { name: asked, uses, result } = this.#options;
    const types = typesOf(this.#names, values);
    const type = result ?? joinedType(types);
    const key = [...types, type].map(({ scalar }) => scalar).join();
    const name = nameFor(asked, undefined, 'elementwise');
    const made = this.#made.get(key) ?? vectorizeParsed(this.#device, types, type, this.#text, { name, uses });
    this.#made.set(key, made);
    return (await made).run(values, options);
  }
}

/** A reduction of texts: `Device.reduction` makes it. */
export class ReductionOfTexts {
  readonly #device: OpenBackend;
  readonly #texts: ReductionTexts;
  readonly #names: readonly string[];
  readonly #combine: Parsed;
  readonly #map: Parsed;
  readonly #made: Map<string, Promise<Reduction>> = new Map();

  /** @internal */
  constructor(device: OpenBackend, texts: ReductionTexts) {
    this.#device = device;
    this.#texts = texts;
    this.#names = namesOf('from', texts.from, 16);
    if (texts.map === undefined && this.#names.length > 1)
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Several arrays (${texts.from}) need a \`map\`, an expression of them.`,
      );
    this.#combine = textFunction('reduce', texts.reduce, ['a', 'b'], 'expression', 'give it in `uses`');
    const remedy = 'add it to `from`, or give it in `uses`';
    this.#map = textFunction('map', texts.map ?? this.#names[0]!, this.#names, 'expression', remedy);
  }

  /**
   * The number to which all elements of the arrays are combined. Arrays are passed in the order of the names. A call
   * with new types compiles first. Rejects like {@link Reduction.run}, and with `ERR_KERNEL_COMPILE`.
   */
  async run(values: readonly Shaped[], options: { readonly signal?: AbortSignal | undefined } = {}): Promise<number> {
    const { map, identity, name: asked, uses, result } = this.#texts;
    const types = typesOf(this.#names, values);
    const type = result ?? joinedType(types);
    const key = [...types, type].map(({ scalar }) => scalar).join();
    const isPlain = map === undefined && types[0] === type;
    const name = nameFor(asked, undefined, 'reduction');
    const mapped = isPlain ? undefined : this.#map;
    const made =
      this.#made.get(key) ??
      reduceParsed(this.#device, type, this.#combine, identity, { name, uses, map: mapped, from: types });
    this.#made.set(key, made);
    return (await made).run(values, options);
  }
}

/** Makes an {@link Elementwise}; see `Device.elementwise`. */
export function elementwise(
  device: OpenBackend,
  names: string,
  text: string,
  options: ElementwiseOptions,
): Elementwise {
  checkOptions(options, ['result', 'name', 'uses']);
  if (options.result !== undefined) requireScalar('`result`', options.result);
  if (typeof text !== 'string') throw wrongArgument('`text`', text, "a string, as 'out = a * x + y'");
  return new Elementwise(device, namesOf('names', names, 7), text, options);
}

/** Makes a {@link ReductionOfTexts}; see `Device.reduction`. */
export function reductionOfTexts(device: OpenBackend, texts: ReductionTexts): ReductionOfTexts {
  checkOptions(texts, ['from', 'map', 'reduce', 'identity', 'result', 'name', 'uses'], 'texts');
  for (const name of ['from', 'reduce', 'map'] as const)
    if (typeof texts[name] !== 'string' && !(name === 'map' && texts.map === undefined))
      throw wrongArgument(`\`${name}\``, texts[name], 'a string');
  if (texts.result !== undefined) requireScalar('`result`', texts.result, variableTypes);
  requireIdentity(texts.identity);
  return new ReductionOfTexts(device, texts);
}

function namesOf(argument: string, names: string, most: number): string[] {
  const all = typeof names === 'string' ? names.split(',').map((each) => each.trim()) : [];
  const wrong = all.find((each) => !isName(each) || each === 'out');
  const count = new Set(all).size;
  if (count > 0 && count <= most && count === all.length && wrong === undefined) return all;
  const wanted = `1 to ${most} different identifiers, separated by commas, none of them 'out'`;
  throw wrongArgument(`\`${argument}\``, names, wanted);
}

/** The types of arguments: a number has that of the arrays, unless it has a fraction and they have none. */
function typesOf(names: readonly string[], values: readonly (Shaped | number)[]): Scalar[] {
  if (!Array.isArray(values) || values.length !== names.length)
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `\`values\` is (${quoted(values)}), but the kernel takes an array of (${names.length}) arguments (${names.join(', ')}).`,
    );
  const shapes = values.map((value, i) => shapeOf(`values[${i}]`, value));
  // The numbers of a plain array have no type of their own, and keep their digits beside those of f64.
  const hasDouble = values.some((value, i) => shapes[i] && !Array.isArray(value) && arrayType(value as Shaped) === f64);
  const arrays = values.map((value, i) => {
    if (shapes[i] === undefined) return undefined;
    return hasDouble && Array.isArray(value) ? f64 : arrayType(value as Shaped);
  });
  const known = arrays.filter((type) => type !== undefined);
  const together = known.length === 0 ? f32 : joinedType(known);
  return arrays.map((type, i) => {
    if (type !== undefined) return type;
    const isFloat = together === f32 || together === f64;
    return isFloat || Number.isInteger(values[i]) ? (together === u8 ? i32 : together) : f32;
  });
}

function arrayType(value: Shaped): Scalar {
  if (Array.isArray(value)) return f32;
  return scalarOf[
    ArrayBuffer.isView(value)
      ? dtypeOf(value)
      : (value as Exclude<Shaped, readonly number[]> & { dtype: keyof typeof scalarOf }).dtype
  ];
}

/** The type of results: f64 or f32 if one has it, else that of whole numbers. */
function joinedType(types: readonly Scalar[]): Scalar {
  for (const type of [f64, f32]) if (types.includes(type)) return type;
  const first = types[0]!;
  if (types.every((type) => type === first)) return first === u8 ? i32 : first;
  const scalars = types.map(({ scalar }) => scalar);
  if (!(scalars.includes('i32') && scalars.includes('u32'))) return scalars.includes('u32') ? u32 : i32;
  throw new CovariumError(
    'ERR_INVALID_ARGUMENT',
    `Arguments have types (${scalars.join(', ')}), which have none together: pass \`result\`.`,
  );
}
