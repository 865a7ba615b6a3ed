import type { Declaration, Range, Source } from '../declarations.ts';
import { errorAt } from '../tokens.ts';

// Here all address spaces are one memory, so two functions that differ in an address space alone are the same function
// twice, and so are two specialisations of a template. One of them is kept if they do the same.

const spaces: ReadonlySet<string> = new Set([
  'device',
  'threadgroup',
  'thread',
  'restrict',
  '__restrict',
  '__restrict__',
  'inline',
  'static',
  'METAL_FUNC',
]);

interface Function {
  readonly name: string;
  readonly range: Range;
  readonly parameters: Range;
  /** Its initialisers and braces, or what ends a declaration: `;`, `= default;`. */
  readonly body: Range;
}

/**
 * The words `constant` of the constructors of a type: a method of a constant object is `const` in C++, a constructor of
 * one is as any other.
 */
export function constructorSpaces(source: Source, { names, body }: Declaration): number[] {
  if (body === undefined) return [];
  return methodsIn(source, body).flatMap(({ name, parameters: [, close] }) => {
    if (!names.includes(name)) return [];
    let at = close + 1;
    while (spaces.has(source.text(at))) at++;
    return source.text(at) === 'constant' ? [at] : [];
  });
}

/** What repeats a function or a type in a second address space. Throws `ERR_UNSUPPORTED` where they differ. */
export function repeatedFunctions(source: Source, kept: Iterable<Declaration>): Range[] {
  const repeated: Range[] = [];
  const known = new Map<string, Function>();
  const take = (scope: string, functions: Function, without: ReadonlySet<number> = new Set()) => {
    const { name, range, parameters, body } = functions;
    const key = `${scope} ${textIn(source, range[0], parameters[0])}(${parametersOf(source, parameters)}) ${textIn(source, parameters[1] + 1, body[0], without)}`;
    const other = known.get(key);
    if (other === undefined) {
      known.set(key, functions);
      return;
    }
    if (textIn(source, body[0], body[1]) === textIn(source, other.body[0], other.body[1])) {
      repeated.push(range);
      return;
    }
    // The same function twice is the compiler's to refuse.
    if (source.tokens.slice(...range).some(({ text }) => spaces.has(text) || text === 'constant'))
      throw errorAt(
        source.tokens[parameters[0] - 1]!,
        `(${name}) differs from another in its address space alone, and does something else; the cpu device has one memory: give it another name`,
      );
  };
  for (const declaration of kept) {
    const { begin, end, kind, names, nameAt, scope, parameters, body } = declaration;
    if (kind === 'type' && body !== undefined) {
      // Specialisations: struct Of<device T*> { ... };
      if (source.text(begin) === 'template')
        take(scope, { name: names[0]!, range: [begin, end], parameters: [body[0], body[0]], body });
      const without = new Set(constructorSpaces(source, declaration));
      for (const method of methodsIn(source, body)) take(`${scope}${begin}`, method, without);
    }
    if (parameters === undefined || body === undefined) continue;
    take(scope, { name: source.text(nameAt), range: [begin, end], parameters, body });
  }
  return repeated;
}

const notNames = /^(?:decltype|alignas|__attribute__|noexcept|static_assert|explicit)$/;

/** The functions in the braces of a type, those that are only declared included. */
function methodsIn(source: Source, [open, close]: Range): Function[] {
  const found: Function[] = [];
  let first = open + 1;
  let parameters: Range | undefined;
  let name = '';
  let isOperator = false;
  let initialisers = -1;
  const next = (at: number) => {
    first = at;
    parameters = undefined;
    isOperator = false;
    initialisers = -1;
  };
  for (let at = open + 1; at < close; at++) {
    const text = source.text(at);
    if (text === ':' && parameters !== undefined) initialisers = at;
    else if (text === ';' || text === ':') {
      if (parameters !== undefined) {
        const end = source.text(at - 2) === '=' ? at - 2 : at;
        found.push({ name, range: [first, at + 1], parameters, body: [end, at] });
      }
      next(at + 1);
    } else if (text === '=' && parameters === undefined && !isOperator) {
      // A member with a value.
      while (at < close && source.text(at) !== ';') at = Math.max(at, source.close[at]!) + 1;
      next(at + 1);
    } else if (text === 'operator') isOperator = true;
    else if (text === '<' && source.tokens[at - 1]!.kind === 'word')
      at = source.angleEnd(at, close, source.text(at - 1) === 'template') ?? at;
    else if (text === '(') {
      if (source.text(at - 1) === 'operator') at += 2; // operator()
      const isName = isOperator || source.tokens[at - 1]!.kind === 'word' || source.text(at - 1) === '>';
      if (parameters === undefined && isName && !notNames.test(name)) parameters = [at, source.close[at]!];
      at = source.close[at]!;
    } else if (text === '{') {
      const begin = at;
      const end = source.close[at]!;
      at = end;
      // x{1} among the initialisers of a constructor.
      if (initialisers >= 0 && /^[\w>]+$/.test(source.text(begin - 1))) continue;
      if (parameters !== undefined)
        found.push({ name, range: [first, end + 1], parameters, body: [initialisers < 0 ? begin : initialisers, end] });
      if (parameters !== undefined || source.text(end + 1) !== ';') next(end + 1);
    } else if (text === '[') at = source.close[at]!;
    else if (text === '~') isOperator = true;
    else if (source.tokens[at]!.kind === 'word' && parameters === undefined) name = isOperator ? '' : text;
  }
  return found;
}

function wordsIn(source: Source, begin: number, end: number, without: ReadonlySet<number> = new Set()): string[] {
  const words: string[] = [];
  for (let at = begin; at < end; at++) {
    if (source.isAttribute(at)) {
      at = source.close[at]!;
      continue;
    }
    if (without.has(at)) continue;
    const text = source.text(at);
    const word = text === 'constant' ? 'const' : text;
    if (!spaces.has(text) && !(word === 'const' && words.at(-1) === 'const')) words.push(word);
  }
  return words;
}

function textIn(source: Source, begin: number, end: number, without?: ReadonlySet<number>): string {
  return wordsIn(source, begin, end, without).join(' ');
}

/** The types of parameters, without their names. */
function parametersOf(source: Source, [open, close]: Range): string {
  return source
    .split(open + 1, close)
    .map(([begin, end]) => {
      const words = wordsIn(source, begin, end);
      const value = words.indexOf('=');
      const type = value < 0 ? words : words.slice(0, value);
      const bracket = type.indexOf('[');
      const name = bracket > 0 ? bracket - 1 : type.length - 1;
      if (type.length > 1 && /^\w+$/.test(type[name]!) && !/^(?:const|int|uint|float|half|char)$/.test(type[name]!))
        type.splice(name, 1);
      const mark = type.findIndex((each) => each === '*' || each === '&');
      const front = mark < 0 ? type : type.slice(0, mark);
      return [...[...new Set(front)].sort(), ...(mark < 0 ? [] : type.slice(mark))].join(' ');
    })
    .join(', ');
}
