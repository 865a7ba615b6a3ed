import type { MemberExpression, Node } from 'acorn';
import { call } from './calls.ts';
import { commonType, condition, converted, literal } from './conversion.ts';
import { mathConstants } from './mathematics.ts';
import { elementOf, index, memberMeaning, numbersOf, outside, type ValueNode } from './names.ts';
import { binary, unary } from './operators.ts';
import type { Context, Meaning, Scope } from './scope.ts';
import type { Expression, Variable } from './tree.ts';

/** What messages say of a node that a kernel can't have. */
const refused: { readonly [type: string]: string } = {
  TemplateLiteral: 'A kernel cannot use strings',
  TaggedTemplateExpression: 'A kernel cannot use strings',
  ObjectExpression: 'A kernel cannot use objects: use numbers, and arrays that are arguments',
  ArrayExpression: 'An array is made by array(f32, 16) or shared(f32, 16), and filled by its elements',
  NewExpression: 'Objects are not made in a kernel: an array is made by array(f32, 16) or shared(f32, 16)',
  FunctionExpression: 'A kernel contains no function: give helper functions in `uses`',
  ArrowFunctionExpression: 'A kernel contains no function: give helper functions in `uses`',
  ClassExpression: 'A kernel contains no class',
  ThisExpression: 'A kernel has no this: give what it needs as an argument',
  AwaitExpression: 'A kernel waits for nothing but a barrier: leave out await',
  YieldExpression: 'A kernel cannot be a generator: leave out yield',
  AssignmentExpression: 'An assignment is a statement of its own in a kernel',
  UpdateExpression: 'Operators ++ and -- are statements of their own in a kernel',
  SequenceExpression: 'A kernel cannot have a comma between values: write statements',
  ChainExpression: 'No value is missing in a kernel: leave out ?.',
  ImportExpression: 'A kernel imports nothing: give helper functions in `uses`',
  MetaProperty: 'A kernel knows nothing of its module',
};

/** The value of a node. `alone`: it is the whole of a statement's right side, where functions may have effects. */
export function expression(context: Context, scope: Scope, node: ValueNode, alone = false): Expression {
  const { source } = context;
  const inner = (each: ValueNode) => expression(context, scope, each);
  switch (node.type) {
    case 'Literal':
      if (typeof node.value === 'number') return literal(node.value);
      if (typeof node.value === 'boolean') return { op: 'boolean', type: 'bool', value: node.value };
      if (typeof node.value === 'string') throw source.refusal(node, 'A kernel cannot use strings');
      if (typeof node.value === 'bigint')
        throw source.refusal(node, 'Whole numbers of a kernel have 32 bits: leave out the n');
      throw source.refusal(node, `A kernel cannot use (${source.wordsOf(node)})`);
    case 'Identifier':
      return named(context, scope, node);
    case 'MemberExpression':
      return member(context, scope, node);
    case 'ParenthesizedExpression':
      return expression(context, scope, node.expression, alone);
    case 'UnaryExpression':
      return unary(context, node, node.operator, inner(node.argument));
    case 'BinaryExpression':
      return binary(context, node, node.operator, inner(node.left), inner(node.right));
    case 'LogicalExpression': {
      if (node.operator === '??') throw source.refusal(node, 'No value is missing in a kernel: leave out ??');
      const [left, right] = [
        condition(context, node.left, inner(node.left)),
        condition(context, node.right, inner(node.right)),
      ];
      return { op: 'logical', type: 'bool', operator: node.operator, left, right };
    }
    case 'ConditionalExpression': {
      const test = condition(context, node.test, inner(node.test));
      return choice(context, node, test, inner(node.consequent), inner(node.alternate));
    }
    case 'CallExpression':
      return call(context, scope, node, alone);
    case 'ArrayExpression':
    case 'NewExpression':
      if (context.kernelScope === undefined)
        throw source.refusal(node, 'A function of numbers makes no array or object');
      throw source.refusal(node, refused[node.type]!);
    default:
      throw source.refusal(node, refused[node.type] ?? `A kernel cannot have a node (${node.type})`);
  }
}

function choice(context: Context, node: Node, test: Expression, yes: Expression, no: Expression): Expression {
  const type = commonType(context, node, yes, no);
  const settle = (value: Expression) =>
    type === 'whole' || type === 'fraction' ? value : converted(context, node, value, type);
  return { op: 'choice', type, test, yes: settle(yes), no: settle(no) };
}

function named(context: Context, scope: Scope, node: { readonly name: string } & Node): Expression {
  const { name } = node;
  const { source } = context;
  const meaning = scope.find(name);
  if (meaning !== undefined) return meaningValue(context, node, meaning);
  if (name === 'NaN' || name === 'Infinity') return literal(name === 'NaN' ? Number.NaN : Number.POSITIVE_INFINITY);
  const given = context.own.get(name);
  if (typeof given === 'number') return literal(given);
  throw source.refusal(node, outside(context, name));
}

function meaningValue(context: Context, node: Node, meaning: Meaning): Expression {
  if (meaning.kind === 'variable') return variableValue(meaning);
  const what = {
    numbers: 'is an array: use its elements, as in a[i]',
    arguments: 'holds all arguments: use them by name',
    thread: 'is the thread: use its names, as in thread.x',
    'thread function': 'is a function: call it',
  }[meaning.kind];
  throw context.source.refusal(node, `(${context.source.wordsOf(node)}) ${what}`);
}

function variableValue(variable: Variable): Expression {
  // Before the first assignment is seen, its type will be that of a literal.
  return { op: 'variable', type: variable.type ?? 'whole', variable };
}

function member(context: Context, scope: Scope, node: MemberExpression): Expression {
  const { source } = context;
  if (node.computed) {
    const numbers = numbersOf(context, scope, node.object);
    return elementOf(context, node, numbers, index(context, scope, node.property));
  }
  const property = node.property.type === 'Identifier' ? node.property.name : '';
  const { object } = node;
  if (object.type === 'Identifier' && object.name === 'Math' && scope.find('Math') === undefined) {
    const constant = mathConstants.get(property);
    if (constant !== undefined) return literal(constant, true);
    throw source.refusal(node, `Math.${property} is a function, or nothing that a kernel has`);
  }
  const found = memberMeaning(context, scope, node);
  if (found !== undefined) return meaningValue(context, node, found);
  if (property === 'length') {
    const numbers = numbersOf(context, scope, object);
    if (numbers.space !== 'device') return { op: 'number', type: 'i32', value: numbers.length };
    context.lengthOf(node, numbers);
    return { op: 'length', type: 'i32', numbers };
  }
  if (object.type === 'ThisExpression') throw source.refusal(object, refused['ThisExpression']!);
  if (object.type === 'Identifier' && scope.find(object.name) === undefined)
    throw source.refusal(node, outside(context, object.name));
  throw source.refusal(node, `A kernel cannot use (${source.wordsOf(node)}): arrays have elements and a length`);
}
