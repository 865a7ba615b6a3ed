// Changes files where their format has structure: Thrift fields, words of flatbuffers, words of a text, and bytes
// anywhere.
import { FlatReader } from '../../lib/table/arrow/flat-reader.ts';
import type { TableFormat } from '../../lib/table/format.ts';

/** Pseudorandom numbers: the same for a seed on every machine. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number below `most`. */
  below(most: number): number {
    // mulberry32
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    word = (word + Math.imul(word ^ (word >>> 7), word | 61)) ^ word;
    return ((word ^ (word >>> 14)) >>> 0) % most;
  }

  of<Entry>(entries: readonly Entry[]): Entry {
    return entries[this.below(entries.length)]!;
  }
}

/** Bytes of a file: numbers, whose change changes what is read; structure, whose change must not; names and types. */
export type Region = 'numbers' | 'structure' | 'schema';

/** A place that is changed as a whole. */
export interface Field {
  readonly at: number;
  readonly end: number;
  /** A `varint` has its sign in the lowest bit; a `uvarint`, for lengths, has no sign. */
  readonly kind: 'varint' | 'uvarint' | 'word8' | 'word16' | 'word32' | 'word64';
  readonly region: Region;
}

/** What is known of a sound file. */
interface Anatomy {
  readonly fields: readonly Field[];
  /** From the start of each part to that of the next, in order. */
  readonly parts: readonly { readonly at: number; readonly region: Region }[];
  /** Meaningful words of a text format. */
  readonly words: readonly string[];
  /** Where a Parquet footer begins: a field in it may change its length. */
  readonly footer: number;
}

interface Mutation {
  readonly bytes: Buffer;
  /** All regions that were changed. */
  readonly regions: ReadonlySet<Region>;
  readonly what: string;
}

/** The parts of a sound file. */
export function anatomyOf(format: TableFormat, bytes: Buffer): Anatomy {
  if (format === 'parquet') return parquetAnatomy(bytes);
  if (format === 'arrow' || format === 'arrows') return arrowAnatomy(bytes);
  const parts = [{ at: 0, region: 'numbers' as const }];
  return { fields: [], parts, words: format === 'csv' ? csvWords : npyWords, footer: bytes.length };
}

const csvWords = ['"', '""', ',', ';', '\t', '\n', '\r', '\r\n', '#', 'NA', '1e400', '-', '.', 'e', '0x10', ' ', '\0'];
const npyWords = ['(', ')', ',', "'", '{', '}', '-1', '1e300', 'True', "'shape': (2, 3)", '<i8', '|b1', '>f2', '9999'];

interface ThriftField extends Field {
  readonly path: string;
  readonly value: number;
}

/**
 * The fields of a struct in Thrift's compact protocol, in a sound file: whole numbers, lengths of texts, and the
 * bytes that say which field follows, its type, and the length of a list. Also where the struct ends.
 */
function thriftFields(bytes: Buffer, start: number): { fields: ThriftField[]; end: number } {
  const fields: ThriftField[] = [];
  let at = start;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++]!;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  const value = (type: number, path: string, isEntry: boolean): void => {
    const begin = at;
    if (type === 1 || type === 2) at += isEntry ? 1 : 0;
    else if (type === 3) at += 1;
    else if (type <= 6) {
      const zigzag = varint();
      const number = zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
      fields.push({ at: begin, end: at, kind: 'varint', region: 'structure', path, value: number });
    } else if (type === 7) at += 8;
    else if (type === 8) {
      const length = varint();
      fields.push({ at: begin, end: at, kind: 'uvarint', region: 'structure', path: `${path}, bytes`, value: length });
      at += length;
    } else if (type === 9 || type === 10) {
      const head = byte(`${path}, list`);
      const length = head >> 4 === 15 ? varint() : head >> 4;
      for (let index = 0; index < length; index++) value(head & 15, `${path}[${index}]`, true);
    } else if (type === 12) struct(path);
    else throw new Error(`Type (${type}) of Thrift is not known here.`);
  };
  const byte = (path: string): number => {
    const value = bytes[at++]!;
    fields.push({ at: at - 1, end: at, kind: 'word8', region: 'structure', path, value });
    return value;
  };
  const struct = (path: string): void => {
    let id = 0;
    for (let head = byte(`${path}, head`); head !== 0; head = byte(`${path}, head`)) {
      if (head >> 4 === 0) throw new Error('A sound file of the tests has fields that are far apart.');
      id += head >> 4;
      value(head & 15, `${path}.${id}`, false);
    }
  };
  struct('');
  return { fields, end: at };
}

function parquetAnatomy(bytes: Buffer): Anatomy {
  const footer = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8);
  const { fields } = thriftFields(bytes, footer);
  const all: Field[] = fields.map((field) => ({
    ...field,
    region: field.path.startsWith('.2') ? 'schema' : 'structure',
  }));
  const parts: { at: number; region: Region }[] = [
    { at: 0, region: 'structure' },
    { at: footer, region: 'structure' },
  ];
  // The schema is the second field, and begins after the first.
  const schema = all.filter(({ region }) => region === 'schema');
  parts.push({ at: schema[0]!.at - 8, region: 'schema' }, { at: schema.at(-1)!.end + 40, region: 'structure' });
  const byPath = new Map(fields.map((field) => [field.path, field.value]));
  for (const { path, value: dataStart } of fields) {
    const chunk = /^(\.4\[\d+\]\.1\[\d+\]\.3)\.9$/.exec(path)?.[1];
    if (chunk === undefined) continue;
    const start = byPath.get(`${chunk}.11`) || dataStart;
    const end = start + byPath.get(`${chunk}.7`)!;
    for (let page = start; page < end; ) {
      const header = thriftFields(bytes, page);
      all.push(...header.fields);
      parts.push({ at: page, region: 'structure' }, { at: header.end, region: 'numbers' });
      page = header.end + header.fields.find((field) => field.path === '.3')!.value;
      parts.push({ at: page, region: 'structure' });
    }
  }
  return { fields: all, parts: parts.sort((a, b) => a.at - b.at), words: [], footer };
}

function arrowAnatomy(bytes: Buffer): Anatomy {
  const fields: Field[] = [];
  const parts: { at: number; region: Region }[] = [{ at: 0, region: 'structure' }];
  const words = (start: number, end: number, region: Region) => {
    for (let at = start; at + 2 <= end; at += 2) {
      fields.push({ at, end: at + 2, kind: 'word16', region });
      if (at % 4 === 0 && at + 4 <= end) fields.push({ at, end: at + 4, kind: 'word32', region });
      if (at % 8 === 0 && at + 8 <= end) fields.push({ at, end: at + 8, kind: 'word64', region });
    }
  };
  let at = bytes.toString('latin1', 0, 6) === 'ARROW1' ? 8 : 0;
  let isSchema = true;
  let footer: Region = 'structure';
  if (at === 8 && bytes.readInt32LE(8) !== -1) {
    // In files by Polars the schema is not a message; only the one in the footer counts.
    parts.push({ at, region: 'schema' });
    while (bytes.readInt32LE(at) !== -1) at += 8;
    words(8, at, 'schema');
    isSchema = false;
    footer = 'schema';
  }
  while (at + 8 <= bytes.length && bytes.readInt32LE(at + 4) > 0 && bytes.readInt32LE(at) === -1) {
    const start = at + 8;
    const end = start + bytes.readInt32LE(at + 4);
    const region: Region = isSchema ? 'schema' : 'structure';
    const flat = new FlatReader(bytes.subarray(start, end));
    parts.push({ at, region });
    words(at, start, region);
    let from = start;
    for (const [first, last] of isSchema ? [] : toldOnce(flat)) {
      words(from, start + first, region);
      words(start + first, start + last, 'numbers');
      parts.push({ at: start + first, region: 'numbers' }, { at: start + last, region });
      from = start + last;
    }
    words(from, end, region);
    parts.push({ at: end, region: 'numbers' });
    at = end + flat.int64(flat.root(), 3);
    parts.push({ at, region: 'structure' });
    isSchema = false;
  }
  // The footer of Polars, with the schema that counts.
  words(at, bytes.length, footer);
  parts.push({ at, region: footer });
  return { fields, parts, words: [], footer: bytes.length };
}

/**
 * What a batch states only once, so that another value gives other numbers without a contradiction: where a buffer
 * begins, and whether buffers are compressed. First and last byte of each, in order.
 */
function toldOnce(flat: FlatReader): [number, number][] {
  const message = flat.root();
  const header = flat.child(message, 2)!;
  const batch = flat.uint8(message, 1) === 2 ? flat.child(header, 1)! : header;
  const { start, length } = flat.vector(batch, 2, 16);
  const places = Array.from({ length }, (_, index): [number, number] => [start + 16 * index, start + 16 * index + 8]);
  if (flat.child(batch, 3) !== undefined) {
    const fields = batch - flat.int32At(batch);
    // The place of the list of fields, its length, and in it that of the compression.
    places.push([batch, batch + 4], [fields, fields + 2], [fields + 10, fields + 12]);
  }
  return places.sort(([a], [b]) => a - b);
}

/** Values to try for any length, count, place or type. */
export const interesting: readonly bigint[] = [
  0n,
  1n,
  -1n,
  2n,
  3n,
  7n,
  8n,
  16n,
  33n,
  64n,
  127n,
  128n,
  255n,
  256n,
  65535n,
  65536n,
];
export const large: readonly bigint[] = [31n, 32n, 33n, 48n, 52n, 53n, 62n, 63n].flatMap((bits) => [
  2n ** bits - 1n,
  2n ** bits,
  -(2n ** bits),
]);

function otherValue(value: bigint, dice: Dice): bigint {
  const pick = dice.below(8);
  if (pick < 2) return value + BigInt(1 + dice.below(3)) * (pick === 0 ? 1n : -1n);
  if (pick === 2) return value * 2n;
  if (pick === 3) return -value;
  if (pick === 4) return dice.of(large);
  if (pick === 5) return value + BigInt(8 * (1 + dice.below(8))) * (dice.below(2) === 0 ? 1n : -1n);
  return dice.of(interesting);
}

/** The file with one or two changes. */
export function mutate(sound: Buffer, anatomy: Anatomy, dice: Dice): Mutation {
  let bytes: Buffer<ArrayBuffer> = Buffer.from(sound);
  const regions = new Set<Region>();
  const what: string[] = [];
  let isShifted = false;
  for (let change = dice.below(4) === 0 ? 2 : 1; change > 0; change--) {
    const pick = dice.below(10);
    if (anatomy.fields.length > 0 && pick < 7 && !isShifted) {
      const field = dice.of(anatomy.fields);
      const before = bytes.length;
      bytes = withField(bytes, field, anatomy.footer, dice);
      isShifted = bytes.length !== before;
      regions.add(field.region);
      what.push(`${field.kind} at ${field.at}`);
    } else {
      const at = dice.below(bytes.length);
      const length = 1 + dice.below(pick === 9 ? 64 : 4);
      const word = Buffer.from(anatomy.words.length > 0 ? dice.of(anatomy.words) : '');
      const kind =
        word.length > 0 && pick < 5
          ? dice.of(['word', 'other word'] as const)
          : dice.of(['set', 'set', 'flip', 'zero', 'ones', 'cut', 'insert', 'repeat', 'end'] as const);
      what.push(`${kind} ${length} at ${at}`);
      // A change that moves bytes affects everything after it.
      if (kind === 'set' || kind === 'flip' || kind === 'zero' || kind === 'ones')
        for (let place = at; place < Math.min(at + length, bytes.length); place++) {
          regions.add(isShifted ? 'schema' : regionAt(anatomy, place));
          bytes[place] = { set: dice.below(256), flip: bytes[place]! ^ (1 << dice.below(8)), zero: 0, ones: 255 }[kind];
        }
      else {
        isShifted = true;
        regions.add('schema');
        const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
        const some = Buffer.from(Array.from({ length }, () => dice.below(256)));
        if (kind === 'end') bytes = Buffer.from(head);
        else if (kind === 'word') bytes = Buffer.concat([head, word, tail]);
        else if (kind === 'other word') bytes = Buffer.concat([head, word, tail.subarray(word.length)]);
        else if (kind === 'cut') bytes = Buffer.concat([head, tail.subarray(length)]);
        else bytes = Buffer.concat([head, kind === 'insert' ? some : tail.subarray(0, 8 * length), tail]);
      }
    }
  }
  return { bytes, regions, what: what.join(', ') };
}

function regionAt({ parts }: Anatomy, place: number): Region {
  return parts.findLast(({ at }) => at <= place)!.region;
}

function withField(bytes: Buffer<ArrayBuffer>, field: Field, footer: number, dice: Dice): Buffer<ArrayBuffer> {
  return withValue(bytes, field, footer, otherValue(statedBy(bytes, field), dice));
}

/** What a field of a sound file states. */
export function statedBy(bytes: Uint8Array, { at, end, kind }: Field): bigint {
  let value = 0n;
  const bits = kind === 'varint' || kind === 'uvarint' ? 7n : 8n;
  for (let index = end - 1; index >= at; index--)
    value = (value << bits) | (BigInt(bytes[index]!) & ((1n << bits) - 1n));
  return kind !== 'varint' ? value : value % 2n === 0n ? value / 2n : -(value + 1n) / 2n;
}

/** The file with another value of a field; a value that takes more bytes moves what follows. */
export function withValue(
  bytes: Buffer<ArrayBuffer>,
  { at, end, kind }: Field,
  footer: number,
  value: bigint,
): Buffer<ArrayBuffer> {
  if (kind === 'varint' || kind === 'uvarint') {
    const encoded = varintOf(kind === 'uvarint' ? value : value >= 0n ? value * 2n : -value * 2n - 1n, end - at);
    const changed = Buffer.concat([bytes.subarray(0, at), encoded, bytes.subarray(end)]);
    const grown = changed.length - bytes.length;
    if (grown !== 0 && at >= footer)
      changed.writeUInt32LE(changed.readUInt32LE(changed.length - 8) + grown, changed.length - 8);
    return changed;
  }
  const changed = Buffer.from(bytes);
  let next = BigInt.asUintN(8 * (end - at), value);
  for (let index = at; index < end; index++, next /= 256n) changed[index] = Number(next % 256n);
  return changed;
}

// Padded to the previous number of bytes, which the protocol allows.
function varintOf(value: bigint, length: number): Buffer {
  let rest = BigInt.asUintN(64, value);
  const bytes: number[] = [];
  for (; rest >= 128n || bytes.length < length - 1; rest /= 128n) bytes.push(Number(rest % 128n) | 128);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}
