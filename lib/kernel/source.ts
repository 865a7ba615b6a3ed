// Reads a kernel's text without a compiler: it only recognises comments, strings and brackets.

import { describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';

/** The text with comments, strings and preprocessor lines replaced by spaces, so that all places stay the same. */
export function codeOf(text: string): string {
  return withSpaces(text, /\/[*/]|["']|^[ \t]*#/gm, () => true);
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
    parts.push(text.slice(done, index), blanked(part) ? part.replace(/[^\n]/g, ' ') : part);
    done = end;
  }
  parts.push(text.slice(done));
  return parts.join('');
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
  const waiting: string[] = [];
  for (let at = open; at < code.length; at++) {
    const letter = code[at]!;
    const closes = pairs[letter];
    if (closes !== undefined) waiting.push(closes);
    else if (letter === waiting.at(-1)) waiting.pop();
    else continue;
    if (waiting.length === 0) return at;
  }
  return code.length;
}

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
  const [, value] =
    new RegExp(`^[ \\t]*#[ \\t]*define[ \\t]+${plain}[ \\t]+\\(?[ \\t]*(\\w+)`, 'm').exec(text) ??
    new RegExp(`\\b${plain}\\s*=\\s*(\\w+)\\s*[,;}]`).exec(codeOf(text)) ??
    [];
  return value === undefined || value === plain ? undefined : numberOf(value, text, depth + 1);
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
