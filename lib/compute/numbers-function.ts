import { type AnyNode, type Node, parse, parseExpressionAt } from 'acorn';
import { CovariumError } from '../covarium-error.ts';
import { isWholeType, typeInWords } from './conversion.ts';
import type { Scalar } from './descriptor.ts';
import { type Parsed, parsed, requireShallow, requireTextLength, within } from './parse.ts';
import { isName, SourceText } from './source-text.ts';
import type { ValueType, Weak } from './tree.ts';

// Functions of numbers, which kernels of ours call: the user's function, or one that is made of a text. Errors name the
// place in what the user wrote, never in our kernel.

const language = { ecmaVersion: 2022, sourceType: 'module', allowReturnOutsideFunction: true } as const;

/** Blanks and comments, with one semicolon among them. */
const blanks = /^(?:\s|\/\/.*|\/\*[\s\S]*?\*\/)*;?(?:\s|\/\/.*|\/\*[\s\S]*?\*\/)*/;

/**
 * The user's function of `count` numbers, which the call has as `argument`; messages name it by that, unless it has a
 * name. Throws `ERR_INVALID_ARGUMENT` for one of another number, and as {@link parsed}.
 */
export function givenFunction(given: unknown, count: number, argument: string, name?: string, remedy?: string): Parsed {
  // What new Function makes is called anonymous.
  const own: unknown = typeof given === 'function' && given.name !== 'anonymous' ? given.name : undefined;
  const shown = name ?? (typeof own === 'string' && isName(own) ? own : argument);
  const all = parsed(shown, given, argument, remedy);
  if (all.node.params.length === count) return all;
  throw new CovariumError(
    'ERR_INVALID_ARGUMENT',
    `Function (${shown}) takes (${all.node.params.length}) arguments; here it gets (${count}).`,
  );
}

/**
 * A function of numbers that a text makes: its value is that of an expression, or what statements assign to `out`. The
 * call has the text as `argument`. Throws `ERR_KERNEL_COMPILE` with the place for what is not understood.
 */
export function textFunction(
  argument: string,
  text: string,
  names: readonly string[],
  form: 'expression' | 'statements',
  remedy: string,
): Parsed {
  requireTextLength(argument, text);
  const list = `(${names.join(', ')}) => `;
  const how = { names: form === 'statements' ? [...names, 'out'] : names, remedy };
  const whole = (before: string, inner: string, after: string): Parsed => {
    const source = new SourceText(argument, text, before.length, how);
    const node = read(source, () => parseExpressionAt(`${before}${inner}${after}`, 0, language));
    requireShallow(source, node);
    return { source, node: node as unknown as Parsed['node'] };
  };
  // By itself first: a text that closes our brackets is not understood.
  const source = new SourceText(argument, text, 0, how);
  if (form === 'statements') {
    const program = read(source, () => parse(text, language));
    if (assigned(program, 'out').length === 0)
      throw source.refusal({ start: 0 }, 'The text gives (out) no value: write out = ...');
    return whole(`${list}{ let out;\n`, text, '\n;return out; }');
  }
  if (text.trim() === '') throw source.refusal({ start: 0 }, 'The text is empty: write an expression');
  const node = read(source, () => parseExpressionAt(text, 0, { ...language, preserveParens: true }));
  const rest = blanks.exec(text.slice(node.end))![0].length;
  const next = node.type === 'SequenceExpression' ? node.expressions[1]!.start : node.end + rest;
  if (next < text.length) throw source.refusal({ start: next }, 'The text is one expression, and goes on behind it');
  return whole(`${list}(\n`, text.slice(0, node.end), '\n)');
}

function read<T>(source: SourceText, parsing: () => T): T {
  try {
    return parsing();
  } catch (error) {
    const { pos = 0, message } = error as SyntaxError & { pos?: number };
    const why = source.isBehind(pos) ? 'It ends too soon' : message.replace(/ \(\d+:\d+\)$/, '');
    throw source.refusal({ start: pos }, `Text is not understood: ${why}`);
  }
}

/** A function whose value becomes an element of a type, or, if that is undefined, any number. */
export function withResult(all: Parsed, type: Scalar | undefined): Parsed {
  const { source } = all;
  return {
    ...all,
    isDouble: type?.scalar === 'f64',
    requireResult: (found) => {
      if (found === undefined) throw source.refusal(all.node, 'It gives no value: write return ...');
      if (fits(found, type)) return;
      const at = resultNode(all);
      const wanted = type?.scalar === 'u8' ? 'i32' : (type?.scalar ?? 'f32');
      throw source.refusal(
        at,
        `(${source.wordsOf(at)}) is ${typeInWords(found)}, but the result is ${type?.scalar ?? 'a number'}: write ${wanted}(...)`,
      );
    },
  };
}

// Whole numbers become floats, and bytes take the lowest bits of whole numbers.
function fits(found: ValueType | Weak, type: Scalar | undefined): boolean {
  if (found === 'bool' || type === undefined) return found !== 'bool';
  if (type.scalar === 'u8') return isWholeType(found);
  if (found === type.scalar || type.scalar === 'f64') return true;
  return type.scalar === 'f32' ? isWholeType(found) : false;
}

/** Where the user wrote the value of a function. */
function resultNode({ source, node }: Parsed): Node {
  if (node.body.type !== 'BlockStatement') return node.body;
  const all = [...assigned(node.body, 'out'), ...returned(node.body)].filter((each) => source.holds(each));
  return all.at(-1) ?? node;
}

/** What is assigned to a name. */
function assigned(node: Node, name: string): Node[] {
  return all(node).flatMap((each) => {
    const target = each.type === 'AssignmentExpression' ? each.left : each.type === 'UpdateExpression' && each.argument;
    if (target === false || target.type !== 'Identifier' || target.name !== name) return [];
    return [each.type === 'AssignmentExpression' && each.operator === '=' ? each.right : each];
  });
}

function returned(node: Node): Node[] {
  return all(node).flatMap((each) => (each.type === 'ReturnStatement' && each.argument ? [each.argument] : []));
}

/** A node and all within it, in the order of the text. */
function all(node: Node): AnyNode[] {
  const found = [node];
  // Not push(...within(each)): a text may have more nodes side by side than a call takes arguments.
  for (let i = 0; i < found.length; i++) for (const inner of within(found[i]!)) found.push(inner);
  return found.sort((a, b) => a.start - b.start) as AnyNode[];
}
