import type {
  BlockStatement,
  Expression as ExpressionNode,
  ForStatement,
  Node,
  Statement as StatementNode,
} from 'acorn';
import { CovariumError } from '../covarium-error.ts';
import { assignment, evaluated, update } from './assignments.ts';
import { condition, converted, settledType } from './conversion.ts';
import { declarations, widen } from './declarations.ts';
import { type Context, Scope } from './scope.ts';
import type { Expression, Statement, Variable } from './tree.ts';

/** What messages say of a statement that a kernel can't have. */
const refused: { readonly [type: string]: string } = {
  ForOfStatement: 'A kernel cannot have a for-of loop: write for (let i = 0; i < n; i++)',
  ForInStatement: 'A kernel cannot have a for-in loop: write for (let i = 0; i < n; i++)',
  TryStatement: 'A kernel cannot have a try: nothing is thrown there',
  SwitchStatement: 'A kernel cannot have a switch: write if and else',
  LabeledStatement: 'A kernel cannot have labels',
  FunctionDeclaration: 'A kernel contains no function: give helper functions in `uses`',
  ClassDeclaration: 'A kernel contains no class',
  WithStatement: 'A kernel cannot have a with',
};

/** Statements of a block, in a scope of their own. */
function block(context: Context, scope: Scope, nodes: readonly Node[]): Statement[] {
  return statements(context, new Scope(scope), nodes);
}

/** Statements, in a scope that is there. */
export function statements(context: Context, scope: Scope, nodes: readonly Node[]): Statement[] {
  return nodes.flatMap((node) => {
    try {
      return statement(context, scope, node as StatementNode);
    } catch (error) {
      // What does not fit now may fit once all types are known; the last round throws.
      if (context.strict || !(error instanceof CovariumError)) throw error;
      return [];
    }
  });
}

function statement(context: Context, scope: Scope, node: StatementNode): Statement[] {
  const { source } = context;
  const line = source.lineOf(node);
  const test = (each: ExpressionNode) => condition(context, each, context.value(scope, each));
  switch (node.type) {
    case 'EmptyStatement':
      return [];
    case 'BlockStatement':
      return [{ op: 'block', line, body: block(context, scope, node.body) }];
    case 'VariableDeclaration':
      return declarations(context, scope, node);
    case 'ExpressionStatement':
      return effects(context, scope, node.expression);
    case 'IfStatement': {
      const no = node.alternate ? body(context, scope, node.alternate) : undefined;
      return [{ op: 'if', line, test: test(node.test), yes: body(context, scope, node.consequent), no }];
    }
    case 'ForStatement':
      return [loop(context, scope, node)];
    case 'WhileStatement':
      return [{ op: 'while', line, test: test(node.test), body: body(context, scope, node.body) }];
    case 'DoWhileStatement':
      return [{ op: 'do', line, body: body(context, scope, node.body), test: test(node.test) }];
    case 'BreakStatement':
    case 'ContinueStatement':
      if (node.label) throw source.refusal(node, refused['LabeledStatement']!);
      return [{ op: node.type === 'BreakStatement' ? 'break' : 'continue', line }];
    case 'ReturnStatement':
      return [returned(context, scope, node, line)];
    case 'DebuggerStatement':
      context.note('debug', node);
      return [{ op: 'debugger', line }];
    case 'ThrowStatement':
      throw source.refusal(
        node,
        `A kernel throws nothing: ${context.kernelScope === undefined ? 'give a number' : 'write to an array'} that says what is wrong`,
      );
    default:
      throw source.refusal(node, refused[node.type] ?? `A kernel cannot have a statement (${node.type})`);
  }
}

function body(context: Context, scope: Scope, node: StatementNode): Statement[] {
  return block(context, scope, node.type === 'BlockStatement' ? (node as BlockStatement).body : [node]);
}

/** An expression that stands for itself; minifiers write several, and ifs, as one. */
function effects(context: Context, scope: Scope, node: ExpressionNode): Statement[] {
  const line = context.source.lineOf(node);
  const test = (each: ExpressionNode) => condition(context, each, context.value(scope, each));
  switch (node.type) {
    case 'SequenceExpression':
      return node.expressions.flatMap((each) => effects(context, scope, each));
    case 'AssignmentExpression':
      return [assignment(context, scope, node)];
    case 'UpdateExpression':
      return [update(context, scope, node)];
    case 'ConditionalExpression': {
      const [yes, no] = [effects(context, scope, node.consequent), effects(context, scope, node.alternate)];
      return [{ op: 'if', line, test: test(node.test), yes, no }];
    }
    case 'LogicalExpression': {
      if (node.operator === '??') break;
      const met = test(node.left);
      const yes = effects(context, scope, node.right);
      const isAnd = node.operator === '&&';
      return [
        {
          op: 'if',
          line,
          test: isAnd ? met : { op: 'unary', type: 'bool', operator: '!', value: met },
          yes,
          no: undefined,
        },
      ];
    }
    case 'CallExpression':
      return [evaluated(context, scope, node)];
    default:
      break;
  }
  // A directive, such as 'use strict', which bundlers put there.
  if (node.type === 'Literal' && typeof node.value === 'string') return [];
  throw context.source.refusal(node, 'This statement does nothing');
}

function returned(
  context: Context,
  scope: Scope,
  node: Node & { argument?: ExpressionNode | null },
  line: number,
): Statement {
  const { argument } = node;
  if (!argument) {
    // Known once types are settled: the value may come behind.
    if (context.strict && context.result.type !== undefined)
      throw context.source.refusal(
        node,
        context.source.names === undefined
          ? 'This return gives no value, but another of the function does'
          : 'This return gives no value: write return out',
      );
    return { op: 'return', line, value: undefined };
  }
  if (context.kernelScope !== undefined)
    throw context.source.refusal(node, 'A kernel returns nothing: write its results to an output');
  const value = context.value(scope, argument, true);
  widen(context, argument, context.result, value.type);
  const { type } = context.result;
  return {
    op: 'return',
    line,
    value: context.strict ? converted(context, argument, value, settledType(type!)) : value,
  };
}

function loop(context: Context, outer: Scope, node: ForStatement): Statement {
  const scope = new Scope(outer);
  const { init, test, update: step } = node;
  const begin = !init
    ? []
    : init.type === 'VariableDeclaration'
      ? declarations(context, scope, init)
      : effects(context, scope, init);
  const met = test ? condition(context, test, context.value(scope, test)) : undefined;
  const steps = step ? effects(context, scope, step) : [];
  const line = context.source.lineOf(node);
  // The name of what says that a step is due: reserved before those of the body.
  const name = steps.every(isSimple) ? undefined : scope.printed('started');
  const inner = body(context, scope, node.body);
  if (name !== undefined) return steppedWithin(line, name, begin, met, steps, inner);
  const whole = { op: 'for' as const, line, begin, test: met, step: steps, body: inner };
  return { ...whole, isCounted: isCounted(met, steps, inner) };
}

/** Whether the head of a loop can hold a statement. */
export function isSimple({ op }: Statement): boolean {
  return op === 'declare' || op === 'assign' || op === 'store' || op === 'evaluate';
}

// Steps with a condition, a barrier or a log do not fit into the head of a loop. They begin each round but the first,
// so that `continue` gets there too.
function steppedWithin(
  line: number,
  name: string,
  begin: readonly Statement[],
  test: Expression | undefined,
  steps: readonly Statement[],
  inner: readonly Statement[],
): Statement {
  const variable: Variable = { kind: 'variable', name, type: 'bool', isConstant: false };
  const constant = (value: boolean): Expression => ({ op: 'boolean', type: 'bool', value });
  const first: Statement = { op: 'assign', line, variable, value: constant(true) };
  const all: Statement[] = [
    { op: 'if', line, test: { op: 'variable', type: 'bool', variable }, yes: steps, no: [first] },
  ];
  if (test !== undefined) {
    const ended: Expression = { op: 'unary', type: 'bool', operator: '!', value: test };
    all.push({ op: 'if', line, test: ended, yes: [{ op: 'break', line }], no: undefined });
  }
  const started: Statement = { op: 'declare', line, variable, value: constant(false) };
  const block: Statement = { op: 'block', line, body: inner };
  return {
    ...{ op: 'for', line, begin: [...begin, started], test: undefined, step: [] },
    ...{ body: [...all, block], isCounted: false },
  };
}

/** Whether `i` cannot wrap in `for (...; i < end; i++)`: nothing else in the loop changes it. */
function isCounted(test: Expression | undefined, step: readonly Statement[], inner: readonly Statement[]): boolean {
  const [only] = step;
  if (step.length !== 1 || only?.op !== 'assign' || only.value.op !== 'binary') return false;
  if (test?.op !== 'compare' || test.left.op !== 'variable' || test.left.variable !== only.variable) return false;
  const { operator, left, right } = only.value;
  const isStep =
    left.op === 'variable' && left.variable === only.variable && right.op === 'number' && right.value === 1;
  const isTowards = (test.operator === '<' && operator === '+') || (test.operator === '>' && operator === '-');
  return isStep && isTowards && !assigns(inner, only.variable);
}

function assigns(all: readonly Statement[], variable: Variable): boolean {
  return all.some((each) => {
    switch (each.op) {
      case 'assign':
        return each.variable === variable;
      case 'block':
      case 'while':
      case 'do':
        return assigns(each.body, variable);
      case 'for':
        return assigns([...each.begin, ...each.step, ...each.body], variable);
      case 'if':
        return assigns(each.yes, variable) || (each.no !== undefined && assigns(each.no, variable));
      default:
        return false;
    }
  });
}

/** Whether statements always end in a return. */
export function endsInReturn(all: readonly Statement[]): boolean {
  const last = all.at(-1);
  if (last?.op === 'return') return true;
  if (last?.op === 'block') return endsInReturn(last.body);
  return last?.op === 'if' && last.no !== undefined && endsInReturn(last.yes) && endsInReturn(last.no);
}
