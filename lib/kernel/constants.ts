import { CovariumError } from '../covarium-error.ts';
import { encode } from './encode.ts';
import { Layouts } from './layout.ts';
import { codeOf, numberOf, replaced } from './source.ts';

/** A function constant of a text, and its value. */
export interface FunctionConstant {
  readonly name: string;
  readonly index: number;
  readonly type: string;
  /** Undefined if no value is given; the text must then test it with is_function_constant_defined. */
  readonly value: Uint8Array | undefined;
  /** The value as a literal of the text. */
  readonly literal: string;
  /** The place of its declaration in the text. */
  readonly span: readonly [begin: number, end: number];
}

/** Values of function constants, by name. */
export type ConstantValues = { readonly [name: string]: number | boolean };

const question = /\bis_function_constant_defined\s*\(\s*(\w+)\s*\)/g;

/**
 * The function constants of a text with their values. Throws `ERR_INVALID_ARGUMENT` if the names differ,
 * `ERR_OUT_OF_RANGE`.
 */
export function constantsOf(text: string, values: ConstantValues): FunctionConstant[] {
  const layouts = new Layouts(text);
  const code = codeOf(text);
  const declaration = /\bconstant\s+(?:const\s+)?(\w+)\s+(\w+)\s*\[\[\s*function_constant\(\s*(\w+)\s*\)\s*\]\]\s*;/g;
  const asked = new Set([...code.matchAll(question)].map(([, name]) => name));
  const all = [...code.matchAll(declaration)].map((match): FunctionConstant => {
    const [whole, type, name, index] = match as unknown as [string, string, string, string];
    const given = Object.hasOwn(values, name) ? values[name] : undefined;
    const at = numberOf(index, text);
    const layout = layouts.of(type);
    if (at === undefined || layout?.count !== 1)
      throw new CovariumError('ERR_UNSUPPORTED', `Function constant (${whole}) is not a number with an index.`);
    if (given === undefined && !asked.has(name))
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Function constant (${name}) has no value: constants has (${Object.keys(values).join(', ')}).`,
      );
    const value = given === undefined ? undefined : new Uint8Array(encode(given, layout, name));
    return {
      name,
      index: at,
      type: layout.scalar!,
      value,
      literal: given === undefined ? `${type}()` : literalOf(Number(given), layout.scalar!),
      span: [match.index, match.index + whole.length],
    };
  });
  const names = new Set(all.map((constant) => constant.name));
  for (const name of Object.keys(values))
    if (!names.has(name))
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Text has no function constant (${name}); it has (${all.map((constant) => constant.name).join(', ')}).`,
      );
  return all;
}

function literalOf(value: number, scalar: string): string {
  if (scalar === 'bool') return value === 0 ? 'false' : 'true';
  if (scalar !== 'float') return value === -(2 ** 31) ? 'int(-2147483647 - 1)' : `${scalar}(${value})`;
  if (Number.isNaN(value)) return 'NAN';
  if (!Number.isFinite(value)) return value < 0 ? '-INFINITY' : 'INFINITY';
  const digits = String(Math.fround(value));
  return `${/[.e]/.test(digits) ? digits : `${digits}.0`}f`;
}

/** The text for a compiler without function constants: each becomes a constant with its value. */
export function withConstants(text: string, constants: readonly FunctionConstant[]): string {
  const filled = replaced(
    text,
    constants.map(({ span: [begin, end], literal }) => {
      const declaration = text
        .slice(begin, end)
        .replace(/\[\[[^\]]*\]\]/, (attribute) => attribute.replace(/[^\n]/g, ' '));
      return { begin, end, by: `${declaration.replace(/\s*;$/, '')} = ${literal};` };
    }),
  );
  const defined = new Map(constants.map(({ name, value }) => [name, value !== undefined]));
  return filled.replace(question, (whole, name: string) => String(defined.get(name) ?? whole));
}
