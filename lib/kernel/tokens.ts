import { CovariumError, type ErrorCode } from '../covarium-error.ts';

/** A word, a number, a literal or a mark of a kernel's text, and its place in the user's text. */
export interface Token {
  readonly kind: 'word' | 'number' | 'literal' | 'mark';
  readonly text: string;
  readonly path: string;
  readonly line: number;
  readonly column: number;
  /** True for the first of a line; a line that ends in a backslash goes on. */
  readonly first: boolean;
  /** The macros that made it, which do not expand it again. */
  readonly hidden?: Hidden;
}

/** Names of macros, the last first: a list, because each expansion of a long chain would copy a set. */
export interface Hidden {
  readonly name: string;
  readonly outer: Hidden | undefined;
  /** The names of the list. */
  readonly count: number;
}

const blank = /(?:[ \t\r\f\v]|\\\r?\n)+/y;
const lineComment = /(?:\\\r?\n|[^\n])*/y;
const word = /[A-Za-z_$\u0080-\uffff][\w$\u0080-\uffff]*/y;
const number = /\.?\d(?:[eEpP][+-]|'(?=\w)|[\w.])*/y;
const literals = { '"': /"(?:\\[\s\S]|[^"\\\n])*"/y, "'": /'(?:\\[\s\S]|[^'\\\n])+'/y } as const;
const mark = /<<=|>>=|\.\.\.|%:%:|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||::|##|%:|[-+*/%&|^]=|[\s\S]/y;
/** Marks with two spellings: a compiler takes the second for the first. */
const digraphs: { readonly [mark: string]: string } = { '%:': '#', '%:%:': '##' };

function at(pattern: RegExp, text: string, place: number): string | undefined {
  pattern.lastIndex = place;
  return pattern.exec(text)?.[0];
}

/** The tokens of a text, without comments. Takes time in proportion to its length, whatever it contains. */
export function tokensOf(text: string, path: string): Token[] {
  const tokens: Token[] = [];
  let line = 1;
  let lineStart = 0;
  let first = true;
  const skip = (part: string, from: number) => {
    for (let i = part.indexOf('\n'); i >= 0; i = part.indexOf('\n', i + 1)) {
      line++;
      lineStart = from + i + 1;
    }
  };
  for (let place = text.startsWith('\ufeff') ? 1 : 0; place < text.length; ) {
    const letter = text[place]!;
    if (letter === '\n') {
      skip(letter, place++);
      first = true;
      continue;
    }
    let part = at(blank, text, place);
    if (part === undefined && letter === '/' && text[place + 1] === '/') part = at(lineComment, text, place);
    if (part === undefined && letter === '/' && text[place + 1] === '*') {
      const end = text.indexOf('*/', place + 2);
      part = text.slice(place, end < 0 ? text.length : end + 2);
    }
    if (part !== undefined) {
      skip(part, place);
      place += part.length;
      continue;
    }
    const column = place - lineStart + 1;
    let kind: Token['kind'] = 'word';
    let found = at(word, text, place);
    if (found === undefined) {
      kind = 'number';
      found = at(number, text, place);
    }
    if (found === undefined && (letter === '"' || letter === "'")) {
      kind = 'literal';
      // A quote that its line does not close takes the rest of the line, which is then not searched again.
      found = at(literals[letter], text, place) ?? at(lineComment, text, place)!;
    }
    if (found === undefined) {
      kind = 'mark';
      found = at(mark, text, place)!;
    }
    tokens.push({ kind, text: Object.hasOwn(digraphs, found) ? digraphs[found]! : found, path, line, column, first });
    skip(found, place);
    place += found.length;
    first = false;
  }
  return tokens;
}

/** An error about a part of the user's text, with its place. */
export function errorAt({ path, line }: Token, message: string, code: ErrorCode = 'ERR_UNSUPPORTED'): CovariumError {
  return new CovariumError(code, `${message.replace(/\.$/, '')} at (${path}:${line}).`, { path, line });
}

/**
 * Throws `ERR_KERNEL_COMPILE` where a brace closes nothing or is not closed: a compiler would find that in the text
 * that is set around the user's, and speak of that.
 */
export function requireClosedBraces(tokens: readonly Token[]): void {
  const open: Token[] = [];
  for (const token of tokens) {
    if (token.kind !== 'mark' || !(token.text === '{' || token.text === '}')) continue;
    if (token.text === '{') open.push(token);
    else if (open.pop() === undefined) throw errorAt(token, 'A brace (}) closes nothing', 'ERR_KERNEL_COMPILE');
  }
  if (open.length > 0) throw errorAt(open[0]!, 'A brace ({) is not closed', 'ERR_KERNEL_COMPILE');
}

/** Tokens as a text of one line. */
export function textOf(tokens: readonly Token[]): string {
  return tokens.map(({ text }) => text).join(' ');
}

/** What is written in the place of tokens, by their index. */
export class Edits {
  readonly #before: Map<number, string> = new Map();
  readonly #instead: Map<number, string> = new Map();
  readonly #after: Map<number, string> = new Map();

  before(index: number, text: string): void {
    this.#before.set(index, `${text} ${this.#before.get(index) ?? ''}`);
  }
  after(index: number, text: string): void {
    this.#after.set(index, `${this.#after.get(index) ?? ''} ${text}`);
  }
  replace(index: number, text: string): void {
    this.#instead.set(index, text);
  }
  drop(begin: number, end: number): void {
    for (let i = begin; i < end; i++) this.#instead.set(i, '');
  }
  isDropped(index: number): boolean {
    return this.#instead.get(index) === '';
  }
  at(index: number, text: string): string {
    const whole = this.#instead.get(index) ?? text;
    return `${this.#before.get(index) ?? ''}${whole}${this.#after.get(index) ?? ''}`;
  }
}

/** A name as a C string: quotes and backslashes are escaped, control characters replaced. */
export function quotedName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get into the text.
  return `"${name.replace(/[\u0000-\u001f\u007f]/g, '?').replace(/["\\]/g, '\\$&')}"`;
}

/**
 * The text of tokens, each at its line and, as far as edits allow, at its column, so that a compiler names the user's
 * own place. `ranges` are indices, in order.
 */
export function written(
  tokens: readonly Token[],
  ranges: readonly (readonly [begin: number, end: number])[],
  edits: Edits = new Edits(),
): string {
  const parts: string[] = [];
  let path = '';
  let line = 0;
  let column = 1;
  for (const [begin, end] of ranges)
    for (let i = begin; i < end; i++) {
      const token = tokens[i]!;
      const text = edits.at(i, token.text);
      if (text === '') continue;
      if (token.path !== path || token.line < line || token.line > line + 20) {
        parts.push(`\n#line ${token.line} ${quotedName(token.path)}\n`);
        column = 1;
      } else if (token.line > line) {
        parts.push('\n'.repeat(token.line - line));
        column = 1;
      }
      ({ path, line } = token);
      const before = tokens[i - 1];
      const isGlued =
        before !== undefined &&
        (before.kind === 'mark' || token.kind === 'mark') &&
        before.line === line &&
        before.column + before.text.length === token.column;
      const spaces = Math.max(token.column - column, column === 1 || isGlued ? 0 : 1);
      parts.push(' '.repeat(spaces), text);
      column += spaces + text.length;
    }
  return parts.join('');
}
