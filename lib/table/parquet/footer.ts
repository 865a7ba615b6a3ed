import { Contradiction, NotTaken } from '../contradiction.ts';
import { ThriftReader } from './thrift.ts';

// Numbers of the format's enumerations:
// https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
const physicalTypes = [
  'BOOLEAN',
  'INT32',
  'INT64',
  'INT96',
  'FLOAT',
  'DOUBLE',
  'BYTE_ARRAY',
  'FIXED_LEN_BYTE_ARRAY',
] as const;
const convertedTypes = [
  ...['UTF8', 'MAP', 'MAP_KEY_VALUE', 'LIST', 'ENUM', 'DECIMAL', 'DATE', 'TIME_MILLIS', 'TIME_MICROS'],
  ...['TIMESTAMP_MILLIS', 'TIMESTAMP_MICROS', 'UINT_8', 'UINT_16', 'UINT_32', 'UINT_64'],
  ...['INT_8', 'INT_16', 'INT_32', 'INT_64', 'JSON', 'BSON', 'INTERVAL'],
] as const;
const logicalTypes: { readonly [id: number]: string } = {
  ...{ 1: 'STRING', 2: 'MAP', 3: 'LIST', 4: 'ENUM', 5: 'DECIMAL', 6: 'DATE', 7: 'TIME', 8: 'TIMESTAMP' },
  ...{ 10: 'INTEGER', 11: 'UNKNOWN', 12: 'JSON', 13: 'BSON', 14: 'UUID', 15: 'FLOAT16', 16: 'VARIANT' },
  ...{ 17: 'GEOMETRY', 18: 'GEOGRAPHY' },
};
const codecs = ['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'LZO', 'BROTLI', 'LZ4', 'ZSTD', 'LZ4_RAW'] as const;

/** How the bytes of a page are compressed. */
export type ParquetCodec = (typeof codecs)[number];

/** How a number lies in a file. */
export interface ParquetNumber {
  readonly kind: 'int' | 'uint' | 'float';
  /** Of the number's own range: 8 and 16 bits lie in 32. */
  readonly bits: 8 | 16 | 32 | 64;
  readonly bytes: 2 | 4 | 8;
}

/** A column of the schema's first level. */
export interface ParquetField {
  readonly name: string;
  /** Undefined where it holds no numbers. */
  readonly number: ParquetNumber | undefined;
  /** What it holds, for a refusal. */
  readonly kind: string;
  readonly isOptional: boolean;
  /** Its place among the chunks of a row group. */
  readonly leaf: number;
}

/** Where a column of a row group lies. */
export interface ColumnChunk {
  /** Of its first page. */
  readonly start: number;
  readonly end: number;
  readonly dataStart: number;
  readonly hasDictionaryOffset: boolean;
  readonly codec: ParquetCodec;
}

interface RawChunk {
  isElsewhere: boolean;
  isEncrypted: boolean;
  type: number;
  path: string[];
  codec: number;
  values: number;
  compressedBytes: number;
  dataOffset: number;
  dictionaryOffset: number | undefined;
}

interface RawGroup {
  rows: number;
  chunks: RawChunk[];
}

/** What a footer says, held against itself. */
export interface ParquetFooter {
  readonly fields: readonly ParquetField[];
  readonly rows: number;
  /** Rows of each row group. */
  readonly groups: readonly number[];
  /** Throws a {@link Contradiction} or {@link NotTaken}. */
  chunk(group: number, field: ParquetField): ColumnChunk;
}

interface Element {
  name: string;
  type: number | undefined;
  bytes: number | undefined;
  repetition: number | undefined;
  children: number;
  converted: number | undefined;
  logical: number | undefined;
  integerBits: number | undefined;
  isSigned: boolean | undefined;
}

/**
 * Reads the footer of a file whose pages lie before byte `pagesEnd`. Throws a {@link Contradiction} where schema, row
 * groups and chunks do not fit each other or the file.
 */
export function readFooter(bytes: Uint8Array, pagesEnd: number): ParquetFooter {
  const reader = new ThriftReader(bytes);
  let elements: Element[] = [];
  let groups: RawGroup[] = [];
  let rows = -1;
  reader.struct((id) => {
    if (id === 2) elements = reader.list(() => readElement(reader));
    else if (id === 3) rows = reader.integer();
    else if (id === 4) groups = reader.list(() => readGroup(reader));
    else if (id === 8) throw new NotTaken('its footer belongs to an encrypted file');
    else return false;
    return true;
  });
  const { fields, leaves } = fieldsOf(elements);
  checkGroups(groups, leaves, rows, pagesEnd);
  return {
    fields,
    rows,
    groups: groups.map((group) => group.rows),
    chunk: (group, { leaf }) => chunkOf(groups[group]!.chunks[leaf]!, pagesEnd),
  };
}

function readElement(reader: ThriftReader): Element {
  const element: Element = {
    ...{ name: '', type: undefined, bytes: undefined, repetition: undefined, children: 0 },
    ...{ converted: undefined, logical: undefined, integerBits: undefined, isSigned: undefined },
  };
  reader.child((id) => {
    if (id === 1) element.type = reader.integer();
    else if (id === 2) element.bytes = reader.integer();
    else if (id === 3) element.repetition = reader.integer();
    else if (id === 4) element.name = reader.text();
    else if (id === 5) element.children = reader.integer();
    else if (id === 6) element.converted = reader.integer();
    else if (id === 10)
      return reader.child((kind) => {
        element.logical = kind;
        if (kind !== 10) return false;
        return reader.child((part) => {
          if (part === 1) element.integerBits = reader.integer();
          else if (part === 2) element.isSigned = reader.boolean();
          else return false;
          return true;
        });
      });
    else return false;
    return true;
  });
  return element;
}

function readGroup(reader: ThriftReader): RawGroup {
  const group: RawGroup = { rows: -1, chunks: [] };
  reader.child((id) => {
    if (id === 1) group.chunks = reader.list(() => readChunk(reader));
    else if (id === 3) group.rows = reader.integer();
    else return false;
    return true;
  });
  return group;
}

function readChunk(reader: ThriftReader): RawChunk {
  const chunk: RawChunk = {
    ...{ isElsewhere: false, isEncrypted: false, type: -1, path: [], codec: -1, values: -1 },
    ...{ compressedBytes: -1, dataOffset: -1, dictionaryOffset: undefined },
  };
  reader.child((id) => {
    if (id === 1) chunk.isElsewhere = reader.text() !== '';
    else if (id === 3) return readChunkMetadata(reader, chunk);
    else if (id === 8) chunk.isEncrypted = true;
    return id === 1;
  });
  return chunk;
}

function readChunkMetadata(reader: ThriftReader, chunk: RawChunk): true {
  return reader.child((id) => {
    if (id === 1) chunk.type = reader.integer();
    else if (id === 3) chunk.path = reader.list(() => reader.text());
    else if (id === 4) chunk.codec = reader.integer();
    else if (id === 5) chunk.values = reader.integer();
    else if (id === 7) chunk.compressedBytes = reader.integer();
    else if (id === 9) chunk.dataOffset = reader.integer();
    else if (id === 11) chunk.dictionaryOffset = reader.integer();
    else return false;
    return true;
  });
}

interface Leaf {
  readonly path: string;
  readonly type: number;
  /** Without it a chunk has as many values as its group rows. */
  readonly isRepeated: boolean;
}

// The schema is a tree in depth-first order, its first element the root.
function fieldsOf(elements: readonly Element[]): { fields: ParquetField[]; leaves: Leaf[] } {
  const root = elements[0];
  if (root === undefined) throw new Contradiction('it has no schema');
  const leaves: Leaf[] = [];
  const fields: ParquetField[] = [];
  let at = 1;
  // Of the groups that are open: their names, how many children are to come, and whether values repeat in them.
  const open = [{ path: '', left: root.children, isRepeated: false }];
  while (open.length > 0) {
    const group = open.at(-1)!;
    if (group.left === 0) {
      open.pop();
      continue;
    }
    group.left--;
    const element = elements[at++];
    if (element === undefined) throw new Contradiction(`its schema has fewer elements than its groups have children`);
    const { name, children, type, repetition } = element;
    if (children < 0) throw new Contradiction(`element (${name}) of its schema has (${children}) children`);
    if (repetition === undefined || repetition < 0 || repetition > 2)
      throw new Contradiction(
        `element (${name}) of its schema has no repetition that is known (${repetition ?? 'none'})`,
      );
    const path = open.length === 1 ? name : `${group.path}.${name}`;
    const isRepeated = group.isRepeated || repetition === 2;
    if (open.length === 1) fields.push(fieldOf(element, leaves.length));
    if (children > 0) {
      if (open.length > 100) throw new Contradiction('its schema is nested more than (100) deep');
      open.push({ path, left: children, isRepeated });
    } else if (type !== undefined) {
      if (physicalTypes[type] === undefined)
        throw new Contradiction(`column (${path}) is of an unknown type (${type})`);
      leaves.push({ path, type, isRepeated });
    } else if (element.converted === undefined && element.logical === undefined)
      throw new Contradiction(`element (${name}) of its schema has neither children nor a type`);
  }
  if (at !== elements.length)
    throw new Contradiction(`its schema has (${elements.length}) elements, but its groups hold (${at})`);
  return { fields, leaves };
}

function fieldOf(element: Element, leaf: number): ParquetField {
  const { name, type, children, repetition, converted, logical } = element;
  const isNested = children > 0 || repetition === 2;
  const said = logical === undefined ? convertedTypes[converted ?? -1] : logicalTypes[logical];
  const kind = isNested ? 'nested' : (said ?? physicalTypes[type ?? -1] ?? 'nothing');
  return { name, number: isNested ? undefined : numberOf(element), kind, isOptional: repetition === 1, leaf };
}

// Numbers by their physical type, unless a logical type makes something else of them: a time, a decimal.
function numberOf({
  name,
  type,
  bytes,
  converted,
  logical,
  integerBits,
  isSigned,
}: Element): ParquetNumber | undefined {
  const physical = typeName(type ?? -1);
  const said = logical === undefined ? undefined : logicalTypes[logical];
  const convertedSaid = converted === undefined ? undefined : convertedTypes[converted];
  if (said === 'FLOAT16') {
    if (physical !== 'FIXED_LEN_BYTE_ARRAY' || bytes !== 2)
      throw new Contradiction(`column (${name}) says FLOAT16 of (${physical}) of (${bytes ?? 'no'}) bytes`);
    return { kind: 'float', bits: 16, bytes: 2 };
  }
  if (logical === undefined && converted === undefined) {
    if (physical === 'FLOAT') return { kind: 'float', bits: 32, bytes: 4 };
    if (physical === 'DOUBLE') return { kind: 'float', bits: 64, bytes: 8 };
    if (physical === 'INT32') return { kind: 'int', bits: 32, bytes: 4 };
    if (physical === 'INT64') return { kind: 'int', bits: 64, bytes: 8 };
    return undefined;
  }
  const match = /^(U?)INT_(\d+)$/.exec(convertedSaid ?? '');
  if (said !== undefined && said !== 'INTEGER') return undefined;
  if (said === undefined && match === null) return undefined;
  if (said === 'INTEGER' && convertedSaid !== undefined && match === null) return undefined;
  const kind = (said === 'INTEGER' ? isSigned : match![1] === '') ? 'int' : 'uint';
  const bits = said === 'INTEGER' ? integerBits : Number(match![2]);
  if (match !== null && (Number(match[2]) !== bits || (match[1] === '') !== (kind === 'int')))
    throw new Contradiction(
      `column (${name}) has (${bits ?? 'no'}) bits by one type, and is (${convertedSaid}) by another`,
    );
  const isWide = bits === 64;
  if (!(bits === 8 || bits === 16 || bits === 32 || isWide) || physical !== (isWide ? 'INT64' : 'INT32'))
    throw new Contradiction(`column (${name}) has integers of (${bits ?? 'no'}) bits in (${physical})`);
  return { kind, bits, bytes: isWide ? 8 : 4 };
}

function typeName(type: number): string {
  return physicalTypes[type] ?? `type ${type}`;
}

function checkGroups(groups: readonly RawGroup[], leaves: readonly Leaf[], rows: number, pagesEnd: number): void {
  let sum = 0;
  const places: [start: number, end: number][] = [];
  groups.forEach((group, index) => {
    const of = `row group (${index})`;
    if (!Number.isSafeInteger(group.rows) || group.rows < 0) throw new Contradiction(`${of} has (${group.rows}) rows`);
    if (group.chunks.length !== leaves.length)
      throw new Contradiction(`${of} has (${group.chunks.length}) columns, but its schema (${leaves.length})`);
    sum += group.rows;
    group.chunks.forEach((chunk, leaf) => {
      const { path, type, isRepeated } = leaves[leaf]!;
      if (chunk.isElsewhere || chunk.isEncrypted) return;
      if (chunk.path.join('.') !== path)
        throw new Contradiction(`${of} has column (${chunk.path.join('.')}) where its schema has (${path})`);
      if (chunk.type !== type)
        throw new Contradiction(
          `column (${path}) is (${typeName(type)}) in its schema, (${typeName(chunk.type)}) in ${of}`,
        );
      if (!isRepeated && chunk.values !== group.rows)
        throw new Contradiction(`column (${path}) has (${chunk.values}) values in a group of (${group.rows}) rows`);
      if (group.rows > 0) places.push(placeOf(chunk, `column (${path}) of ${of}`, pagesEnd));
    });
  });
  if (rows !== sum) throw new Contradiction(`it states (${rows}) rows, and its row groups (${sum})`);
  places.sort((a, b) => a[0] - b[0]);
  for (let index = 1; index < places.length; index++)
    if (places[index]![0] < places[index - 1]![1])
      throw new Contradiction(`two columns share the bytes from (${places[index]![0]}) on`);
}

function placeOf(chunk: RawChunk, what: string, pagesEnd: number): [start: number, end: number] {
  const { dataOffset, dictionaryOffset, compressedBytes } = chunk;
  // Some writers state 0 where there is no dictionary.
  const hasDictionary = dictionaryOffset !== undefined && dictionaryOffset !== 0;
  const start = hasDictionary ? dictionaryOffset : dataOffset;
  const end = start + compressedBytes;
  if (!(start >= 4 && compressedBytes >= 0 && end <= pagesEnd && dataOffset >= start && dataOffset <= end))
    throw new Contradiction(
      `${what} lies at bytes (${start}) to (${end}), its data at (${dataOffset}), of (${pagesEnd})`,
    );
  return [start, end];
}

function chunkOf(chunk: RawChunk, pagesEnd: number): ColumnChunk {
  if (chunk.isElsewhere) throw new NotTaken('a column lies in another file');
  if (chunk.isEncrypted) throw new NotTaken('a column is encrypted');
  const codec = codecs[chunk.codec];
  if (codec === undefined) throw new Contradiction(`a column is compressed in an unknown way (${chunk.codec})`);
  const [start, end] = placeOf(chunk, 'a column', pagesEnd);
  return { start, end, dataStart: chunk.dataOffset, hasDictionaryOffset: start !== chunk.dataOffset, codec };
}
