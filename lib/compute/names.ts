import type {
  CallExpression,
  Expression as ExpressionNode,
  MemberExpression,
  Node,
  PrivateIdentifier,
  Super,
} from 'acorn';
import { converted, isWholeType, settledType, typeInWords } from './conversion.ts';
import type { Context, Meaning, Scope } from './scope.ts';
import { places, threadFunctions } from './thread.ts';
import type { Expression, NumbersInside, ValueType } from './tree.ts';

/** A node that stands where a value may. */
export type ValueNode = ExpressionNode | PrivateIdentifier | Super;

/** Why a name that nothing in the text declares is refused. */
export function outside(context: Context, name: string): string {
  if (/^cov_\w+$|^__coverage__$/.test(name))
    return `The text has the counters of istanbul (${name}): measure coverage with c8 or V8's, which leave functions as they are, or put /* istanbul ignore next */ before the function`;
  if (name === '__name')
    return "The text has esbuild's keepNames (__name): a kernel contains no function; give helper functions in `uses`";
  if (/^stryMutAct_/.test(name))
    return `The text has the switches of Stryker (${name}): leave the file out of mutation`;
  if (typeof context.own.get(name) === 'function') return `(${name}) is a function: call it`;
  if (context.kernelScope !== undefined && (threadFunctions.includes(name) || places.includes(name)))
    return `(${name}) is not among the second parameter's names: write ({ ... }, { ${name} }) => ...`;
  if (name === 'undefined') return 'No value is missing in a kernel: leave out undefined';
  if (name === 'isNaN' || name === 'isFinite')
    return `A kernel cannot use (${name}): write ${name === 'isNaN' ? 'x !== x' : 'Math.abs(x) < Infinity'}`;
  if (name === 'console') return 'Of console, a kernel has log alone: console.log(...)';
  const { names, remedy } = context.source;
  if (names !== undefined) return `(${name}) is not among the names of the text (${names.join(', ')}): ${remedy}`;
  return `(${name}) is outside of the function, and what is outside is not seen: ${remedy}`;
}

/** What `args.name` or `thread.name` means; undefined if the object is something else. */
export function memberMeaning(context: Context, scope: Scope, node: MemberExpression): Meaning | undefined {
  const { object, property } = node;
  if (node.computed || object.type !== 'Identifier' || property.type !== 'Identifier') return undefined;
  const holder = scope.find(object.name);
  if (holder?.kind === 'arguments') {
    const found = holder.members.get(property.name);
    if (found !== undefined) return found;
    throw context.source.refusal(
      property,
      `There is no argument (${property.name}); there are (${[...holder.members.keys()].join(', ')})`,
    );
  }
  if (holder?.kind !== 'thread') return undefined;
  if (places.includes(property.name)) return context.place(property.name);
  if (threadFunctions.includes(property.name)) return { kind: 'thread function', name: property.name };
  throw context.source.refusal(property, `A thread has nothing called (${property.name})`);
}

/** The array that a node names. */
export function numbersOf(context: Context, scope: Scope, node: ValueNode): NumbersInside {
  const { source } = context;
  if (node.type === 'Identifier') {
    const meaning = scope.find(node.name);
    if (meaning?.kind === 'numbers') return meaning;
    if (meaning === undefined) throw source.refusal(node, outside(context, node.name));
  }
  if (node.type === 'MemberExpression') {
    const found = memberMeaning(context, scope, node);
    if (found?.kind === 'numbers') return found;
  }
  // What is outside is named first: cov_1a2b().s is istanbul's.
  let root: Node = node;
  while (root.type === 'MemberExpression' || root.type === 'CallExpression')
    root = root.type === 'MemberExpression' ? (root as MemberExpression).object : (root as CallExpression).callee;
  const { name } = root as Node & { readonly name?: string };
  if (root.type === 'Identifier' && scope.find(name!) === undefined)
    throw source.refusal(root, outside(context, name!));
  throw source.refusal(node, `(${source.wordsOf(node)}) is not an array`);
}

/** The index of an element. */
export function index(context: Context, scope: Scope, node: ValueNode): Expression {
  const value = context.value(scope, node);
  if (!isWholeType(value.type)) {
    const { source } = context;
    throw source.refusal(
      node,
      `Index (${source.wordsOf(node)}) is ${typeInWords(value.type)}, not a whole number: write i32(...)`,
    );
  }
  return value.type === 'whole'
    ? converted(context, node, value, value.op === 'number' && value.value > 2 ** 31 ? 'u32' : 'i32')
    : value;
}

/** The type as which an element is read. */
export function elementType({ element }: NumbersInside): ValueType {
  return element === 'u8' ? 'i32' : element;
}

/** A value, a literal as what it is where nothing decides its type. */
export function settledValue(context: Context, node: Node, value: Expression): Expression {
  return converted(context, node, value, settledType(value.type));
}

/** An element as a value. */
export function elementOf(context: Context, node: Node, numbers: NumbersInside, at: Expression): Expression {
  return { op: 'element', type: elementType(numbers), numbers, index: at, line: context.source.lineOf(node) };
}
