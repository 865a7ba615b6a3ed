import type { Range, Source } from '../declarations.ts';
import type { Edits } from '../tokens.ts';

// In MSL a shift takes the low bits of its amount, and a division by zero gives some number. In C++ both are undefined:
// a vectorised shift gives 0, a division ends the process. So what stands behind such a mark becomes an operand of
// its own type, whose operators (operands.h) do what MSL says.

const shifts: ReadonlySet<string> = new Set(['<<', '>>', '<<=', '>>=']);
const divisions: ReadonlySet<string> = new Set(['/', '%', '/=', '%=']);
const factors: ReadonlySet<string> = new Set(['*', '/', '%']);
const prefixes: ReadonlySet<string> = new Set(['+', '-', '!', '~', '*', '&', '++', '--']);
const types =
  /^(?:const|unsigned|signed|(?:packed_)?(?:bool|char|uchar|short|ushort|int|uint|long|ulong|float|half|bfloat)[234]?|u?int(?:8|16|32|64)_t|size_t)$/;

/** Wraps the right operands of divisions and shifts between two tokens, which are the body of a function. */
export function wrapOperands(source: Source, [begin, end]: Range, edits: Edits): void {
  const closers = templateClosers(source, begin, end);
  for (let at = begin; at < end; at++) {
    const { kind, text } = source.tokens[at]!;
    if (kind !== 'mark' || closers.has(at)) continue;
    const isShift = shifts.has(text);
    if (!isShift && !divisions.has(text)) continue;
    if (source.text(at - 1) === 'operator') continue;
    const isAssignment = text.endsWith('=');
    const last = isAssignment
      ? assignedEnd(source, at + 1, end)
      : isShift
        ? sumEnd(source, at + 1, end)
        : unaryEnd(source, at + 1, end);
    if (last === undefined || (last === at + 2 && isHarmless(source.text(at + 1), isShift))) continue;
    edits.before(at + 1, isShift ? 'covarium::shift(' : 'covarium::divisor(');
    edits.after(last - 1, ')');
  }
}

/** A number that needs no care: a float, a divisor that is not 0, a shift of fewer bits than integers have. */
function isHarmless(text: string, isShift: boolean): boolean {
  if (!/^\.?\d/.test(text)) return false;
  if (/[.pP]/.test(text) || (/[eEfFhH]/.test(text) && !/^0[xX]/.test(text))) return true;
  const value = Number(text.replace(/[uUlL]+$/, '').replaceAll("'", ''));
  return isShift ? value < 32 : value > 0;
}

/** The marks `>` and `>>` that close arguments of templates. */
function templateClosers(source: Source, begin: number, end: number): ReadonlySet<number> {
  const closers = new Set<number>();
  for (let at = begin; at < end; at++) {
    if (source.text(at) !== '<' || source.tokens[at - 1]?.kind !== 'word') continue;
    const close = source.angleEnd(at, end);
    if (close !== undefined && source.text(close) === '>>') closers.add(close);
  }
  return closers;
}

/** After the last token of a unary expression at `at`; undefined if there is none. */
function unaryEnd(source: Source, from: number, end: number): number | undefined {
  let at = from;
  while (at < end && prefixes.has(source.text(at))) at++;
  const { kind, text } = source.tokens[at] ?? { kind: 'mark', text: '' };
  if (text === '(') {
    const close = source.close[at]!;
    if (close >= end) return undefined;
    const isCast = source.tokens.slice(at + 1, close).every((each) => types.test(each.text)) && close > at + 1;
    const next = source.tokens[close + 1];
    const isOperand = next !== undefined && (next.kind !== 'mark' || next.text === '(' || prefixes.has(next.text));
    // (int)x, (T)x and (T)(x): two operands side by side are a cast.
    const isSideBySide = next !== undefined && (next.kind !== 'mark' || next.text === '(');
    if ((isCast && isOperand) || (isSideBySide && close > at + 1)) return unaryEnd(source, close + 1, end);
    return postfixEnd(source, close + 1, end);
  }
  if (kind === 'mark' && text !== '::') return undefined;
  return postfixEnd(source, text === '::' ? at + 2 : at + 1, end);
}

/** After calls, subscripts, members and arguments of templates. */
function postfixEnd(source: Source, from: number, end: number): number {
  let at = from;
  while (at < end) {
    const text = source.text(at);
    if (text === '(' || text === '[' || text === '{') {
      if (source.close[at]! >= end || (text === '{' && source.tokens[at - 1]?.kind !== 'word')) return at;
      at = source.close[at]! + 1;
    } else if (text === '.' || text === '->' || text === '::') at += source.text(at + 1) === 'template' ? 3 : 2;
    else if (text === '++' || text === '--') at++;
    else if (text === '<' && source.tokens[at - 1]?.kind === 'word') {
      const close = source.angleEnd(at, end);
      // Arguments of a template are those of one of the text, or are followed by a call or a member.
      const isTemplate = source
        .named(source.text(at - 1))
        .some(({ templateParameters }) => templateParameters.length > 0);
      if (close === undefined || (!isTemplate && !['(', '::', '{'].includes(source.text(close + 1)))) return at;
      at = close + 1;
    } else return at;
  }
  return at;
}

/** After a sum: the operands of + and - and of what binds tighter. */
function sumEnd(source: Source, from: number, end: number): number | undefined {
  let at = unaryEnd(source, from, end);
  while (at !== undefined && at < end) {
    const text = source.text(at);
    if (!factors.has(text) && text !== '+' && text !== '-') return at;
    at = unaryEnd(source, at + 1, end);
  }
  return at;
}

/** After what is assigned: up to a comma, a semicolon or the bracket around it. */
function assignedEnd(source: Source, from: number, end: number): number | undefined {
  for (let at = from; at < end; at++) {
    const text = source.text(at);
    if (text === ';' || text === ',' || text === ')' || text === ']' || text === '}') return at;
    if (source.close[at]! >= 0) at = source.close[at]!;
  }
  return undefined;
}
