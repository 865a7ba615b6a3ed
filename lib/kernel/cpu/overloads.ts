import type { Declaration, Range, Source } from '../declarations.ts';
import { errorAt } from '../tokens.ts';

// Here all address spaces are one memory, so two functions that differ in an address space alone are the same function
// twice. One of them is kept if they do the same.

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
  readonly range: Range;
  readonly parameters: Range;
  readonly body: Range;
}

/** The functions that repeat another in a second address space. Throws `ERR_UNSUPPORTED` where they differ. */
export function repeatedFunctions(source: Source, kept: Iterable<Declaration>): Range[] {
  const repeated: Range[] = [];
  const known = new Map<string, Function>();
  const take = (scope: string, name: string, functions: Function) => {
    const { range, parameters, body } = functions;
    const key = `${scope} ${textIn(source, range[0], parameters[0])}(${parametersOf(source, parameters)}) ${textIn(source, parameters[1] + 1, body[0])}`;
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
        `Function (${name}) differs from another in its address space alone, and does something else; the cpu device has one memory: give it another name`,
      );
  };
  for (const { begin, end, kind, nameAt, scope, parameters, body } of kept) {
    if (kind === 'type' && body !== undefined)
      for (const method of methodsIn(source, body))
        take(`${scope}${begin}`, source.text(method.parameters[0] - 1), method);
    if (parameters === undefined || body === undefined) continue;
    take(scope, source.text(nameAt), { range: [begin, end], parameters, body });
  }
  return repeated;
}

/** The functions in the braces of a type. */
function methodsIn(source: Source, [open, close]: Range): Function[] {
  const found: Function[] = [];
  let first = open + 1;
  let parameters: Range | undefined;
  for (let at = open + 1; at < close; at++) {
    const text = source.text(at);
    if (text === ';' || text === ':') {
      if (text === ':' && parameters !== undefined) continue; // initialisers of a constructor
      first = at + 1;
      parameters = undefined;
    } else if (text === '(') {
      const isOperator =
        source.text(at - 1) === 'operator' && source.text(at + 1) === ')' && source.text(at + 2) === '(';
      if (isOperator) at += 2;
      const isName =
        source.tokens[at - 1]!.kind === 'word' ||
        isOperator ||
        source.text(at - 2) === 'operator' ||
        source.text(at - 3) === 'operator';
      if (
        parameters === undefined &&
        isName &&
        !/^(?:decltype|alignas|__attribute__|noexcept)$/.test(source.text(at - 1))
      )
        parameters = [at, source.close[at]!];
      at = source.close[at]!;
    } else if (text === '{') {
      const end = source.close[at]!;
      if (parameters !== undefined) {
        found.push({ range: [first, end + 1], parameters, body: [at, end] });
        first = end + 1;
        parameters = undefined;
      }
      at = end;
    } else if (text === '[') at = source.close[at]!;
  }
  return found;
}

function wordsIn(source: Source, begin: number, end: number): string[] {
  const words: string[] = [];
  for (let at = begin; at < end; at++) {
    if (source.isAttribute(at)) {
      at = source.close[at]!;
      continue;
    }
    const text = source.text(at);
    const word = text === 'constant' ? 'const' : text;
    if (!spaces.has(text) && !(word === 'const' && words.at(-1) === 'const')) words.push(word);
  }
  return words;
}

function textIn(source: Source, begin: number, end: number): string {
  return wordsIn(source, begin, end).join(' ');
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
