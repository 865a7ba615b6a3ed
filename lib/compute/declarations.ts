import type { CallExpression, Node, VariableDeclaration, VariableDeclarator } from 'acorn';
import { calledBy, scalarNamed } from './calls.ts';
import { converted, joined, settledType, typeInWords } from './conversion.ts';
import type { Context, Scope } from './scope.ts';
import type { Expression, NumbersInside, Statement, ValueType, Variable, Weak } from './tree.ts';

/** The most bytes of an array that a kernel makes. */
const mostBytes = 32_768;

/** A local gets a value of a type: its own grows to hold both. */
export function widen(context: Context, node: Node, variable: Variable, type: ValueType | Weak): void {
  const next = variable.type === undefined ? type : joined(variable.type, type);
  if (next === undefined) {
    const was = typeInWords(variable.type!);
    throw context.source.refusal(
      node,
      `(${context.source.wordsOf(node)}) is ${typeInWords(type)}, but (${variable.name}) is ${was} elsewhere: convert one of them`,
    );
  }
  if (next === variable.type) return;
  variable.type = next;
  context.changed = true;
}

/** Whether a value is the call of a function of `uses` that returns none. */
export function returnsNothing(value: Expression): boolean {
  return value.op === 'own' && value.instance.type === 'void';
}

/** The statements of `let` and `const`. */
export function declarations(context: Context, scope: Scope, node: VariableDeclaration): Statement[] {
  if (node.kind === 'var') throw context.source.refusal(node, 'A kernel cannot have a var: write let or const');
  return node.declarations.map((each) => declaration(context, scope, each, node.kind === 'const'));
}

function declaration(context: Context, scope: Scope, node: VariableDeclarator, isConstant: boolean): Statement {
  const { source } = context;
  const { id, init } = node;
  const line = source.lineOf(node);
  if (id.type !== 'Identifier')
    throw source.refusal(id, 'Only the parameters of a kernel are taken apart by { }: declare names one by one');
  if (init?.type === 'CallExpression') {
    const made = array(context, scope, id.name, id, init, isConstant);
    if (made !== undefined) return { op: 'array', line, numbers: made };
  }
  // Its value may not name it.
  const value = init ? context.value(scope, init, true) : undefined;
  const variable = local(context, scope, id.name, id, isConstant);
  if (value === undefined) {
    if (isConstant) throw source.refusal(id, `(${id.name}) needs a value`);
    return { op: 'declare', line, variable, value };
  }
  if (returnsNothing(value)) throw source.refusal(init!, `(${source.wordsOf(init!)}) returns nothing`);
  widen(context, init!, variable, value.type);
  const fit = context.strict ? converted(context, init!, value, settledType(variable.type!)) : value;
  return { op: 'declare', line, variable, value: fit };
}

function local(context: Context, scope: Scope, wanted: string, id: Node, isConstant: boolean): Variable {
  // The names of each round are the same.
  const name = scope.printed(wanted);
  const known = context.locals.get(id);
  const variable: Variable =
    known?.kind === 'variable' ? known : { kind: 'variable', name, type: undefined, isConstant };
  context.locals.set(id, variable);
  scope.add(wanted, variable);
  return variable;
}

/** The array that `shared(f32, 256)` or `array(f32, 16)` makes; undefined for other calls. */
function array(
  context: Context,
  scope: Scope,
  wanted: string,
  id: Node,
  node: CallExpression,
  isConstant: boolean,
): NumbersInside | undefined {
  const { source } = context;
  const called = calledBy(context, scope, node.callee);
  if (called.kind !== 'thread' || (called.name !== 'shared' && called.name !== 'array')) return undefined;
  if (!isConstant) throw source.refusal(id, `(${wanted}) is an array: declare it by const`);
  const isShared = called.name === 'shared';
  if (isShared && scope !== context.kernelScope)
    throw source.refusal(
      node,
      'Shared memory is declared at the outer level of a kernel, not in a block or a function',
    );
  const [type, length] = node.arguments;
  const element = type === undefined ? undefined : scalarNamed(scope, type);
  if (element === undefined)
    throw source.refusal(
      type ?? node,
      `Function (${called.name}) takes a type and a length: f32, i32, u32, u8, or f64 where it is`,
    );
  const count = length === undefined || length.type === 'SpreadElement' ? undefined : context.value(scope, length);
  const bytes = element === 'u8' ? 1 : element === 'f64' ? 8 : 4;
  if (count?.op !== 'number' || !Number.isInteger(count.value) || count.value < 1 || count.value * bytes > mostBytes)
    throw source.refusal(
      length ?? node,
      `Length of (${wanted}) is a number that is known before the kernel runs, from 1 to ${mostBytes / bytes}: write it, or give it in \`uses\``,
    );
  const name = scope.printed(wanted);
  const known = context.locals.get(id);
  const numbers: NumbersInside =
    known?.kind === 'numbers'
      ? known
      : {
          ...{ kind: 'numbers', name, element, space: isShared ? 'shared' : 'own', isWritten: true },
          ...{ length: count.value, root: { isAtomic: false, lengthName: undefined } },
        };
  context.locals.set(id, numbers);
  scope.add(wanted, numbers);
  if (isShared) context.share(numbers);
  return numbers;
}
