import type { Declaration, Range, Source } from './declarations.ts';
import { type Token, textOf } from './tokens.ts';

/** The most structs in one another. */
const deepest = 100;

/** How Metal lays out a type in memory. */
export interface Layout {
  /** The name in the text. */
  readonly type: string;
  readonly sizeBytes: number;
  readonly alignBytes: number;
  /** For a number or a vector: Metal's name of its element, such as `float`. */
  readonly scalar?: string;
  /** Numbers of a vector, without padding. */
  readonly count?: number;
  /** For an array: its elements. */
  readonly element?: Layout;
  readonly length?: number;
  /** For a struct: its members, in order. */
  readonly members?: readonly { readonly name: string; readonly offsetBytes: number; readonly layout: Layout }[];
}

const scalarBytes: { readonly [type: string]: number } = {
  bool: 1,
  char: 1,
  uchar: 1,
  short: 2,
  ushort: 2,
  half: 2,
  bfloat: 2,
  int: 4,
  uint: 4,
  float: 4,
  long: 8,
  ulong: 8,
};

/** Bytes of one number of a Metal type. */
export function bytesOfScalar(scalar: string): number {
  return scalarBytes[scalar]!;
}

const otherNames: { readonly [name: string]: string } = {
  int8_t: 'char',
  uint8_t: 'uchar',
  int16_t: 'short',
  uint16_t: 'ushort',
  int32_t: 'int',
  uint32_t: 'uint',
  int64_t: 'long',
  uint64_t: 'ulong',
  size_t: 'ulong',
  ptrdiff_t: 'long',
  atomic_int: 'int',
  atomic_uint: 'uint',
  atomic_float: 'float',
  atomic_bool: 'bool',
  'unsigned char': 'uchar',
  'unsigned short': 'ushort',
  'unsigned int': 'uint',
  'unsigned long': 'ulong',
  unsigned: 'uint',
  'signed char': 'char',
};

/** The layout of a type that needs no text: a number, a vector, or a matrix, which consists of its columns. */
export function plainLayout(name: string): Layout | undefined {
  const [, templated, templatedCount] = /^(?:packed_)?vec<(\w+),(\d)>$/.exec(name.replaceAll(' ', '')) ?? [];
  const [, atomic] = /^atomic<(\w+)>$/.exec(name.replaceAll(' ', '')) ?? [];
  const whole = atomic ?? (templated === undefined ? name : `${templated}${templatedCount}`);
  const known = otherNames[whole] ?? whole;
  const [, columns, rows] = /^float([234])x([234])$/.exec(known) ?? [];
  if (columns !== undefined) {
    const column = plainLayout(`float${rows}`)!;
    const length = Number(columns);
    const { alignBytes } = column;
    return { type: name, sizeBytes: length * column.sizeBytes, alignBytes, element: column, length };
  }
  const [, packed, scalar = '', digits] = /^(packed_)?([a-z]+?)([234])?$/.exec(known) ?? [];
  const bytes = scalarBytes[scalar];
  if (bytes === undefined || (packed !== undefined && digits === undefined)) return undefined;
  const count = Number(digits ?? 1);
  const places = packed === undefined && count === 3 ? 4 : count;
  const alignBytes = packed === undefined ? places * bytes : bytes;
  return { type: name, sizeBytes: places * bytes, alignBytes, scalar, count };
}

/** A type as it is usually written: `vec<float, 4>`, `metal::uint`. */
export function typeText(tokens: readonly Token[]): string {
  return textOf(tokens)
    .replace(/ ?(::|[<>[\]()]) ?/g, '$1')
    .replaceAll(' ,', ',')
    .trim();
}

/** The most characters of an array's type that is read. */
const longestName = 200;

/** Words that begin a declaration in a struct that takes no room there. */
const roomless: ReadonlySet<string> = new Set(['using', 'typedef', 'static', 'friend', 'template', 'static_assert']);

/** The layouts of the types in one text. */
export class Layouts {
  readonly #source: Source;
  readonly #known: Map<string, Layout | undefined> = new Map();
  #depth = 0;

  constructor(source: Source) {
    this.#source = source;
  }

  /** The layout of a type; undefined if the text declares it in a way that is not understood here. */
  of(type: string): Layout | undefined {
    const name = type
      .replace(/\b(?:metal::|(?:struct|const|volatile)(?= |$))/g, '')
      .replace(/\s+/g, ' ')
      .trim();
    const plain = plainLayout(name);
    if (plain !== undefined) return plain;
    const [, element, count] = (name.length > longestName ? null : /^array<(.+), ?(\d+)>$/.exec(name)) ?? [];
    if (element !== undefined) {
      const layout = this.of(element);
      return layout === undefined ? undefined : repeated(layout, Number(count));
    }
    const [, word] = /^(?:\w+::)*(\w+)$/.exec(name) ?? [];
    if (word === undefined) return undefined;
    if (!this.#known.has(word) && this.#depth < deepest) {
      this.#known.set(word, undefined); // a struct within itself has no layout
      this.#depth++;
      this.#known.set(word, this.#named(word));
      this.#depth--;
    }
    return this.#known.get(word);
  }

  /** By the first declaration of the name that says what it is. */
  #named(name: string): Layout | undefined {
    const source = this.#source;
    for (const declaration of source.named(name)) {
      const { kind, begin, end, body, nameAt, templateParameters } = declaration;
      if (kind !== 'type') continue;
      if (templateParameters.length > 0) return undefined;
      const words = source.tokens.slice(begin, body?.[0] ?? end).map(({ text }) => text);
      if (words.includes('enum')) return this.of(this.#enumeration(declaration));
      if (words[0] === 'using') return this.of(typeText(source.tokens.slice(begin + words.indexOf('=') + 1, end - 1)));
      if (body !== undefined) return words.includes('union') ? undefined : this.#laidOut(name, body);
      // Only `typedef T name;`: an array or a function is not a type that a buffer has.
      if (words[0] === 'typedef' && source.text(nameAt) === name && nameAt === end - 2)
        return this.of(typeText(source.tokens.slice(begin + 1, nameAt)));
    }
    return undefined;
  }

  /** The type beneath. */
  #enumeration({ begin, body }: Declaration): string {
    const words = this.#source.tokens.slice(begin, body?.[0] ?? begin);
    const colon = words.findIndex(({ text }) => text === ':');
    return colon < 0 ? 'int' : typeText(words.slice(colon + 1));
  }

  #laidOut(type: string, body: Range): Layout | undefined {
    const members: { name: string; offsetBytes: number; layout: Layout }[] = [];
    let offset = 0;
    let align = 1;
    for (const [begin, end] of this.#membersIn(body)) {
      const parts = this.#source.split(begin, end);
      const head = this.#declarator(parts[0]!);
      const element = head === undefined ? undefined : this.of(typeText(this.#source.tokens.slice(begin, head.nameAt)));
      if (element === undefined) return undefined;
      for (const part of parts) {
        const each = this.#declarator(part);
        if (each === undefined || (part !== parts[0] && each.nameAt !== part[0])) return undefined;
        const layout = this.#array(element, each.dimensions);
        if (layout === undefined) return undefined;
        offset = roundUp(offset, layout.alignBytes);
        members.push({ name: this.#source.text(each.nameAt), offsetBytes: offset, layout });
        offset += layout.sizeBytes;
        align = Math.max(align, layout.alignBytes);
      }
    }
    if (members.length === 0) return undefined;
    return { type, sizeBytes: roundUp(offset, align), alignBytes: align, members };
  }

  /** The declarations of members, without attributes behind them; functions and types in the struct take no room. */
  #membersIn([open, close]: Range): Range[] {
    const source = this.#source;
    const found: Range[] = [];
    let begin = open + 1;
    let end = -1;
    let isFunction = false;
    for (let at = begin; at < close; at++) {
      const text = source.text(at);
      if (text === ';' || (text === ':' && at === begin + 1)) {
        if (end < 0) end = at;
        if (text === ';' && begin < end && !isFunction && !roomless.has(source.text(begin))) found.push([begin, end]);
        begin = at + 1;
        end = -1;
        isFunction = false;
      } else if (source.isAttribute(at)) {
        if (at === begin) begin = source.close[at]! + 1;
        else if (end < 0) end = at;
        at = source.close[at]!;
      } else if (text === '(') {
        isFunction = true;
        at = source.close[at]!;
      } else if (text === '{') {
        at = source.close[at]!;
        // A function's body ends its declaration.
        if (isFunction) begin = at + 1;
        isFunction = false;
      } else if (text === '[') at = source.close[at]!;
    }
    return found;
  }

  /** The name of a declarator and its dimensions; undefined for a pointer, a field of bits, an initial value. */
  #declarator([begin, end]: Range): { readonly nameAt: number; readonly dimensions: readonly Range[] } | undefined {
    const source = this.#source;
    const dimensions: Range[] = [];
    let last = end;
    while (last > begin && source.text(last - 1) === ']') {
      let open = last - 2;
      while (open > begin && source.close[open] !== last - 1) open--;
      dimensions.push([open + 1, last - 1]);
      last = open;
    }
    if (source.tokens[last - 1]?.kind !== 'word') return undefined;
    for (let at = begin; at < last; at++) if (/^[*&:={(]$/.test(source.text(at))) return undefined;
    return { nameAt: last - 1, dimensions };
  }

  /** Dimensions come from the last to the first. */
  #array(element: Layout, dimensions: readonly Range[]): Layout | undefined {
    let layout = element;
    for (const [begin, end] of dimensions) {
      const length = Number(this.#source.valueOf(begin, end) ?? 0n);
      if (length <= 0) return undefined;
      layout = repeated(layout, length);
    }
    return layout;
  }
}

function repeated(element: Layout, length: number): Layout {
  const { type, sizeBytes, alignBytes } = element;
  return { type: `${type}[${length}]`, sizeBytes: sizeBytes * length, alignBytes, element, length };
}

function roundUp(bytes: number, align: number): number {
  return Math.ceil(bytes / align) * align;
}
