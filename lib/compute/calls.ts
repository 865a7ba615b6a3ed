import type { CallExpression, Expression as ExpressionNode, Node, SpreadElement, Super } from 'acorn';
import { bits, cast, converted, isWholeType, joined, literal, settledType, typeInWords } from './conversion.ts';
import type { ScalarName } from './descriptor.ts';
import { isFloat, mathFunctions } from './mathematics.ts';
import { elementType, index, memberMeaning, numbersOf, outside, settledValue } from './names.ts';
import { truncated, wholeQuotient } from './operators.ts';
import type { Context, Scope } from './scope.ts';
import type { Expression, NumbersInside, ValueType } from './tree.ts';

type Callee = ExpressionNode | Super;

/** What a call calls. */
export type Called =
  | { readonly kind: 'math' | 'thread' | 'own'; readonly name: string }
  | { readonly kind: 'scalar'; readonly name: ScalarName }
  | { readonly kind: 'log' };

const scalarNames: readonly string[] = ['f32', 'f64', 'i32', 'u32', 'u8'];

/** The number type that a node names: bundlers write `lib.f32`, `(0, lib.f32)`, or `f322` where names meet. */
export function scalarNamed(scope: Scope, node: Callee | SpreadElement): ScalarName | undefined {
  if (node.type === 'SequenceExpression') return scalarNamed(scope, node.expressions.at(-1)!);
  if (node.type === 'MemberExpression' && !node.computed && node.object.type === 'Identifier')
    return scope.find(node.object.name) === undefined && node.property.type === 'Identifier'
      ? asScalar(node.property.name)
      : undefined;
  if (node.type !== 'Identifier' || scope.find(node.name) !== undefined) return undefined;
  return asScalar(node.name) ?? asScalar(node.name.slice(0, -1));
}

function asScalar(name: string): ScalarName | undefined {
  return scalarNames.includes(name) ? (name as ScalarName) : undefined;
}

/** What a node calls. Refuses what a kernel can't call. */
export function calledBy(context: Context, scope: Scope, node: Callee): Called {
  const { source } = context;
  if (node.type === 'SequenceExpression') return calledBy(context, scope, node.expressions.at(-1)!);
  if (node.type === 'MemberExpression') {
    const property = node.property.type === 'Identifier' && !node.computed ? node.property.name : '';
    if (node.object.type === 'Identifier' && scope.find(node.object.name) === undefined) {
      if (node.object.name === 'Math' && property !== '') return { kind: 'math', name: property };
      if (node.object.name === 'console' && property === 'log') return { kind: 'log' };
    }
    const found = memberMeaning(context, scope, node);
    if (found?.kind === 'thread function') return { kind: 'thread', name: found.name };
  }
  if (node.type === 'Identifier') {
    const meaning = scope.find(node.name);
    if (meaning?.kind === 'thread function') return { kind: 'thread', name: meaning.name };
    if (meaning === undefined && typeof context.own.get(node.name) === 'function')
      return { kind: 'own', name: node.name };
  }
  const scalar = scalarNamed(scope, node);
  if (scalar !== undefined) return { kind: 'scalar', name: scalar };
  if (node.type === 'Identifier' && scope.find(node.name) === undefined)
    throw source.refusal(node, outside(context, node.name));
  throw source.refusal(
    node,
    `(${source.wordsOf(node)}) is not a function that a kernel has: Math's, the thread's, and those of \`uses\` are`,
  );
}

/** The value of a call. */
export function call(context: Context, scope: Scope, node: CallExpression, alone: boolean): Expression {
  const { source } = context;
  const called = calledBy(context, scope, node.callee);
  const spread = node.arguments.find(({ type }) => type === 'SpreadElement');
  if (spread !== undefined) throw source.refusal(spread, 'A kernel spreads nothing: write the arguments one by one');
  const nodes = node.arguments as ExpressionNode[];
  const values = () => nodes.map((each) => context.value(scope, each));
  switch (called.kind) {
    case 'math':
      return mathematics(context, node, called.name, values());
    case 'scalar': {
      requireCount(context, node, nodes.length, 1);
      const value = values()[0]!;
      if (called.name === 'u8')
        throw source.refusal(node, 'Bytes are elements of arrays alone: write i32(...), or & 255');
      return called.name === 'i32' ? truncated(context, node, value) : cast(value, called.name);
    }
    case 'own':
      return own(context, scope, node, called.name, alone);
    case 'log':
      throw source.refusal(node, 'A console.log is a statement of its own');
    default:
      if (called.name === 'fma') return fma(context, node, values());
      if (called.name.startsWith('atomic')) return atomic(context, scope, node, called.name, alone);
      throw source.refusal(
        node,
        called.name === 'barrier'
          ? 'A barrier is a statement of its own'
          : `An array is made by a statement of its own: const name = ${called.name}(f32, 16)`,
      );
  }
}

function requireCount(context: Context, node: Node, count: number, wanted: number): void {
  if (count === wanted) return;
  const { source } = context;
  throw source.refusal(node, `(${source.wordsOf(node)}) has (${count}) arguments, not (${wanted})`);
}

function mathematics(context: Context, node: CallExpression, name: string, values: readonly Expression[]): Expression {
  const { source } = context;
  const at = (i: number) => node.arguments[i] as ExpressionNode;
  values.forEach((value, i) => {
    if (value.type === 'bool')
      throw source.refusal(at(i), `(${source.wordsOf(at(i))}) is ${typeInWords('bool')}, where Math takes numbers`);
  });
  if (name === 'imul' || name === 'clz32') {
    requireCount(context, node, values.length, name === 'imul' ? 2 : 1);
    const all = values.map((value, i) => bits(context, at(i), value, name === 'imul' ? 'i32' : 'u32'));
    if (name === 'imul') return { op: 'binary', type: 'i32', operator: '*', left: all[0]!, right: all[1]! };
    return { op: 'call', type: 'i32', name, values: all };
  }
  if (name === 'fround') {
    requireCount(context, node, values.length, 1);
    return cast(values[0]!, 'f32');
  }
  const known = mathFunctions.get(name);
  if (known === undefined)
    throw source.refusal(
      node,
      name === 'random'
        ? 'A kernel cannot use Math.random: give it numbers of the normal stream, or hash the position'
        : `Not every device has Math.${name}; all have (${[...mathFunctions.keys()].join(', ')}, fround, imul, clz32)`,
    );
  if (known.count !== 'many') requireCount(context, node, values.length, known.count);
  else if (values.length === 0) requireCount(context, node, 0, 1);
  const literals = values.flatMap((value) => (value.op === 'number' ? [value.value] : []));
  if (literals.length === values.length && values.every(({ type }) => type === 'whole' || type === 'fraction')) {
    const value = (Math as unknown as { readonly [name: string]: (...all: number[]) => number })[name]!(...literals);
    return literal(value, known.whole === 'f32' || values.some(({ type }) => type === 'fraction'));
  }
  if (name === 'trunc' || name === 'floor') {
    const quotient = wholeQuotient(context, node, values[0]!, name === 'trunc' ? 'quotient' : 'floorQuotient');
    if (quotient !== undefined) return quotient;
  }
  let common: Expression['type'] = values[0]!.type;
  for (const value of values) {
    const next = joined(common, value.type);
    if (next === undefined)
      throw source.refusal(node, 'An i32 meets a u32: convert one of them, by i32(...) or u32(...)');
    common = next;
  }
  const isWholeCall = isWholeType(common) && known.whole === 'stays';
  const type: ValueType = isWholeCall || isFloat(common) ? settledType(common) : 'f32';
  const all = values.map((value, i) => converted(context, at(i), value, type));
  // A whole number has no fraction to round.
  if (isWholeCall && ['floor', 'ceil', 'trunc', 'round'].includes(name)) return all[0]!;
  return { op: 'call', type, name, values: all };
}

function fma(context: Context, node: CallExpression, values: readonly Expression[]): Expression {
  requireCount(context, node, values.length, 3);
  const all = values.map((value, i) => converted(context, node.arguments[i] as ExpressionNode, value, 'f32'));
  return { op: 'call', type: 'f32', name: 'fma', values: all };
}

function atomic(context: Context, scope: Scope, node: CallExpression, name: string, alone: boolean): Expression {
  const { source } = context;
  if (!alone)
    throw source.refusal(
      node,
      `Function (${name}) changes something: write const before = ${name}(...), or a statement of its own`,
    );
  requireCount(context, node, node.arguments.length, 3);
  const [array, at, value] = node.arguments as [ExpressionNode, ExpressionNode, ExpressionNode];
  const numbers = numbersOf(context, scope, array);
  const { element } = numbers;
  if (!numbers.isWritten || numbers.space === 'own' || (element !== 'i32' && element !== 'u32'))
    throw source.refusal(
      array,
      `Function (${name}) takes an array of i32 or u32 that is an output or shared, not (${source.wordsOf(array)})`,
    );
  numbers.root.isAtomic = true;
  context.effect();
  return {
    ...{ op: 'atomic', type: elementType(numbers), name, numbers, line: source.lineOf(node) },
    index: index(context, scope, at),
    value: converted(context, value, context.value(scope, value), element),
  };
}

function own(context: Context, scope: Scope, node: CallExpression, name: string, alone: boolean): Expression {
  const { source } = context;
  const values = node.arguments.map((each): Expression | NumbersInside => {
    const argument = each as ExpressionNode;
    const isArray =
      (argument.type === 'Identifier' && scope.find(argument.name)?.kind === 'numbers') ||
      (argument.type === 'MemberExpression' && memberMeaning(context, scope, argument)?.kind === 'numbers');
    return isArray
      ? numbersOf(context, scope, argument)
      : settledValue(context, argument, context.value(scope, argument));
  });
  const types = values.map((value) => ('op' in value ? settledType(value.type) : value));
  const instance = context.call(node, name, types);
  if (instance.hasEffect) {
    context.effect();
    if (!alone)
      throw source.refusal(
        node,
        `(${name}) writes to an array: call it in a statement of its own, or as const x = ${name}(...)`,
      );
  }
  if (instance.type === 'void' && !alone) throw source.refusal(node, `(${source.wordsOf(node)}) returns nothing`);
  return { op: 'own', type: instance.type === 'void' ? 'i32' : instance.type, instance, values };
}
