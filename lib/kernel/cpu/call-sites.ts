import type { Declaration, Range, Source } from '../declarations.ts';
import type { Edits } from '../tokens.ts';

// Lanes of a simdgroup exchange with those that wait at the same place. A function of the text with such an exchange
// that is called from two branches is one place for both, so its calls say which of them they are.

const exchanging = /^(?:simd_|quad_|simdgroup_)/;

/** The names of functions of a text in which lanes exchange, and that are called in several places. */
export function exchangingFunctions(source: Source, declarations: readonly Declaration[]): ReadonlySet<string> {
  const functions = declarations.filter(({ kind, body }) => kind === 'function' && body !== undefined);
  const found = new Set<string>();
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const { body, nameAt } of functions)
      for (let at = body![0]; at < body![1] && !found.has(source.text(nameAt)); at++)
        if (isCall(source, at) && (exchanging.test(source.text(at)) || found.has(source.text(at))))
          found.add(source.text(nameAt));
  }
  const calls = new Map<string, number>();
  for (const { body } of found.size === 0 ? [] : declarations)
    for (let at = body?.[0] ?? 0; at < (body?.[1] ?? 0); at++) {
      const text = source.text(at);
      if (found.has(text) && isCall(source, at)) calls.set(text, (calls.get(text) ?? 0) + 1);
    }
  return new Set([...found].filter((name) => (calls.get(name) ?? 0) > 1));
}

/** Makes the calls of some functions between two tokens, which are the body of a function, say where they stand. */
export function markCalls(source: Source, [begin, end]: Range, names: ReadonlySet<string>, edits: Edits): void {
  if (names.size === 0) return;
  for (let at = begin; at < end; at++) {
    if (!names.has(source.text(at)) || !isCall(source, at)) continue;
    let first = at;
    while (source.text(first - 1) === '::' && source.tokens[first - 2]?.kind === 'word') first -= 2;
    const before = source.tokens[first - 1];
    // A member of something, or a variable of the function's name.
    if (before === undefined || /^(?:\.|->|::)$/.test(before.text)) continue;
    if (before.kind === 'word' && !/^(?:return|else|do)$/.test(before.text)) continue;
    edits.before(first, `(covarium::CallSite(${at}),`);
    edits.after(source.close[openOf(source, at)]!, ')');
  }
}

/** The opening parenthesis of a call of the name at `at`, behind arguments of a template. */
function openOf(source: Source, at: number): number {
  if (source.text(at + 1) !== '<') return at + 1;
  return (source.angleEnd(at + 1) ?? at) + 1;
}

function isCall(source: Source, at: number): boolean {
  return source.tokens[at]!.kind === 'word' && source.text(openOf(source, at)) === '(';
}
