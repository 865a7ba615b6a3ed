import type { AssignmentExpression, CallExpression, Expression as ExpressionNode, Node, UpdateExpression } from 'acorn';
import { calledBy } from './calls.ts';
import { cast, converted, isWholeType, literal, settledType, typeInWords } from './conversion.ts';
import { returnsNothing, widen } from './declarations.ts';
import { elementOf, index, memberMeaning, numbersOf, outside, settledValue } from './names.ts';
import { binary } from './operators.ts';
import { type Context, Scope } from './scope.ts';
import type { Expression, NumbersInside, Statement, Variable } from './tree.ts';

type Target =
  | { readonly kind: 'variable'; readonly variable: Variable }
  | { readonly kind: 'element'; readonly numbers: NumbersInside; readonly index: Expression };

function targetOf(context: Context, scope: Scope, node: Node): Target {
  const { source } = context;
  const place = node as ExpressionNode;
  if (place.type === 'Identifier') {
    const meaning = scope.find(place.name);
    if (meaning === undefined) throw source.refusal(node, outside(context, place.name));
    if (meaning.kind === 'variable' && !meaning.isConstant) return { kind: 'variable', variable: meaning };
    const why =
      meaning.kind === 'numbers' ? 'is an array: assign to its elements' : 'is constant: declare a local by let';
    throw source.refusal(node, `(${place.name}) ${why}`);
  }
  if (place.type === 'MemberExpression' && place.computed) {
    const numbers = numbersOf(context, scope, place.object);
    if (numbers.isWritten) {
      if (numbers.space !== 'own') context.effect();
      return { kind: 'element', numbers, index: index(context, scope, place.property) };
    }
    throw source.refusal(
      node,
      `(${source.wordsOf(place.object)}) is an input, which is only read: make it an output(...)`,
    );
  }
  if (place.type === 'MemberExpression' && memberMeaning(context, scope, place) !== undefined)
    throw source.refusal(node, `(${source.wordsOf(node)}) is constant: declare a local by let`);
  throw source.refusal(node, `(${source.wordsOf(node)}) is nothing that a kernel assigns to: locals and elements are`);
}

function valueAt(context: Context, node: Node, target: Target): Expression {
  if (target.kind === 'element') return elementOf(context, node, target.numbers, target.index);
  const { variable } = target;
  return { op: 'variable', type: variable.type ?? 'whole', variable };
}

function put(context: Context, node: Node, target: Target, value: Expression): Statement {
  const { source } = context;
  const line = source.lineOf(node);
  if (returnsNothing(value)) throw source.refusal(node, `(${source.wordsOf(node)}) returns nothing`);
  if (target.kind === 'variable') {
    const { variable } = target;
    widen(context, node, variable, value.type);
    const fit = context.strict ? converted(context, node, value, settledType(variable.type!)) : value;
    return { op: 'assign', line, variable, value: fit };
  }
  const { numbers } = target;
  return { op: 'store', line, numbers, index: target.index, value: stored(context, node, numbers, value) };
}

// A byte takes the lowest bits of any whole number; other elements take their own type.
function stored(context: Context, node: Node, { element, name }: NumbersInside, value: Expression): Expression {
  if (element === 'u8' && isWholeType(value.type)) return value.type === 'whole' ? cast(value, 'i32') : value;
  if (element !== 'u8' && (value.type === 'whole' || value.type === 'fraction' || value.type === element))
    return converted(context, node, value, element);
  const wanted = element === 'u8' ? 'i32' : element;
  if (element === 'f64' || (element === 'f32' && isWholeType(value.type)))
    return converted(context, node, value, element);
  const { source } = context;
  throw source.refusal(
    node,
    `(${source.wordsOf(node)}) is ${typeInWords(value.type)}, but the elements of (${name}) are ${element}: write ${wanted}(...)`,
  );
}

/** `x = value`, `x += value` and the like, and the same for elements. */
export function assignment(context: Context, scope: Scope, node: AssignmentExpression): Statement {
  const { source } = context;
  const { left, right } = node;
  if (right.type === 'AssignmentExpression' || right.type === 'UpdateExpression')
    throw source.refusal(right, 'An assignment is a statement of its own in a kernel');
  const target = targetOf(context, scope, left);
  const line = source.lineOf(node);
  if (node.operator === '=') {
    const value = context.value(scope, right, target.kind === 'variable');
    return once(scope, line, target, [value], (place) => put(context, right, place, value));
  }
  const operator = node.operator.slice(0, -1);
  if (['&&', '||', '??'].includes(operator))
    throw source.refusal(node, `(${node.operator}) is not an operator that kernels have: write x = x ${operator} y`);
  const value = context.value(scope, right);
  return once(scope, line, target, [value], (place) =>
    put(context, node, place, binary(context, node, operator, valueAt(context, left, place), value)),
  );
}

/** `x++` and `x--`. */
export function update(context: Context, scope: Scope, node: UpdateExpression): Statement {
  const target = targetOf(context, scope, node.argument);
  return once(scope, context.source.lineOf(node), target, [], (place) => {
    const value = binary(context, node, node.operator[0]!, valueAt(context, node.argument, place), literal(1));
    return put(context, node, place, value);
  });
}

// As in JavaScript an index is computed once, and before the value, which matters where a function changes an array of
// the thread's own: a[next(state)] += 1. C++ computes the value first.
function once(
  scope: Scope,
  line: number,
  target: Target,
  values: readonly Expression[],
  putTo: (target: Target) => Statement,
): Statement {
  if (target.kind === 'variable' || target.index.op === 'number' || target.index.op === 'variable')
    return putTo(target);
  const { index } = target;
  if (![index, ...values].some(changesOwn)) return putTo(target);
  const type = settledType(index.type);
  const variable: Variable = { kind: 'variable', name: new Scope(scope).printed('element_at'), type, isConstant: true };
  const store = putTo({ ...target, index: { op: 'variable', type, variable } });
  return { op: 'block', line, body: [{ op: 'declare', line, variable, value: index }, store] };
}

/** Whether a function that a value calls gets an array of the thread's own, which it may change. */
function changesOwn(value: Expression | NumbersInside): boolean {
  if (!('op' in value)) return value.space === 'own';
  switch (value.op) {
    case 'own':
    case 'call':
      return value.values.some(changesOwn);
    case 'element':
      return changesOwn(value.index);
    case 'unary':
    case 'convert':
      return changesOwn(value.value);
    case 'binary':
    case 'compare':
    case 'logical':
      return changesOwn(value.left) || changesOwn(value.right);
    case 'choice':
      return changesOwn(value.test) || changesOwn(value.yes) || changesOwn(value.no);
    default:
      return false;
  }
}

/** A call that stands for itself: a barrier, an atomic function, console.log, or a function of `uses`. */
export function evaluated(context: Context, scope: Scope, node: CallExpression): Statement {
  const { source } = context;
  const line = source.lineOf(node);
  const called = calledBy(context, scope, node.callee);
  if (called.kind === 'thread' && called.name === 'barrier') {
    if (context.kernelScope === undefined)
      throw source.refusal(node, 'A barrier stands in the function of `device.compute` alone');
    if (node.arguments.length > 0) throw source.refusal(node, 'A barrier takes no arguments');
    context.note('barrier', node);
    return { op: 'barrier', line };
  }
  if (called.kind === 'log') {
    context.note('debug', node);
    const values = (node.arguments as ExpressionNode[]).map((each): Expression | string =>
      each.type === 'Literal' && typeof each.value === 'string'
        ? each.value
        : settledValue(context, each, context.value(scope, each)),
    );
    return { op: 'log', line, values };
  }
  const value = context.value(scope, node, true);
  if (value.op === 'atomic' || value.op === 'own') return { op: 'evaluate', line, value };
  throw source.refusal(node, 'This statement does nothing');
}
