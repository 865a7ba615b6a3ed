// A kernel's text, read lightly: no compiler, but comments, strings and brackets are known.

/** The text with comments, strings and preprocessor lines as spaces: what stands anywhere stands there still. */
export function codeOf(text: string): string {
  const blank = (part: string) => part.replace(/[^\n]/g, ' ');
  return text.replace(
    /\/\*[\s\S]*?(?:\*\/|$)|\/\/(?:\\\r?\n|[^\n])*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:\\\r?\n|[^\n])*/gm,
    blank,
  );
}

const pairs: { readonly [open: string]: string } = { '(': ')', '[': ']', '{': '}' };

/** Where the bracket at `open` is closed; the text's length where it never is. */
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

/** `a, b<c, d>, e` by its outer commas. */
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

/** The number that an index says: digits, or a name that the text defines (#define, constant, constexpr, an enumerator's = n). */
export function numberOf(word: string, text: string): number | undefined {
  const plain = word.trim().replace(/[uUlL]+$/, '');
  if (/^(?:\d+|0[xX][\da-fA-F]+)$/.test(plain)) return Number(plain);
  if (!/^\w+$/.test(plain)) return undefined;
  const [, value] =
    new RegExp(`^[ \\t]*#[ \\t]*define[ \\t]+${plain}[ \\t]+\\(?[ \\t]*(\\w+)`, 'm').exec(text) ??
    new RegExp(`\\b${plain}\\s*=\\s*(\\w+)\\s*[,;}]`).exec(codeOf(text)) ??
    [];
  return value === undefined || value === plain ? undefined : numberOf(value, text);
}
