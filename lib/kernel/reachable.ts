import { type Declaration, type Range, type Source, typeWords } from './declarations.ts';

/**
 * What the tokens of some ranges need: all declarations of the names in them, and of the names in those. Found by
 * name alone, so it may be more than a compiler needs, never less.
 */
export function reachable(source: Source, roots: readonly Range[]): Set<Declaration> {
  const kept = new Set([...source.declarations.filter(({ kind }) => kind === 'always'), ...ofLibrary(source)]);
  const waiting: Range[] = [...roots, ...[...kept].map(({ begin, end }): Range => [begin, end])];
  const seen = new Set<string>();
  for (let range = waiting.pop(); range !== undefined; range = waiting.pop())
    for (let at = range[0]; at < range[1]; at++) {
      const { kind, text } = source.tokens[at]!;
      if (kind !== 'word' || seen.has(text)) continue;
      seen.add(text);
      for (const declaration of source.named(text)) {
        if (kept.has(declaration) || declaration.kind === 'instantiation') continue;
        kept.add(declaration);
        waiting.push([declaration.begin, declaration.end]);
      }
    }
  return kept;
}

/**
 * The specialisations of types that the text does not declare: the library's may use them by another name, as
 * numeric_limits uses _numeric_limits_impl.
 */
function ofLibrary(source: Source): Declaration[] {
  const found = new Map<string, Declaration[]>();
  const own = new Set<string>();
  for (const declaration of source.declarations) {
    const { kind, body, names } = declaration;
    const name = names[0];
    if (kind !== 'type' || name === undefined) continue;
    if (body === undefined || !isSpecialised(source, declaration, name)) own.add(name);
    else (found.get(name) ?? found.set(name, []).get(name)!).push(declaration);
  }
  return [...found].flatMap(([name, all]) => (own.has(name) ? [] : all));
}

function isSpecialised(source: Source, { begin, body }: Declaration, name: string): boolean {
  for (let at = begin; at < body![0]; at++)
    if (typeWords.has(source.text(at)) && source.text(at + 1) === name) return source.text(at + 2) === '<';
  return false;
}
