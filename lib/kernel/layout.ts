import { closing, codeOf, numberOf, splitList } from './source.ts';

/** The most characters of one member's declaration; a longer one is not read. */
const longestMember = 1000;

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
  int: 4,
  uint: 4,
  float: 4,
  long: 8,
  ulong: 8,
};

/** Bytes of one number of a Metal type. */
export function bytesOf(scalar: string): number {
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
function plainLayout(name: string): Layout | undefined {
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

/** The layouts of the types in one text. */
export class Layouts {
  readonly #text: string;
  readonly #code: string;
  readonly #structs: Map<string, Layout | undefined> = new Map();

  constructor(text: string) {
    this.#text = text;
    this.#code = codeOf(text).replace(/\s+/g, ' ');
  }

  /** The layout of a type; undefined if the text declares it in a way that is not understood here. */
  of(type: string): Layout | undefined {
    const name = type
      .replace(/\b(?:metal::|struct\s+|const\b|volatile\b)/g, '')
      .replace(/\s+/g, ' ')
      .trim();
    const plain = plainLayout(name);
    if (plain !== undefined) return plain;
    if (!/^\w+$/.test(name)) return undefined;
    if (!this.#structs.has(name)) {
      this.#structs.set(name, undefined); // a struct within itself has no layout
      this.#structs.set(name, this.#struct(name) ?? this.#alias(name));
    }
    return this.#structs.get(name);
  }

  #alias(name: string): Layout | undefined {
    const [, using] = new RegExp(`\\busing\\s+${name}\\s*=\\s*([^;]{1,${longestMember}});`).exec(this.#code) ?? [];
    if (using !== undefined) return this.of(using);
    // The last words before the semicolon, so that no other typedef is between them.
    const old = new RegExp(`\\btypedef\\s+((?:(?!typedef\\b)[^;{}]){1,${longestMember}}?)\\s+${name}\\s*;`).exec(
      this.#code,
    );
    if (old !== null) return this.of(old[1]!);
    const enumeration = new RegExp(`\\benum\\s+(?:class\\s+)?${name}\\s*(?::\\s*(\\w+))?\\s*\\{`).exec(this.#code);
    return enumeration === null ? undefined : this.of(enumeration[1] ?? 'int');
  }

  #struct(name: string): Layout | undefined {
    const found = new RegExp(`\\bstruct\\s+${name}\\s*\\{`).exec(this.#code);
    // typedef struct { ... } Name;
    const open = found === null ? this.#typedefOf(name) : found.index + found[0].length - 1;
    if (open === undefined) return undefined;
    const body = this.#code.slice(open + 1, closing(this.#code, open));
    return this.#laidOut(name, body);
  }

  #typedefOf(name: string): number | undefined {
    for (const { index, 0: head } of this.#code.matchAll(/\btypedef\s+struct\s*\w*\s*\{/g)) {
      const open = index + head.length - 1;
      const behind = this.#code.slice(closing(this.#code, open) + 1);
      if (new RegExp(`^\\s*${name}\\s*;`).test(behind)) return open;
    }
    return undefined;
  }

  #laidOut(type: string, body: string): Layout | undefined {
    const members: { name: string; offsetBytes: number; layout: Layout }[] = [];
    let offset = 0;
    let align = 1;
    for (const statement of body.split(';')) {
      const text = statement.replace(/\[\[.*?\]\]/g, '').trim();
      if (text === '') continue;
      if (text.length > longestMember) return undefined;
      const [first, ...more] = splitList(text);
      const [, base, declarator] = /^([\w\s:<>,]+?)\s+(\w+\s*(?:\[[^\]]*\]\s*)*)$/.exec(first!) ?? [];
      const element = base === undefined ? undefined : this.of(base);
      if (element === undefined) return undefined;
      for (const each of [declarator!, ...more]) {
        const [, name, brackets] = /^(\w+)\s*((?:\[[^\]]*\]\s*)*)$/.exec(each) ?? [];
        if (name === undefined) return undefined;
        const layout = this.#array(element, brackets!);
        if (layout === undefined) return undefined;
        offset = roundUp(offset, layout.alignBytes);
        members.push({ name, offsetBytes: offset, layout });
        offset += layout.sizeBytes;
        align = Math.max(align, layout.alignBytes);
      }
    }
    if (members.length === 0) return undefined;
    return { type, sizeBytes: roundUp(offset, align), alignBytes: align, members };
  }

  #array(element: Layout, brackets: string): Layout | undefined {
    let layout = element;
    for (const [, size] of [...brackets.matchAll(/\[([^\]]*)\]/g)].reverse()) {
      const length = numberOf(size!, this.#text);
      if (length === undefined || length === 0) return undefined;
      layout = {
        type: `${layout.type}[${length}]`,
        sizeBytes: layout.sizeBytes * length,
        alignBytes: layout.alignBytes,
        element: layout,
        length,
      };
    }
    return layout;
  }
}

function roundUp(bytes: number, align: number): number {
  return Math.ceil(bytes / align) * align;
}
