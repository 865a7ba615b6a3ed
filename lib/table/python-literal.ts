/**
 * A value of a Python literal, as far as headers of NPY files contain them. Lists and tuples are arrays, dicts are
 * maps.
 */
export type PythonValue = string | bigint | number | boolean | null | readonly PythonValue[] | PythonDict;

/** A dict whose keys are distinct strings. */
type PythonDict = ReadonlyMap<string, PythonValue>;

const deepest = 16;
const escapes: { readonly [letter: string]: string } = { n: '\n', t: '\t', r: '\r', '\\': '\\', "'": "'", '"': '"' };
const words: { readonly [word: string]: boolean | null } = { True: true, False: false, None: null };

/**
 * The value of a Python literal, as `ast.literal_eval` returns it: strings, numbers, `True`, `False`, `None`, tuples,
 * lists and dicts. Only white space may follow it. Throws a SyntaxError with the place, in characters from 0.
 */
export function pythonLiteral(text: string): PythonValue {
  const parser = new Parser(text);
  const value = parser.value(0);
  parser.end();
  return value;
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): PythonValue {
    if (depth > deepest) throw this.#refusal('nesting is too deep');
    const next = this.#peek();
    if (next === '{') return this.#dict(depth);
    if (next === '(') return this.#items(')', depth);
    if (next === '[') return this.#items(']', depth);
    if (next === "'" || next === '"') return this.#string();
    const word = this.#take(/[A-Za-z_]/);
    if (word === '') return this.#number();
    if (!Object.hasOwn(words, word)) throw this.#refusal(`(${word}) is not a literal`);
    return words[word]!;
  }

  end(): void {
    if (this.#peek() !== '') throw this.#refusal('text follows the literal');
  }

  #dict(depth: number): PythonDict {
    const dict = new Map<string, PythonValue>();
    this.#at++;
    while (this.#peek() !== '}') {
      const key = this.value(depth + 1);
      if (typeof key !== 'string') throw this.#refusal('a key is not a string');
      if (dict.has(key)) throw this.#refusal(`key (${key}) occurs twice`);
      this.#expect(':');
      dict.set(key, this.value(depth + 1));
      if (this.#peek() !== '}') this.#expect(',');
    }
    this.#at++;
    return dict;
  }

  #items(end: ')' | ']', depth: number): PythonValue {
    const items: PythonValue[] = [];
    let hasComma = false;
    this.#at++;
    while (this.#peek() !== end) {
      items.push(this.value(depth + 1));
      if (this.#peek() === end) break;
      this.#expect(',');
      hasComma = true;
    }
    this.#at++;
    // (3) is the number 3, and (3,) is a tuple.
    return end === ')' && items.length === 1 && !hasComma ? items[0]! : items;
  }

  #string(): string {
    const quote = this.#text[this.#at++];
    let string = '';
    for (;;) {
      const letter = this.#text[this.#at++];
      if (letter === undefined || letter === '\n') throw this.#refusal('a string is not closed');
      if (letter === quote) return string;
      if (letter !== '\\') {
        string += letter;
        continue;
      }
      const escaped = escapes[this.#text[this.#at++] ?? ''];
      if (escaped === undefined) throw this.#refusal('an escape in a string is unknown');
      string += escaped;
    }
  }

  #number(): bigint | number {
    const start = this.#at;
    const text = this.#take(/[\d.eE+-]/);
    // Python 2 wrote 3L, which NumPy still reads.
    if (this.#text[this.#at] === 'L') this.#at++;
    if (/^[+-]?\d{1,40}$/.test(text)) return BigInt(text);
    if (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) return Number(text);
    this.#at = start;
    throw this.#refusal('a value is missing');
  }

  #take(letters: RegExp): string {
    const start = this.#at;
    while (this.#at < this.#text.length && letters.test(this.#text[this.#at]!)) this.#at++;
    return this.#text.slice(start, this.#at);
  }

  // The next character that is not white space; '' at the end.
  #peek(): string {
    while (/[ \t\r\n]/.test(this.#text[this.#at] ?? '')) this.#at++;
    return this.#text[this.#at] ?? '';
  }

  #expect(letter: string): void {
    if (this.#peek() !== letter) throw this.#refusal(`(${letter}) is missing`);
    this.#at++;
  }

  #refusal(why: string): SyntaxError {
    return new SyntaxError(`${why} at character (${Math.min(this.#at, this.#text.length)})`);
  }
}
