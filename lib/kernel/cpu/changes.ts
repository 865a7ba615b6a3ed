import { type Declaration, type Source, typeWords } from '../declarations.ts';

/** What computes a number of others, and changes nothing. */
export const pure: RegExp =
  /^(?:metal|min|max|abs|clamp|true|false|const|unsigned|(?:bool|char|uchar|short|ushort|int|uint|long|ulong|float|half|bfloat)[234]?|size_t|u?int(?:8|16|32|64)_t)$/;
/** Marks that change what stands before or behind them. */
export const changing: RegExp = /^(?:[-+*/%&|^]?=|<<=|>>=|\+\+|--)$/;

/** Functions of the library that take a reference. */
const takingReferences = /^(?:sincos|modf|frexp|simdgroup_\w+)$/;
const conversions = /^(?:as_type|static_cast)$/;
/** Words before parentheses that call nothing, and hand nothing on. */
const reading = /^(?:if|while|switch|sizeof|alignof|case)$/;

/** True if a variable may be changed between two tokens, or its address or a reference to it may be taken. */
export function isChanged(source: Source, name: string, begin: number, end: number, except = -1): boolean {
  for (let at = begin; at < end; at++)
    if (source.text(at) === name && at !== except && !isMember(source, at) && mayChange(source, at, true)) return true;
  return false;
}

/** True if a variable itself may be assigned to, not what it points to. */
export function isAssigned(source: Source, name: string, begin: number, end: number): boolean {
  for (let at = begin; at < end; at++)
    if (source.text(at) === name && !isMember(source, at) && mayChange(source, at, false)) return true;
  return false;
}

const isMember = (source: Source, at: number) => /^(?:\.|->)$/.test(source.text(at - 1));

/** True unless the variable at a token is certainly only read there; `byPart` if a change of a part of it counts. */
function mayChange(source: Source, at: number, byPart: boolean): boolean {
  let [first, behind] = [at, at + 1];
  for (;;) {
    while (byPart && /^[.[]$/.test(source.text(behind))) {
      if (source.text(behind) === '[') behind = source.close[behind]! + 1;
      else if (source.text(behind + 2) === '(') return true;
      else behind += 2;
    }
    const [before, next] = [source.text(first - 1), source.text(behind)];
    if (before === '++' || before === '--' || changing.test(next) || isAddressed(source, first)) return true;
    // What is called may have a state.
    if (byPart && next === '(') return true;
    // An operand of something that gives a value.
    if (!/^[)},:;]$/.test(next)) return false;
    if (before === 'return' || isReference(source, first)) return true;
    if (!/^[({,?:]$/.test(before)) return false;
    const open = openAround(source, first, behind);
    // A part of a conditional expression.
    if (open === undefined || source.text(open - 1) === 'for') return declaresReference(source, first);
    if (source.text(open) === '{') return takesReferences(source, open);
    if (!isGrouping(source, open)) return mayChangeArgument(source, open, first);
    [first, behind] = [open, source.close[open]! + 1];
  }
}

/** True behind a unary &. */
function isAddressed(source: Source, first: number): boolean {
  if (source.text(first - 1) !== '&') return false;
  const before = source.tokens[first - 2];
  if (before === undefined || before.text === 'return') return true;
  // (thread uint*)&x, not (a) & x.
  if (before.text === ')') return source.text(first - 3) === '*';
  return before.kind === 'mark' && before.text !== ']';
}

/** True for the value of a reference: T& r = x, T (&r)[2] = x. */
function isReference(source: Source, first: number): boolean {
  if (source.text(first - 1) !== '=') return false;
  if (source.tokens[first - 2]!.kind === 'word') return /^&&?$/.test(source.text(first - 3));
  for (let at = first - 2; at >= 0 && !/^[;{}]$/.test(source.text(at)); at--)
    if (source.text(at) === '(' && source.text(at + 1) === '&') return true;
  return false;
}

/** True if a reference is declared in the statement before a token: by a value, or as that of for (T& each : all). */
function declaresReference(source: Source, at: number): boolean {
  for (let i = at - 1; i >= 0 && !/^[;{}]$/.test(source.text(i)); i--)
    if (isReference(source, i + 1) || (source.text(i) === ':' && /^&&?$/.test(source.text(i - 2)))) return true;
  return false;
}

/** The opening parenthesis or brace of the innermost that are around two tokens, in the same statement. */
function openAround(source: Source, first: number, behind: number): number | undefined {
  for (let at = first - 1; at >= 0; at--) {
    const text = source.text(at);
    if ((text === '(' || text === '{') && source.close[at]! >= behind)
      return text === '{' && !isInitializer(source, at) ? undefined : at;
    if (text === ';') return undefined;
  }
  return undefined;
}

/** True for the brace of a list of values: T{x}, T a = {x}, a[2] = {{x}}; not that of a block. */
const isInitializer = (source: Source, open: number) =>
  /^(?:=|,|\{|\]|>)$/.test(source.text(open - 1)) || source.tokens[open - 1]?.kind === 'word';

/** True if a list of values may make something that holds a reference: unless it is a number, a vector or an array. */
function takesReferences(source: Source, open: number): boolean {
  const around = openAround(source, open, source.close[open]! + 1);
  if (around !== undefined && source.text(around) === '{') return takesReferences(source, around);
  let at = open - 1;
  if (source.text(at) === '=') at--;
  if (source.text(at) === ']') return false;
  return !isOfValues(source, source.text(at)) && !isOfValues(source, source.text(at - 1));
}

/** True for the name of a type that surely has no reference: a number's, a vector's, or that of a struct of such. */
function isOfValues(source: Source, name: string): boolean {
  if (pure.test(name)) return true;
  for (let at = 0; at < source.tokens.length; at++) {
    if (source.text(at) !== name) continue;
    const [before, next] = [source.text(at - 1), source.text(at + 1)];
    if (typeWords.has(before) && next === '{') return !hasReference(source, at + 1, source.close[at + 1]!);
    if (before !== 'using' || next !== '=') continue;
    let end = at + 2;
    while (source.tokens[end]?.kind === 'word' && pure.test(source.text(end))) end++;
    return source.text(end) === ';';
  }
  return false;
}

/** True for parentheses that call nothing: (x), (T)(x). */
function isGrouping(source: Source, open: number): boolean {
  const before = source.tokens[open - 1];
  if (before === undefined || /^(?:return|else|do)$/.test(before.text)) return true;
  return before.kind === 'mark' && !/^[\]}>]$/.test(before.text);
}

/** True if the argument at a token may be changed by the call, or kept by reference. */
function mayChangeArgument(source: Source, open: number, first: number): boolean {
  let at = open - 1;
  if (source.text(at) === '>') {
    while (at > 0 && source.angleEnd(at, open) !== open - 1) at--;
    if (source.hasWord(at, open, '&')) return true;
    at--;
  }
  const callee = source.tokens[at];
  if (callee?.kind !== 'word') return true;
  const { text } = callee;
  if (reading.test(text) || conversions.test(text) || isOfValues(source, text)) return false;
  // uint y(x)
  if (source.tokens[at - 1]?.kind === 'word' && isOfValues(source, source.text(at - 1))) return false;
  if (takingReferences.test(text) || !isCalledOnly(source, text)) return true;
  const scope = source.text(at - 1);
  if (scope === '::' && source.text(at - 2) !== 'metal') return true;
  if (/^(?:\.|->)$/.test(scope)) return source.isMember(text);
  const which = source.split(open + 1, source.close[open]!).findIndex(([, end]) => end > first);
  return source.named(text).some((each) => mayKeep(source, each, which));
}

/** True unless it is a function that takes a value there. */
function mayKeep(source: Source, { kind, parameters }: Declaration, which: number): boolean {
  if (kind !== 'function' || parameters === undefined) return true;
  const given = source.split(parameters[0] + 1, parameters[1]);
  return given[which] === undefined || hasReference(source, given[which][0], given[which][1]);
}

const hasReference = (source: Source, begin: number, end: number) =>
  source.hasWord(begin, end, '&') || source.hasWord(begin, end, '&&');

/** False if a word names something else than a function somewhere: a variable that may be a lambda. */
function isCalledOnly(source: Source, word: string): boolean {
  for (let at = 0; at < source.tokens.length; at++)
    if (source.text(at) === word && !/^[(<]$/.test(source.text(at + 1))) return source.named(word).length > 0;
  return true;
}
