// How arrays show themselves: as JSON, to console.log, and to structuredClone.
import { listed, nameClass, quoted } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { type Dtype, requireDtype, type Values, zerosOf } from '../dtype.ts';
import { requireHeldBy } from './host-memory.ts';

/** A number in JSON, which has no NaN, no infinities and no -0: they are strings. */
export type JsonNumber = number | 'NaN' | 'Infinity' | '-Infinity' | '-0';

/** A matrix, a vector or a volume as JSON. `from` of its class makes the same array from it, with the same bits. */
export interface ArrayJson<D extends Dtype = Dtype> {
  /** Type of the numbers. */
  readonly dtype: D;
  /** Rows and columns; the length; depth, height and width. */
  readonly shape: readonly number[];
  /** The numbers, the last dimension fastest. */
  readonly data: readonly JsonNumber[];
}

/** What `toJSON` gives. */
export function arrayJson<D extends Dtype>(dtype: D, shape: readonly number[], values: Values): ArrayJson<D> {
  return { dtype, shape, data: Array.from(values as ArrayLike<number>, jsonNumber) };
}

function jsonNumber(value: number): JsonNumber {
  if (Object.is(value, -0)) return '-0';
  return Number.isFinite(value) ? value : (String(value) as JsonNumber);
}

/**
 * The numbers of an array's JSON. Throws `ERR_INVALID_ARGUMENT` with the entry that is not a number, `ERR_OUT_OF_RANGE`
 * with one that its type does not hold, `ERR_SHAPE` if there are more or fewer than its shape has.
 */
export function jsonValues({ dtype, shape, data }: ArrayJson): Values {
  const values = zerosOf(requireDtype(dtype, '`values.dtype`'), data.length);
  for (const [at, entry] of data.entries()) {
    const isNumber = typeof entry === 'number' || ['NaN', 'Infinity', '-Infinity', '-0'].includes(entry);
    if (!isNumber)
      throw new CovariumError('ERR_INVALID_ARGUMENT', `\`values.data[${at}]\` is (${quoted(entry)}): pass a number.`);
    values[at] = Number(entry);
  }
  requireHeldBy(
    values,
    (at) => Number(data[at]),
    (at) => `\`values.data[${at}]\``,
  );
  // An entry may be anything in JSON that was made by hand, also an object that does not become a number.
  const isShape = Array.isArray(shape) && shape.every((size) => typeof size === 'number');
  const count = isShape ? shape.reduce((product, size) => product * size, 1) : undefined;
  if (count !== data.length)
    throw new CovariumError(
      'ERR_SHAPE',
      `\`values.data\` has (${data.length}) numbers, but \`values.shape\` is (${isShape ? shape.join(' x ') : Array.isArray(shape) ? listed(shape) : quoted(shape)}).`,
    );
  return values;
}

/**
 * Whether a value is an array's JSON, as {@link arrayJson} gives it. A strided array may have a type and a plain array
 * of numbers too, but also an offset or strides.
 */
export function isArrayJson(value: unknown): value is ArrayJson {
  const { dtype, data, strides, stride, offset } = (value ?? {}) as { readonly [name: string]: unknown };
  const isStrided = strides !== undefined || stride !== undefined || offset !== undefined;
  return typeof dtype === 'string' && Array.isArray(data) && !isStrided;
}

/** Type, shape and numbers of a matrix, a vector or a volume. */
export interface ArrayContents<D extends Dtype = Dtype> {
  /** Type of the numbers. */
  readonly dtype: D;
  /** Rows and columns; the length; depth, height and width. */
  readonly shape: number[];
  /** The numbers, the last dimension fastest. */
  readonly data: Values<D>;
}

/** The contents of what structuredClone and postMessage make of an array; any other value as it is. */
export function clonedContents<Value>(value: Value): Value | ArrayContents {
  const { contents } = (value ?? {}) as { readonly contents?: Partial<ArrayContents> };
  return Array.isArray(contents?.shape) && ArrayBuffer.isView(contents.data) ? (contents as ArrayContents) : value;
}

interface Shown {
  readonly contents: ArrayContents;
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly closed: boolean;
  readonly data: Values;
}

/**
 * Has console.log show arrays of a class by shape, type and the numbers in their corners, and names the class. Returns
 * the property that each array needs of its own: structuredClone, postMessage, spreading and deep comparisons look at
 * no other, and would find nothing, as the numbers are private.
 */
export function inspectAs(prototype: Shown, name: string): PropertyDescriptor {
  nameClass(prototype, name);
  Object.defineProperty(prototype, Symbol.for('nodejs.util.inspect.custom'), {
    value(this: Shown): string {
      return inspectArray(name, this.dtype, this.shape, this.closed ? undefined : this.data);
    },
  });
  // With fields that say the defaults, to define it takes twice the time.
  return { get: Object.getOwnPropertyDescriptor(prototype, 'contents')!.get!, enumerable: true };
}

const edge = 3;

// Which of `count` indexes are shown; -1 stands for those that are left out.
function shown(count: number): number[] {
  if (count <= 2 * edge) return Array.from({ length: count }, (_, i) => i);
  return [
    ...Array.from({ length: edge }, (_, i) => i),
    -1,
    ...Array.from({ length: edge }, (_, i) => count - edge + i),
  ];
}

// `Matrix 1000 x 2 float32` and the numbers in its corners, as NumPy shows an array.
function inspectArray(name: string, dtype: Dtype, shape: readonly number[], values: Values | undefined): string {
  const head = `${name} ${shape.join(' x ')} ${dtype}`;
  if (values === undefined) return `${head} (closed)`;
  if (values.length === 0) return `${head} []`;
  const texts = new Map<number, string>();
  const text = (at: number): string => {
    const own = texts.get(at) ?? String(Number(values[at]!.toPrecision(6)));
    texts.set(at, own);
    return own;
  };
  const lines = linesOf(shape, text, 0, 0);
  // Once more, as wide as the widest number.
  const width = Math.max(...[...texts.values()].map((each) => each.length));
  const padded = lines.length === 1 ? lines : linesOf(shape, (at) => text(at).padStart(width), 0, 0);
  return `${head} ${padded.join('\n')}`;
}

function linesOf(shape: readonly number[], text: (at: number) => string, start: number, depth: number): string[] {
  const [count, ...rest] = shape as [number, ...number[]];
  if (rest.length === 0)
    return [
      `[${shown(count)
        .map((i) => (i < 0 ? '...' : text(start + i)))
        .join(', ')}]`,
    ];
  const size = rest.reduce((product, each) => product * each, 1);
  const indent = '  '.repeat(depth + 1);
  const parts = shown(count).flatMap((i) =>
    i < 0 ? [`${indent}...`] : block(linesOf(rest, text, start + i * size, depth + 1), indent),
  );
  return ['[', ...parts, `${'  '.repeat(depth)}]`];
}

function block([first, ...others]: string[], indent: string): string[] {
  const lines = [`${indent}${first}`, ...others];
  return [...lines.slice(0, -1), `${lines.at(-1)},`];
}
