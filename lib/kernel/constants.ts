import { CovariumError } from '../covarium-error.ts';
import type { Declaration, Range, Source } from './declarations.ts';
import { encode } from './encode.ts';
import { evaluate } from './expression.ts';
import { plainLayout } from './layout.ts';
import { reachable } from './reachable.ts';
import { errorAt } from './tokens.ts';

/** A function constant of a text, and its value. */
export interface FunctionConstant {
  readonly name: string;
  readonly index: number;
  readonly type: string;
  /** Undefined if no value is given; no kernel may then need it. */
  readonly value: Uint8Array | undefined;
  /** The value as a literal of the text. */
  readonly literal: string;
  readonly declaration: Declaration;
  /** The index of its name. */
  readonly nameAt: number;
}

/** Values of function constants, by name; a long or a ulong takes a bigint, too. */
export type ConstantValues = { readonly [name: string]: number | bigint | boolean };

/**
 * The function constants of a text with their values. `roots` are the kernels: what they do not use needs no value.
 * Throws `ERR_INVALID_ARGUMENT` if the names differ, `ERR_OUT_OF_RANGE`.
 */
export function constantsOf(source: Source, roots: readonly Range[], values: ConstantValues): FunctionConstant[] {
  const declared = source.declarations.flatMap((declaration) => {
    const attribute = declaration.attributes.find(([begin]) => source.text(begin) === 'function_constant');
    return declaration.kind === 'variable' && attribute !== undefined ? [{ declaration, attribute }] : [];
  });
  const kept = declared.length === 0 ? new Set<Declaration>() : reachable(source, roots);
  const asked = new Set<string>();
  source.tokens.forEach(({ text }, at) => {
    if (text === 'is_function_constant_defined') asked.add(source.text(at + 2));
  });
  const all = declared.map(({ declaration, attribute }): FunctionConstant => {
    const { nameAt, begin } = declaration;
    const name = source.text(nameAt);
    const given = Object.hasOwn(values, name) ? values[name] : undefined;
    const type = source.text(nameAt - 1);
    const index = source.valueOf(attribute[0] + 2, attribute[1] - 1);
    const layout = plainLayout(type);
    if (given === undefined && !kept.has(declaration))
      return { name, index: Number(index ?? -1n), type, value: undefined, literal: `${type}()`, declaration, nameAt };
    if (index === undefined || layout?.count !== 1)
      throw errorAt(source.tokens[begin]!, `Function constant (${name}) is not a number with an index`);
    if (given === undefined && !asked.has(name))
      throw errorAt(
        source.tokens[nameAt]!,
        `Function constant (${name}) has no value: constants has (${Object.keys(values).join(', ')})`,
        'ERR_INVALID_ARGUMENT',
      );
    return {
      name,
      index: Number(index),
      type: layout.scalar!,
      value: given === undefined ? undefined : new Uint8Array(encode(given, layout, `constants.${name}`)),
      literal: given === undefined ? `${type}()` : literalOf(given, layout.scalar!),
      declaration,
      nameAt,
    };
  });
  const names = new Set(all.map((constant) => constant.name));
  for (const name of Object.keys(values))
    if (!names.has(name))
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `\`constants\` has (${name}), but the text has function constants (${all.map((constant) => constant.name).join(', ')}).`,
      );
  return all;
}

/** Constants that are defined by each other. */
const deepest = 20;

/**
 * True unless a constant is false: a function constant by its value, another by those in its initial value. One without
 * a value may be true.
 */
export function constantHolds(source: Source, values: ConstantValues, name: string): boolean {
  const numberOf = (named: string, depth: number): bigint | undefined => {
    if (Object.hasOwn(values, named)) {
      const given = Number(values[named]);
      return BigInt(Number.isInteger(given) ? given : given !== 0);
    }
    for (const { kind, begin, end } of depth > deepest ? [] : source.named(named)) {
      const initial = kind === 'variable' ? source.initialOf(named, [begin, end]) : undefined;
      if (initial !== undefined)
        return evaluate(source.tokens.slice(...initial), (inner) => numberOf(inner, depth + 1));
    }
    return undefined;
  };
  return numberOf(name, 0) !== 0n;
}

function literalOf(given: number | bigint | boolean, scalar: string): string {
  const value = Number(given);
  if (scalar === 'bool') return value === 0 ? 'false' : 'true';
  // The bits of a negative number, too.
  if (/long$/.test(scalar)) return `${scalar}(${BigInt.asUintN(64, BigInt(given))}ul)`;
  if (!/^(?:float|half|bfloat)$/.test(scalar))
    return value === -(2 ** 31) ? 'int(-2147483647 - 1)' : `${scalar}(${value})`;
  if (Number.isNaN(value)) return 'NAN';
  if (!Number.isFinite(value)) return value < 0 ? '-INFINITY' : 'INFINITY';
  if (Object.is(value, -0)) return '-0.0f';
  const digits = String(Math.fround(value));
  return `${/[.e]/.test(digits) ? digits : `${digits}.0`}f`;
}
