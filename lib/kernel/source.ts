// Reads a kernel's text without a compiler: it only recognises comments, strings and brackets.

import { describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';

/** The text with comments, strings and preprocessor lines replaced by spaces, so that all places stay the same. */
export const codeOf: (text: string) => string = remembering((text) =>
  withSpaces(text, /\/[*/]|["']|^[ \t]*#/gm, () => true),
);

/** The function with its last answer for a long text: one text is asked for again and again while it is compiled. */
function remembering<Answer>(of: (text: string) => Answer): (text: string) => Answer {
  let last: { readonly text: string; readonly answer: Answer } | undefined;
  return (text) => {
    const answer = text === last?.text ? last.answer : of(text);
    // Kept of an equal text too: the next comparison is then of one string with itself.
    if (text.length > 1000) last = { text, answer };
    return answer;
  };
}

const lineEnd = /(?:\\\r?\n|[^\n])*/y;
const literals = { '"': /"(?:\\.|[^"\\\n])*"/y, "'": /'(?:\\.|[^'\\\n])+'/y } as const;

/**
 * The text with spaces in place of the parts that begin with a `start`, are not code, and are `blanked`. Line ends
 * stay.
 */
function withSpaces(text: string, start: RegExp, blanked: (part: string) => boolean): string {
  const parts: string[] = [];
  // A quote that is never closed stands alone, and so do all later quotes of its kind on the line, so that their ends
  // are not searched for again.
  const openUntil = { '"': 0, "'": 0 };
  let done = 0;
  for (let found = start.exec(text); found !== null; found = start.exec(text)) {
    const { index, 0: first } = found;
    let end = start.lastIndex;
    if (first === '/*') {
      const close = text.indexOf('*/', end);
      end = close < 0 ? text.length : close + 2;
    } else if (first === '"' || first === "'") {
      const literal = literals[first];
      literal.lastIndex = index;
      // Two quotes in a row are not a character: the second may begin one.
      if (index < openUntil[first] || (first === "'" && text[index + 1] === "'")) continue;
      if (!literal.test(text)) {
        const line = text.indexOf('\n', index);
        openUntil[first] = line < 0 ? text.length : line;
        continue;
      }
      end = literal.lastIndex;
    } else {
      lineEnd.lastIndex = index;
      lineEnd.test(text);
      end = lineEnd.lastIndex;
    }
    start.lastIndex = end;
    const part = text.slice(index, end);
    parts.push(text.slice(done, index), blanked(part) ? spacesFor(part) : part);
    done = end;
  }
  parts.push(text.slice(done));
  return parts.join('');
}

function spacesFor(part: string): string {
  return part.includes('\n') ? part.replace(/[^\n]/g, ' ') : ' '.repeat(part.length);
}

/** A part of a text, and its replacement. */
export interface Replacement {
  readonly begin: number;
  readonly end: number;
  readonly by: string;
}

/** The text with its parts replaced; they must be in ascending order and must not overlap. */
export function replaced(text: string, replacements: readonly Replacement[]): string {
  const parts: string[] = [];
  let done = 0;
  for (const { begin, end, by } of replacements) {
    parts.push(text.slice(done, begin), by);
    done = end;
  }
  parts.push(text.slice(done));
  return parts.join('');
}

const pairs: { readonly [open: string]: string } = { '(': ')', '[': ']', '{': '}' };

/** The place where the bracket at `open` is closed; the text's length if it never is. */
export function closing(code: string, open: number): number {
  return closings(code).get(open) ?? code.length;
}

/** The places where brackets are closed, by the places where they open. */
const closings = remembering((code: string): ReadonlyMap<number, number> => {
  const places = new Map<number, number>();
  const waiting: { readonly open: number; readonly closes: string }[] = [];
  for (const { index, 0: letter } of code.matchAll(/[()[\]{}]/g)) {
    const closes = pairs[letter];
    if (closes !== undefined) waiting.push({ open: index, closes });
    else if (letter === waiting.at(-1)?.closes) places.set(waiting.pop()!.open, index);
  }
  return places;
});

/** Splits `a, b<c, d>, e` at its outer commas. */
export function splitList(list: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const letter of list) {
    if ('(<[{'.includes(letter)) depth++;
    if (')>]}'.includes(letter)) depth--;
    if (letter === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += letter;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/**
 * The number of an index: digits, or a name that the text defines (#define, constant, constexpr, an enumerator's = n).
 */
export function numberOf(word: string, text: string, depth = 0): number | undefined {
  // Names defined by each other have no value.
  if (depth > 20) return undefined;
  const plain = word.trim().replace(/[uUlL]+$/, '');
  if (/^(?:\d+|0[xX][\da-fA-F]+)$/.test(plain)) return Number(plain);
  if (!/^\w+$/.test(plain)) return undefined;
  const { defined, assigned } = definitions(text);
  const value = defined.get(plain) ?? assigned.get(plain);
  return value === undefined || value === plain ? undefined : numberOf(value, text, depth + 1);
}

/** The first value of each name that a text defines, and of each name that it assigns to. */
const definitions = remembering((text: string) => ({
  defined: firstOf(text.matchAll(/^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(?:\([ \t]*)?(\w+)/gm)),
  assigned: firstOf(codeOf(text).matchAll(/\b(\w+)\s*=\s*(\w+)\s*[,;}]/g)),
}));

/** The second group by the first, of matches of which the first counts. */
export function firstOf(matches: Iterable<RegExpExecArray>): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, name, value = ''] of matches) if (!found.has(name!)) found.set(name!, value);
  return found;
}

/** The most characters of a kernel's text with its includes. */
const longestText: number = 1 << 20;

/** The deepest nesting of includes, as in compilers. */
const deepest = 200;

/**
 * One text from a kernel's text and its includes, because neither newLibraryWithSource nor the cpu device's compiler
 * gets a folder. Each is included once, and #line lets the compiler name the user's text and line. Throws
 * `ERR_INVALID_ARGUMENT` for an unknown name, `ERR_TOO_LARGE`.
 */
export function flatten(source: string, path: string, includes: { readonly [name: string]: string }): string {
  const written = new Set<string>();
  let length = 0;
  const textOf = (text: string, name: string, depth: number): string => {
    if (depth > deepest)
      throw new CovariumError('ERR_TOO_LARGE', `Text of (${name}) is included more than (${deepest}) texts deep.`);
    if (typeof text !== 'string')
      throw new CovariumError('ERR_INVALID_ARGUMENT', `Text of (${name}) is not a string (${describe(text)}).`);
    length += text.length;
    if (length > longestText)
      throw new CovariumError(
        'ERR_TOO_LARGE',
        `Text of the kernel has (${length}) characters or more; the limit is (${longestText}).`,
      );
    const plain = withoutComments(text).split(/\r?\n/);
    const lines = text
      .replace(/^\ufeff/, '')
      .split(/\r?\n/)
      .map((line, index) => {
        if (/^\s*#\s*pragma\s+once\b/.test(line)) return '';
        const include = /^\s*#\s*(?:include|import)\b\s*(?:<([^>]*)>|"([^"]*)")?/.exec(plain[index]!);
        if (include === null) return line;
        const [, system, own] = include;
        if (system === undefined && own === undefined)
          throw new CovariumError(
            'ERR_INVALID_ARGUMENT',
            `Text has an include that is not a name in quotes at (${name}:${index + 1}).`,
            { path: name, line: index + 1 },
          );
        const wanted = own ?? system!;
        const inner = Object.hasOwn(includes, wanted) ? includes[wanted] : undefined;
        if (inner === undefined) {
          // Metal's own headers are one header for us, which is always included.
          if (own === undefined && /^(?:metal_\w+|simd\/simd\.h)$/.test(wanted)) return '';
          const there = Object.keys(includes).join(', ');
          throw new CovariumError(
            'ERR_INVALID_ARGUMENT',
            `Text includes (${wanted}) at (${name}:${index + 1}), which is not among the includes (${there}).`,
            { path: name, line: index + 1 },
          );
        }
        if (written.has(wanted)) return '';
        written.add(wanted);
        return `${textOf(inner, wanted, depth + 1)}#line ${index + 2} ${quoted(name)}`;
      });
    return `#line 1 ${quoted(name)}\n${lines.join('\n')}\n`;
  };
  return textOf(source, path, 0);
}

/** The text with comments and strings as spaces, on the same lines; preprocessor lines stay. */
export function withoutStrings(text: string): string {
  return withSpaces(text, /\/[*/]|["']/g, () => true);
}

/** The text with comments as spaces, on the same lines. */
function withoutComments(text: string): string {
  return withSpaces(text, /\/[*/]|["']/g, (part) => part.startsWith('/'));
}

/** A name as a C string: quotes and backslashes are escaped, control characters replaced. */
function quoted(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get into the text.
  return `"${name.replace(/[\u0000-\u001f\u007f]/g, '?').replace(/["\\]/g, '\\$&')}"`;
}
