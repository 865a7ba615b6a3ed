// Reads a kernel's text without a compiler: it only recognises comments, strings and brackets.

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
