import { closing, codeOf, firstOf, numberOf, splitList } from './source.ts';

/** The most characters of a declaration, and of a member's; a longer one is not read. */
const longestMember = 1000;
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
  #declared: Declared | undefined;
  #depth = 0;

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
    if (!this.#structs.has(name) && this.#depth < deepest) {
      this.#structs.set(name, undefined); // a struct within itself has no layout
      this.#depth++;
      this.#structs.set(name, this.#named(name));
      this.#depth--;
    }
    return this.#structs.get(name);
  }

  #named(name: string): Layout | undefined {
    this.#declared ??= declaredIn(this.#code);
    const { structs, aliases, enumerations } = this.#declared;
    const open = structs.get(name);
    const body = open === undefined ? undefined : this.#code.slice(open + 1, closing(this.#code, open));
    const struct = body === undefined ? undefined : this.#laidOut(name, body);
    if (struct !== undefined) return struct;
    const other = aliases.get(name) ?? enumerations.get(name);
    return other === undefined ? undefined : this.of(other || 'int');
  }

  #laidOut(type: string, body: string): Layout | undefined {
    const members: { name: string; offsetBytes: number; layout: Layout }[] = [];
    let offset = 0;
    let align = 1;
    for (const statement of body.split(';')) {
      if (statement.length > longestMember) return undefined;
      const text = statement.replace(/\[\[.*?\]\]/g, '').trim();
      if (text === '') continue;
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

/** The types that a text declares, the first of each name. */
interface Declared {
  /** The place of the bracket that opens the struct. */
  readonly structs: ReadonlyMap<string, number>;
  /** The other name of a type. */
  readonly aliases: ReadonlyMap<string, string>;
  /** The type beneath; empty where none is named. */
  readonly enumerations: ReadonlyMap<string, string>;
}

/** In one pass each, because a text may declare thousands. */
function declaredIn(code: string): Declared {
  const structs = new Map<string, number>();
  for (const { index, 0: head, 1: name } of code.matchAll(/\bstruct\s+(\w+)\s*\{/g))
    if (!structs.has(name!)) structs.set(name!, index + head.length - 1);
  // typedef struct { ... } Name;
  const behind = /\s*(\w+)\s*;/y;
  for (const { index, 0: head } of code.matchAll(/\btypedef\s+struct\s*\w*\s*\{/g)) {
    const open = index + head.length - 1;
    behind.lastIndex = closing(code, open) + 1;
    const [, name] = behind.exec(code) ?? [];
    if (name !== undefined && !structs.has(name)) structs.set(name, open);
  }
  const aliases = new Map(firstOf(code.matchAll(/\busing\s+(\w+)\s*=\s*([^;=]{1,1000});/g)));
  for (const statement of code.split(/[;{}]/)) {
    // The last words before the semicolon, so that no other typedef is between them.
    const last = statement.slice(statement.lastIndexOf('typedef')).trim();
    const [, old, name] = last.length > longestMember ? [] : (/^typedef\s+(.+)\s(\w+)$/.exec(last) ?? []);
    if (name !== undefined && !aliases.has(name)) aliases.set(name, old!);
  }
  const enumerations = firstOf(code.matchAll(/\benum\s+(?:class\s+)?(\w+)\s*(?::\s*(\w+))?\s*\{/g));
  return { structs, aliases, enumerations };
}

function roundUp(bytes: number, align: number): number {
  return Math.ceil(bytes / align) * align;
}
