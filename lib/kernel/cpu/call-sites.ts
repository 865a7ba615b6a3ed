import type { Declaration, Range, Source } from '../declarations.ts';
import type { Edits } from '../tokens.ts';
import { type Loop, loopsIn, marksOf, statementEnd } from './loops.ts';

// Lanes of a simdgroup exchange with those that wait at the same place, in the same pass of each loop. Lanes that went
// another way wait at a later one, where the others are waited for. So what exchanges says where it stands: the
// functions of a simdgroup, calls of functions of the text that have such, and the loops around them.

const exchanging = /^(?:simd_|quad_|simdgroup_)/;

/** The names of functions of a text in which lanes exchange. */
export function exchangingFunctions(source: Source, declarations: readonly Declaration[]): ReadonlySet<string> {
  const functions = declarations.filter(({ kind, body }) => kind === 'function' && body !== undefined);
  const found = new Set<string>();
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const { body, nameAt } of functions)
      for (let at = body![0]; at < body![1] && !found.has(source.text(nameAt)); at++)
        if (isExchange(source, at, found)) found.add(source.text(nameAt));
  }
  return found;
}

/** Makes what exchanges between two tokens, which are the body of a function, say where it stands. */
export function markExchanges(source: Source, [begin, end]: Range, names: ReadonlySet<string>, edits: Edits): void {
  const all: number[] = [];
  for (let at = begin; at < end; at++) if (isExchange(source, at, names)) all.push(at);
  for (const at of all) markCall(source, at, edits);
  for (const loop of all.length === 0 ? [] : loopsIn(source, [begin, end])) {
    let last = loop.end ?? statementEnd(source, loop.head + 1, end);
    while (source.text(last + 1) === 'else') last = statementEnd(source, last + 2, end);
    if (all.some((at) => at > loop.at && at < last)) markLoop(source, loop, edits);
  }
}

/** Makes a loop count its passes, before the condition of each: one may continue where others are still in a pass. */
function markLoop(source: Source, { at, head }: Loop, edits: Edits): void {
  edits.before(at, `for (covarium::Loop covarium_loop(${at}); covarium_loop.isToCome();)`);
  const [first, second] =
    source.text(at) === 'while' ? [at + 1, head] : source.text(at) === 'for' ? marksOf(source, at + 1, head) : [];
  const declares = first !== undefined && isDeclared(source, first + 1);
  if (second === undefined || declares) edits.after(head, 'if (!covarium_loop.next()) {} else');
  else if (second === first! + 1) edits.after(first!, 'covarium_loop.next()');
  else {
    edits.after(first!, 'covarium_loop.next() && (');
    edits.before(second, ')');
  }
}

/** True if a condition declares a variable: `while (uint x = ...)`. */
function isDeclared(source: Source, at: number): boolean {
  return source.tokens[at + 1]?.kind === 'word' || source.text(at + 3) === '=';
}

function isExchange(source: Source, at: number, names: ReadonlySet<string>): boolean {
  return (exchanging.test(source.text(at)) || names.has(source.text(at))) && isCall(source, at);
}

function markCall(source: Source, at: number, edits: Edits): void {
  let first = at;
  while (source.text(first - 1) === '::' && source.tokens[first - 2]?.kind === 'word') first -= 2;
  const before = source.tokens[first - 1];
  // A member of something, or a variable of the function's name.
  if (before === undefined || /^(?:\.|->|::)$/.test(before.text)) return;
  if (before.kind === 'word' && !/^(?:return|else|do)$/.test(before.text)) return;
  edits.before(first, `(covarium::CallSite(${at}),`);
  edits.after(source.close[openOf(source, at)]!, ')');
}

/** The opening parenthesis of a call of the name at `at`, behind arguments of a template. */
function openOf(source: Source, at: number): number {
  if (source.text(at + 1) !== '<') return at + 1;
  return (source.angleEnd(at + 1) ?? at) + 1;
}

function isCall(source: Source, at: number): boolean {
  return source.tokens[at]!.kind === 'word' && source.text(openOf(source, at)) === '(';
}
