import { evaluate } from './expression.ts';
import { errorAt, type Token } from './tokens.ts';

/** Token indices, the end not included. */
export type Range = readonly [begin: number, end: number];

/** A declaration in a text or in one of its namespaces. */
export interface Declaration {
  readonly begin: number;
  /** After its last token, usually a semicolon or the body's brace. */
  readonly end: number;
  readonly kind: 'function' | 'type' | 'variable' | 'instantiation' | 'always';
  /** What it declares. */
  readonly names: readonly string[];
  /** The namespaces around it, such as `a::`. */
  readonly scope: string;
  /** The parameters of a template; empty if it is not one. */
  readonly templateParameters: readonly string[];
  /** The index of the name of a function, or of what an instantiation instantiates. */
  readonly nameAt: number;
  /** A function's parentheses. */
  readonly parameters: Range | undefined;
  /** Braces of a function or a type; undefined if it is only declared. */
  readonly body: Range | undefined;
  /** The contents of its attributes, [[...]]. */
  readonly attributes: readonly Range[];
}

/** The deepest nesting of namespaces, as in clang. */
const deepest = 256;

/** Words before parentheses that declare nothing. */
const called: ReadonlySet<string> = new Set([
  '__attribute__',
  'alignas',
  'decltype',
  'noexcept',
  'static_assert',
  'explicit',
  'sizeof',
  'requires',
]);
export const typeWords: ReadonlySet<string> = new Set(['struct', 'class', 'union', 'enum']);
/** Marks that show that a `<` before them is a comparison. */
const notInArguments = /^(?:;|\{|\}|\)|\]|&&|\|\||[-+*/%&|^<>]?=)$/;
const opening: { readonly [open: string]: string } = { '(': ')', '[': ']', '{': '}' };

/** The index of the bracket that closes each bracket; the number of tokens if none does. */
function closings(tokens: readonly Token[]): Int32Array {
  const close = new Int32Array(tokens.length).fill(-1);
  const waiting: number[] = [];
  tokens.forEach(({ kind, text }, i) => {
    if (kind !== 'mark') return;
    if (opening[text] !== undefined) waiting.push(i);
    else if (text === ')' || text === ']' || text === '}') {
      // A bracket of another kind ends those within it.
      let open = waiting.length - 1;
      while (open >= 0 && opening[tokens[waiting[open]!]!.text] !== text) open--;
      if (open < 0) return;
      for (const each of waiting.splice(open)) close[each] = i;
    }
  });
  for (const each of waiting) close[each] = tokens.length;
  return close;
}

/** A preprocessed text, its brackets and its declarations. */
export class Source {
  readonly tokens: readonly Token[];
  readonly close: Int32Array;
  readonly declarations: readonly Declaration[];
  /** What stands around declarations: the heads and ends of namespaces. */
  readonly frames: readonly Range[];
  readonly #byName: Map<string, Declaration[]> = new Map();
  readonly #values: Map<string, bigint | undefined> = new Map();
  #words: Set<string> | undefined;

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
    this.close = closings(tokens);
    const found: Declaration[] = [];
    const frames: Range[] = [];
    this.#scan(0, tokens.length, '', 0, found, frames);
    this.declarations = found;
    this.frames = frames;
    for (const declaration of found)
      for (const name of declaration.names) {
        const same = this.#byName.get(name);
        if (same === undefined) this.#byName.set(name, [declaration]);
        else same.push(declaration);
      }
  }

  text(index: number): string {
    return this.tokens[index]?.text ?? '';
  }

  /** The declarations of a name, in all scopes. */
  named(name: string): readonly Declaration[] {
    return this.#byName.get(name) ?? [];
  }

  /** True if a word stands in the braces of a type, and not behind a point: members of types do. */
  isMember(word: string): boolean {
    if (this.#words === undefined) {
      this.#words = new Set();
      for (let at = 0; at < this.tokens.length; at++) {
        if (!typeWords.has(this.text(at))) continue;
        // Its name, the arguments of a specialisation, its bases; <class T> is not a type.
        for (let inBases = false; at < this.tokens.length; at++) {
          const next = this.text(at + 1);
          if (next === ':') inBases = true;
          if (next === '<') at = (this.angleEnd(at + 1) ?? at + 1) - 1;
          else if (/^[;(){}=]$/.test(next) || (!inBases && /^[,>]$/.test(next))) break;
        }
        const close = this.text(at + 1) === '{' ? this.close[at + 1]! : 0;
        for (; at < close; at++)
          if (this.text(at - 1) !== '.' && this.text(at - 1) !== '->') this.#words.add(this.text(at));
      }
    }
    return this.#words.has(word);
  }

  /** True if an attribute begins at `index`: `[[`. */
  isAttribute(index: number): boolean {
    return this.text(index) === '[' && this.text(index + 1) === '[';
  }

  /**
   * The index of the mark that closes the template arguments opened by the `<` at `index`; undefined if it is a
   * comparison. The head of a template has defaults and conditions, and no comparison outside of parentheses.
   */
  angleEnd(index: number, limit: number = this.tokens.length, isHead = false): number | undefined {
    let depth = 0;
    for (let at = index; at < Math.min(limit, index + 2000); at++) {
      const text = this.text(at);
      if (text === '<') depth++;
      else if (text === '>') depth--;
      else if (text === '>>') depth -= 2;
      else if (text === '(' || text === '[') at = this.close[at]!;
      else if (isHead ? /^[;{}]$/.test(text) : notInArguments.test(text)) return undefined;
      if (depth === 0) return at;
      if (depth < 0) return undefined;
    }
    return undefined;
  }

  /** The whole number that an expression of constants says; undefined if it says none. */
  valueOf(begin: number, end: number, depth = 0): bigint | undefined {
    if (depth > 20) return undefined;
    return evaluate(this.tokens.slice(begin, end), (name) => {
      if (!this.#values.has(name)) {
        this.#values.set(name, undefined); // names defined by each other have no value
        this.#values.set(name, this.#constant(name, depth));
      }
      return this.#values.get(name);
    });
  }

  /** The initial value of a variable that stands in a declaration; undefined if it has none. */
  initialOf(name: string, [begin, end]: Range): Range | undefined {
    let at = begin;
    while (at < end && (this.text(at) !== name || this.text(at + 1) !== '=')) at++;
    let until = at + 2;
    while (until < end && !/^[;,]$/.test(this.text(until))) until = Math.max(until, this.close[until]!) + 1;
    return at < end ? [at + 2, until] : undefined;
  }

  #constant(name: string, depth: number): bigint | undefined {
    for (const { kind, begin, end, body } of this.named(name)) {
      const initial = kind === 'variable' ? this.initialOf(name, [begin, end]) : undefined;
      if (initial !== undefined) return this.valueOf(initial[0], initial[1], depth + 1);
      if (kind !== 'type' || body === undefined) continue;
      let value = -1n;
      for (let at = body[0] + 1; at < body[1]; at++) {
        let until = at + 1;
        while (until < body[1] && this.text(until) !== ',') until = Math.max(until, this.close[until]!) + 1;
        const given = this.text(at + 1) === '=' ? this.valueOf(at + 2, until, depth + 1) : value + 1n;
        if (given === undefined || this.text(at) === name) return given;
        value = given;
        at = until;
      }
    }
    return undefined;
  }

  #scan(from: number, limit: number, scope: string, depth: number, found: Declaration[], frames: Range[]): void {
    if (depth > deepest)
      throw errorAt(this.tokens[from - 1]!, `Text has namespaces more than (${deepest}) deep`, 'ERR_TOO_LARGE');
    for (let at = from; at < limit; ) {
      const text = this.text(at);
      if (text === ';' || text === '}') {
        at++;
        continue;
      }
      const open = this.#namespaceBrace(at, limit);
      if (open !== undefined) {
        frames.push([at, open + 1]);
        const close = Math.min(this.close[open]!, limit);
        const words = this.tokens.slice(at, open).filter(({ kind }) => kind === 'word');
        const name = words.findLast(({ text: word }) => word !== 'namespace' && word !== 'inline');
        const inner = text === 'extern' || name === undefined ? scope : `${scope}${name.text}::`;
        this.#scan(open + 1, close, inner, depth + 1, found, frames);
        if (close < limit) frames.push([close, close + 1]);
        at = close + 1;
        continue;
      }
      const declaration = this.#declaration(at, limit, scope);
      found.push(declaration);
      at = declaration.end;
    }
  }

  #namespaceBrace(at: number, limit: number): number | undefined {
    if (this.text(at) === 'extern' && this.text(at + 2) === '{') return at + 2;
    const word = this.text(at) === 'inline' ? at + 1 : at;
    if (this.text(word) !== 'namespace') return undefined;
    for (let open = word + 1; open < limit; open++) {
      if (this.text(open) === '{') return open;
      if (this.text(open) === '=' || this.text(open) === ';') return undefined;
    }
    return undefined;
  }

  #declaration(begin: number, limit: number, scope: string): Declaration {
    const attributes: Range[] = [];
    const templateParameters: string[] = [];
    let at = begin;
    let isInstantiation = false;
    while (this.text(at) === 'template') {
      const end = this.text(at + 1) === '<' ? this.angleEnd(at + 1, limit, true) : undefined;
      if (end === undefined) {
        isInstantiation = true;
        at++;
        break;
      }
      templateParameters.push(...this.#templateParameters(at + 1, end));
      at = end + 1;
    }
    const first = this.text(at);
    let name = -1;
    let behindName = -1;
    let parameters: Range | undefined;
    let body: Range | undefined;
    let isType = false;
    let hasValue = false;
    const names = new Set<string>();
    let end = limit;
    for (; at < limit; at++) {
      const { text, kind } = this.tokens[at]!;
      if (text === ';') {
        end = at + 1;
        break;
      }
      if (this.isAttribute(at)) {
        attributes.push([at + 2, this.close[at + 1]!]);
        at = this.close[at]!;
      } else if (text === '(') {
        const isDeclared = !hasValue && parameters === undefined && behindName === at && !called.has(this.text(name));
        if (isDeclared) parameters = [at, this.close[at]!];
        at = this.close[at]!;
      } else if (text === '[') at = this.close[at]!;
      else if (text === '{') {
        const close = Math.min(this.close[at]!, limit - 1);
        if (parameters !== undefined && !hasValue) {
          body = [at, close];
          end = close + 1;
          break;
        }
        if (isType && body === undefined && !hasValue) {
          body = [at, close];
          if (first === 'enum' || this.text(begin) === 'enum' || this.hasWord(begin, at, 'enum'))
            for (const each of this.#enumeratorsIn(at, close)) names.add(each);
        } else if (behindName === at && !hasValue) names.add(this.text(name));
        at = close;
      } else if (text === '<' && kind === 'mark' && behindName === at && !hasValue) {
        const close = this.angleEnd(at, limit);
        if (close === undefined) continue;
        at = close;
        behindName = close + 1;
      } else if (text === '=' && this.text(name) !== 'operator') {
        if (name >= 0) names.add(this.text(name));
        hasValue = true;
      } else if (text === ',' && parameters === undefined) {
        if (!hasValue && name >= 0) names.add(this.text(name));
        hasValue = false;
      } else if (typeWords.has(text) && parameters === undefined && !hasValue) {
        isType = true;
        let word = at + 1;
        while (
          this.text(word) === 'class' ||
          this.isAttribute(word) ||
          this.text(word) === 'alignas' ||
          this.text(word) === '__attribute__'
        )
          word = this.isAttribute(word)
            ? this.close[word]! + 1
            : this.text(word) === 'class'
              ? word + 1
              : this.close[word + 1]! + 1;
        if (this.tokens[word]?.kind === 'word') names.add(this.text(word));
      } else if (kind === 'word' && parameters === undefined && !hasValue) {
        name = at;
        behindName = at + 1;
        if (text === 'operator') {
          // Its marks are a part of its name; one of them may be a pair of parentheses.
          if (this.text(at + 1) === '(') at += 2;
          else while (at + 1 < limit && this.text(at + 1) !== '(') at++;
          behindName = at + 1;
        }
      }
    }
    const isUsing = first === 'using' && this.hasWord(begin, end, '=');
    const isAlways =
      first === 'static_assert' ||
      (first === 'using' && !isUsing) ||
      first === 'namespace' ||
      this.text(name) === 'operator';
    const kind = isInstantiation
      ? 'instantiation'
      : isAlways
        ? 'always'
        : parameters !== undefined
          ? 'function'
          : isType || isUsing || first === 'typedef'
            ? 'type'
            : 'variable';
    if (name >= 0 && !(isType && body !== undefined && behindName <= body[0])) names.add(this.text(name));
    return {
      begin,
      end,
      kind,
      names: [...names],
      scope,
      templateParameters,
      nameAt: name,
      parameters,
      body,
      attributes,
    };
  }

  /** True if a word is among some tokens. */
  hasWord(begin: number, end: number, word: string): boolean {
    for (let at = begin; at < end; at++) if (this.text(at) === word) return true;
    return false;
  }

  #enumeratorsIn(open: number, close: number): string[] {
    const names: string[] = [];
    for (let at = open + 1; at < close; at++) {
      const before = this.text(at - 1);
      if (this.tokens[at]!.kind === 'word' && (before === '{' || before === ',')) names.push(this.text(at));
    }
    return names;
  }

  /** The names of a template's parameters: the last word of each, before its default. */
  #templateParameters(open: number, close: number): string[] {
    return this.split(open + 1, close).map(([begin, end]) => {
      let name = '';
      for (let at = begin; at < end && this.text(at) !== '='; at++) {
        if (this.text(at) === '<') at = this.angleEnd(at, end) ?? at;
        if (this.tokens[at]!.kind === 'word') name = this.text(at);
      }
      return name;
    });
  }

  /** The parts of a list, between its outer commas; none of an empty list. */
  split(begin: number, end: number): Range[] {
    const parts: Range[] = [];
    let from = begin;
    for (let at = begin; at < end; at++) {
      const text = this.text(at);
      if (text === '<') at = this.angleEnd(at, end) ?? (this.#sharesEnd(at, end) ? end : at);
      else if (this.close[at]! >= 0) at = this.close[at]!;
      else if (text === ',') {
        parts.push([from, at]);
        from = at + 1;
      }
    }
    if (from < end) parts.push([from, end]);
    return parts;
  }

  /** True if the mark behind a list closes what the `<` at `index` opens, the last of its parts: f<A<B>>. */
  #sharesEnd(index: number, end: number): boolean {
    if (this.text(end) !== '>>' || end > index + 2000) return false;
    let depth = 0;
    for (let at = index; at < end; at++) {
      const text = this.text(at);
      if (text === '<') depth++;
      else if (text === '>') depth--;
      else if (text === '(' || text === '[') at = this.close[at]!;
      else if (notInArguments.test(text)) return false;
    }
    return depth === 1;
  }
}
