import type { Declaration, Source } from '../declarations.ts';

/** What computes a number of others, and changes nothing. */
export const pure: RegExp =
  /^(?:metal|min|max|abs|clamp|true|false|const|unsigned|(?:bool|char|uchar|short|ushort|int|uint|long|ulong|float|half|bfloat)[234]?|size_t|u?int(?:8|16|32|64)_t)$/;
/** Marks that change what stands before or behind them. */
export const changing: RegExp = /^(?:[-+*/%&|^]?=|<<=|>>=|\+\+|--)$/;

/** True if a variable may be changed between two tokens, or its address may be taken. */
export function isChanged(source: Source, name: string, begin: number, end: number, except = -1): boolean {
  for (let at = begin; at < end; at++) {
    if (source.text(at) !== name || at === except) continue;
    const before = source.text(at - 1);
    if (before === '.' || before === '->') continue;
    if (before === '++' || before === '--') return true;
    // A unary &, or another declaration of the name.
    const beforeThat = source.tokens[at - 2];
    if (before === '&' && beforeThat?.kind === 'mark' && ![')', ']'].includes(beforeThat.text)) return true;
    let behind = at + 1;
    while (source.text(behind) === '[' || source.text(behind) === '.')
      behind = source.text(behind) === '[' ? source.close[behind]! + 1 : behind + 2;
    if (changing.test(source.text(behind))) return true;
    if (isArgument(source, at, behind)) return true;
  }
  return false;
}

/** True if a variable itself is assigned to, not what it points to. */
export function isAssigned(source: Source, name: string, begin: number, end: number): boolean {
  for (let at = begin; at < end; at++)
    if (source.text(at) === name && !/^(?:\.|->)$/.test(source.text(at - 1)))
      if (changing.test(source.text(at + 1)) || /^(?:\+\+|--)$/.test(source.text(at - 1))) return true;
  return false;
}

/** True for a whole argument of a function that may take it by reference. */
function isArgument(source: Source, begin: number, end: number): boolean {
  if (!/^[(,]$/.test(source.text(begin - 1)) || !/^[),]$/.test(source.text(end))) return false;
  for (let at = begin - 1; at >= 0; at--) {
    const text = source.text(at);
    if (text === ';' || text === '{' || text === '}') return false;
    if (text !== '(' || source.close[at]! < end) continue;
    const callee = source.tokens[at - 1];
    if (callee?.kind !== 'word') return false;
    if (/^(?:sincos|modf|frexp)$/.test(callee.text)) return true;
    const takesReference = ({ parameters }: Declaration) =>
      parameters !== undefined && source.hasWord(parameters[0], parameters[1], '&');
    return source.named(callee.text).some(takesReference);
  }
  return false;
}
