import type { Node } from 'acorn';
import { f32, f64, i32, u32 } from './descriptor.ts';
import { isFloat } from './mathematics.ts';
import type { Context } from './scope.ts';
import type { Expression, ValueType, Weak } from './tree.ts';

const inWords: { readonly [type: string]: string } = {
  bool: 'a condition (true or false)',
  whole: 'a whole number',
  fraction: 'a number with a fraction',
};

/** A type as messages name it. */
export function typeInWords(type: ValueType | Weak): string {
  return inWords[type] ?? `of type ${type}`;
}

/** Whether a type is of whole numbers, a literal's included. */
export function isWholeType(type: ValueType | Weak): boolean {
  return type === 'i32' || type === 'u32' || type === 'whole';
}

/** A literal, of a type that what it meets decides. */
export function literal(
  value: number,
  isFraction: boolean = !Number.isInteger(value) || Object.is(value, -0),
): Expression {
  const type = isFraction || Math.abs(value) >= 2 ** 32 ? 'fraction' : 'whole';
  // 0 * -1 of whole numbers is 0, on every device.
  return { op: 'number', type, value: type === 'whole' ? value + 0 : value };
}

/** The type that a literal has where nothing decides it. */
export function settledType(type: ValueType | Weak): ValueType {
  return type === 'whole' ? 'i32' : type === 'fraction' ? 'f32' : type;
}

/** The type of a local that gets values of both types; undefined if there is none. */
export function joined(a: ValueType | Weak, b: ValueType | Weak): ValueType | Weak | undefined {
  if (a === b) return a;
  if (a === 'bool' || b === 'bool') return undefined;
  if (a === 'f64' || b === 'f64') return 'f64';
  if (a === 'f32' || b === 'f32') return 'f32';
  if (a === 'whole') return b;
  if (b === 'whole') return a;
  if (a === 'fraction' || b === 'fraction') return 'f32';
  return undefined;
}

/** The common type of two values that meet at `node`; refuses a condition beside a number, and i32 beside u32. */
export function commonType(context: Context, node: Node, a: Expression, b: Expression): ValueType | Weak {
  const type = joined(a.type, b.type);
  if (type !== undefined) return type;
  const { source } = context;
  const why =
    a.type === 'bool' || b.type === 'bool'
      ? 'A condition meets a number: write (flag ? 1 : 0), or compare the number'
      : 'An i32 meets a u32: convert one of them, by i32(...) or u32(...)';
  throw source.refusal(node, `${why}, in (${source.wordsOf(node)})`);
}

function number(type: ValueType, value: number): Expression {
  const [fraction, round] = [isFloat(type), type === 'f64' ? f64 : type === 'f32' ? f32 : (each: number) => each];
  return { op: 'number', type, value: fraction ? round(value) : value };
}

/**
 * A value where `type` is wanted: literals become it, whole numbers become floats, f32 becomes f64. Refuses all that
 * loses something.
 */
export function converted(context: Context, node: Node, value: Expression, type: ValueType): Expression {
  if (value.type === type) return value;
  if (value.op === 'number') {
    const fits =
      isFloat(type) ||
      (type === 'i32' && value.type === 'whole' && i32(value.value) === value.value) ||
      (type === 'u32' && value.type === 'whole' && u32(value.value) === value.value);
    if (fits && (value.type === 'whole' || value.type === 'fraction')) return number(type, value.value);
  }
  if (value.op === 'choice' && (value.type === 'whole' || value.type === 'fraction')) {
    const { test, yes, no } = value;
    return { ...value, type, test, yes: converted(context, node, yes, type), no: converted(context, node, no, type) };
  }
  const isWider = isFloat(type) && (isWholeType(value.type) || value.type === 'fraction' || type === 'f64');
  if (isWider && value.type !== 'bool') return { op: 'convert', type, value };
  // A local whose type is not known yet.
  if (!context.strict && (value.type === 'whole' || value.type === 'fraction')) return { op: 'convert', type, value };
  const { source } = context;
  if (value.op === 'number' && value.type === 'whole' && type !== 'bool') {
    // To write i32(3000000000) would give another number.
    const others = [...(u32(value.value) === value.value ? ['u32(...)'] : []), 'f32(...)'].join(' or ');
    throw source.refusal(
      node,
      `Number (${value.value}) is beyond ${type}, in (${source.wordsOf(node)}): write ${others}`,
    );
  }
  const how = type === 'bool' ? 'compare it with something' : `write ${type}(...)`;
  throw source.refusal(
    node,
    `(${source.wordsOf(node)}) is ${typeInWords(value.type)}, where one of type ${type} is needed: ${how}`,
  );
}

/** What `i32(x)`, `f32(x)` and the like give: any value becomes any type. */
export function cast(value: Expression, type: Exclude<ValueType, 'bool'>): Expression {
  if (value.type === type) return value;
  if (value.op === 'number') {
    if (isFloat(type)) return number(type, value.value);
    const { value: given } = value;
    const bits = value.type === 'f32' || value.type === 'f64' || value.type === 'fraction' ? given : undefined;
    if (type === 'i32') return number(type, bits === undefined ? given | 0 : i32(bits));
    return number(type, bits === undefined ? given >>> 0 : u32(bits));
  }
  if (value.op === 'choice' && (value.type === 'whole' || value.type === 'fraction'))
    return { ...value, type, yes: cast(value.yes, type), no: cast(value.no, type) };
  return { op: 'convert', type, value };
}

/** A whole number for an operator of bits: literals take `type` by their lowest 32 bits. */
export function bits(context: Context, node: Node, value: Expression, type: 'i32' | 'u32'): Expression {
  if (isWholeType(value.type)) return cast(value, type);
  const { source } = context;
  throw source.refusal(
    node,
    `(${source.wordsOf(node)}) is ${typeInWords(value.type)}, and bits are those of whole numbers: write i32(...)`,
  );
}

/** A condition. */
export function condition(context: Context, node: Node, value: Expression): Expression {
  if (value.type === 'bool') return value;
  const { source } = context;
  const words = source.wordsOf(node);
  throw source.refusal(node, `(${words}) is ${typeInWords(value.type)}, not a condition: write (${words}) !== 0`);
}
