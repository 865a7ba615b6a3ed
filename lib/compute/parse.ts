import {
  type AnyNode,
  type ArrowFunctionExpression,
  type Expression,
  type Function as FunctionNode,
  type Node,
  parse,
} from 'acorn';
import { wrongArgument } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { SourceText } from './source-text.ts';
import type { ValueType, Weak } from './tree.ts';

/** A user's function, parsed. */
export interface Parsed {
  readonly source: SourceText;
  readonly node: FunctionNode | ArrowFunctionExpression;
  /** True if its result is f64, and so are locals that only numbers with a fraction were assigned to. */
  readonly isDouble?: boolean;
  /** Throws `ERR_KERNEL_COMPILE` for a type that its caller cannot use. */
  readonly requireResult?: ((type: ValueType | Weak | undefined) => void) | undefined;
}

/** The most characters of one function. */
const longest = 1 << 18;

/** The deepest nesting: the printers recurse, and so does V8 when it compiles the result. */
const deepest = 1200;

/**
 * Parses the text of a function, which the call has as `argument`. Throws `ERR_INVALID_ARGUMENT` for what is no
 * function, or has no text; `ERR_KERNEL_COMPILE` for one that a kernel can't be.
 */
export function parsed(name: string, given: unknown, argument = 'text', remedy?: string): Parsed {
  if (typeof given !== 'function') throw wrongArgument(`\`${argument}\``, given, 'a function');
  const text = Function.prototype.toString.call(given);
  if (/\{\s*\[native code\]\s*\}\s*$/.test(text))
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `\`${name}\` has no text: it is native, or bound by bind(). Pass the function itself.`,
    );
  requireTextLength(name, text);
  return functionIn(name, text, remedy);
}

/** Throws `ERR_TOO_LARGE` for a text that is too long to read. */
export function requireTextLength(name: string, text: string): void {
  if (text.length > longest)
    throw new CovariumError(
      'ERR_TOO_LARGE',
      `Text of \`${name}\` has (${text.length}) characters; the limit is (${longest}).`,
    );
}

function functionIn(name: string, text: string, remedy?: string): Parsed {
  // The text of a method is not an expression by itself.
  const forms = [
    ['(', ')'],
    ['({', '})'],
  ] as const;
  let first: { at: number; message: string } | undefined;
  for (const [before, after] of forms) {
    try {
      const program = parse(`${before}${text}\n${after}`, { ecmaVersion: 2022, sourceType: 'module' });
      const statement = program.body[0]!;
      const whole = statement.type === 'ExpressionStatement' ? statement.expression : undefined;
      const source = new SourceText(name, text, before.length, { remedy });
      if (program.body.length !== 1) throw source.refusal(program.body[1]!, 'Text goes on behind its last bracket');
      requireShallow(source, statement);
      return { source, node: requireFunction(source, whole) };
    } catch (error) {
      if (error instanceof CovariumError) throw error;
      const { pos = 0, message } = error as SyntaxError & { pos?: number };
      first ??= { at: pos, message: message.replace(/ \(\d+:\d+\)$/, '') };
    }
  }
  throw new SourceText(name, text, 1).refusal({ start: first!.at }, `Text is not understood: ${first!.message}`);
}

/** The nodes directly within a node. */
export function within(node: Node): AnyNode[] {
  const isNode = (value: unknown): value is AnyNode =>
    typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
  return (Object.values(node).flat() as unknown[]).filter(isNode);
}

/** Throws `ERR_KERNEL_COMPILE` for a text whose nodes lie too deep in each other. */
export function requireShallow(source: SourceText, node: Node): void {
  const waiting = [{ node: node as AnyNode, depth: 0 }];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (at.depth > deepest)
      throw source.refusal(at.node, `Text is nested more than (${deepest}) deep: write several statements`);
    // A power is printed as a call, which takes more stack than another operator.
    const isPower = at.node.type === 'BinaryExpression' && at.node.operator === '**';
    for (const inner of within(at.node)) waiting.push({ node: inner, depth: at.depth + (isPower ? 3 : 1) });
  }
}

function requireFunction(source: SourceText, whole: Expression | undefined): Parsed['node'] {
  let node: Node | undefined = whole;
  if (whole?.type === 'ObjectExpression' && whole.properties[0]?.type === 'Property') node = whole.properties[0].value;
  if (node?.type !== 'FunctionExpression' && node?.type !== 'ArrowFunctionExpression')
    throw source.refusal(node ?? { start: 0 }, 'A kernel is a function, not a class or another value');
  const found = node as Parsed['node'];
  if (found.async) throw source.refusal(node, 'A kernel waits for nothing: leave out async');
  if (found.generator) throw source.refusal(node, 'A kernel cannot be a generator: leave out the *');
  return found;
}

/** Parses the statements of a text, as the body of a function whose parameters `names` are. */
export function parsedStatements(name: string, names: readonly string[], body: string): Parsed {
  const { node } = functionIn(name, `(${names.join(', ')}) => {\n${body}\n}`);
  // What the user wrote begins after the line of the parameters.
  return { node, source: new SourceText(name, body, `((${names.join(', ')}) => {\n`.length) };
}
