import { isSlice, type Work } from '../../work.ts';
import { FlatReader } from '../arrow/flat-reader.ts';
import { readSchema } from '../arrow/schema.ts';
import { Contradiction, NotTaken } from '../contradiction.ts';
import { pandasKey } from '../pandas-index.ts';
import { type Element, fieldsOf, type Leaf, type ParquetField, readElement, typeName } from './schema.ts';
import { ThriftReader } from './thrift.ts';

// The key of the metadata in which writers that come from Arrow keep the schema of their table.
const arrowKey = 'ARROW:schema';

const codecs = ['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'LZO', 'BROTLI', 'LZ4', 'ZSTD', 'LZ4_RAW'] as const;

/** How the bytes of a page are compressed. */
export type ParquetCodec = (typeof codecs)[number];

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
  /** What pandas says of its columns, as it stands there. */
  readonly pandas: string | undefined;
  /** Rows of each row group. */
  readonly groups: readonly number[];
  /** Throws a {@link Contradiction} or {@link NotTaken}. */
  chunk(group: number, field: ParquetField): ColumnChunk;
}

/**
 * Reads the footer of a file whose pages lie before byte `pagesEnd`. Throws a {@link Contradiction} where schema, row
 * groups and chunks do not fit each other or the file.
 */
export function* readFooter(bytes: Uint8Array, pagesEnd: number): Work<ParquetFooter> {
  const reader = new ThriftReader(bytes);
  const elements: Element[] = [];
  const groups: RawGroup[] = [];
  let rows = -1;
  const metadata = new Map<string, string>();
  yield* reader.structWork((id) => {
    if (id === 2) return reader.listWork(() => void elements.push(readElement(reader)));
    if (id === 4) return reader.listWork(() => readGroup(reader, groups));
    if (id === 5) return reader.listWork(() => readMetadata(reader, metadata));
    if (id === 8) throw new NotTaken('its footer belongs to an encrypted file');
    if (id === 3) rows = reader.integer();
    return id === 3;
  });
  const { fields, leaves } = yield* fieldsOf(elements);
  yield* checkGroups(groups, leaves, rows, pagesEnd);
  return {
    fields: yield* withoutTimes(fields, metadata.get(arrowKey)),
    rows,
    pandas: metadata.get(pandasKey),
    groups: groups.map((group) => group.rows),
    chunk: (group, { leaf }) => chunkOf(groups[group]!.chunks[leaf]!, pagesEnd),
  };
}

// A pair of the metadata; the texts of other writers may be long.
function readMetadata(reader: ThriftReader, texts: Map<string, string>): undefined {
  let key = '';
  reader.child((id) => {
    if (id === 1) key = reader.text();
    else if (id === 2 && (key === pandasKey || key === arrowKey) && !texts.has(key)) texts.set(key, reader.text());
    else return false;
    return true;
  });
}

// Parquet has neither durations nor periods of pandas: they are plain integers of 64 bits, and only the schema of their
// writer says what they are.
function* withoutTimes(fields: readonly ParquetField[], schema: string | undefined): Work<readonly ParquetField[]> {
  const mayBe = ({ number }: ParquetField) => number?.kind === 'int' && number.bits === 64;
  if (schema === undefined || !fields.some(mayBe)) return fields;
  const message = Buffer.from(schema, 'base64');
  try {
    // Writers before Arrow 0.15 leave the continuation word out.
    const flat = new FlatReader(message.subarray(message.readInt32LE(0) === -1 ? 8 : 4));
    const root = flat.root();
    const columns = yield* readSchema(flat, flat.child(root, 2) ?? 0, flat.int16(root, 0));
    return fields.map((field, at) => {
      const { name, type = '' } = columns[at] ?? {};
      const isTime = mayBe(field) && name === field.name && (type === 'Duration' || type === 'Period');
      return isTime ? { ...field, number: undefined, kind: type } : field;
    });
  } catch (error) {
    // A schema that is not as Arrow writes it says nothing.
    if (error instanceof Contradiction || error instanceof NotTaken || error instanceof RangeError) return fields;
    throw error;
  }
}

function* readGroup(reader: ThriftReader, groups: RawGroup[]): Work {
  const group: RawGroup = { rows: -1, chunks: [] };
  groups.push(group);
  yield* reader.childWork((id) => {
    if (id === 1) return reader.listWork(() => void group.chunks.push(readChunk(reader)));
    if (id === 3) group.rows = reader.integer();
    return id === 3;
  });
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

function* checkGroups(groups: readonly RawGroup[], leaves: readonly Leaf[], rows: number, pagesEnd: number): Work {
  let sum = 0;
  let seen = 0;
  const places: [start: number, end: number][] = [];
  for (const [index, group] of groups.entries()) {
    const of = `row group (${index})`;
    if (!Number.isSafeInteger(group.rows) || group.rows < 0) throw new Contradiction(`${of} has (${group.rows}) rows`);
    if (group.chunks.length !== leaves.length)
      throw new Contradiction(`${of} has (${group.chunks.length}) columns, but its schema (${leaves.length})`);
    sum += group.rows;
    for (const [leaf, chunk] of group.chunks.entries()) {
      if (isSlice(seen++)) yield;
      const { path, type, isRepeated } = leaves[leaf]!;
      if (chunk.isElsewhere || chunk.isEncrypted) continue;
      if (chunk.path.join('.') !== path)
        throw new Contradiction(`${of} has column (${chunk.path.join('.')}) where its schema has (${path})`);
      if (chunk.type !== type)
        throw new Contradiction(
          `column (${path}) is (${typeName(type)}) in its schema, (${typeName(chunk.type)}) in ${of}`,
        );
      if (!isRepeated && chunk.values !== group.rows)
        throw new Contradiction(`column (${path}) has (${chunk.values}) values in a group of (${group.rows}) rows`);
      if (group.rows > 0) places.push(placeOf(chunk, `column (${path}) of ${of}`, pagesEnd));
    }
  }
  if (rows !== sum) throw new Contradiction(`it states (${rows}) rows, and its row groups (${sum})`);
  yield;
  places.sort((a, b) => a[0] - b[0]);
  for (let index = 1; index < places.length; index++) {
    if (isSlice(index)) yield;
    if (places[index]![0] < places[index - 1]![1])
      throw new Contradiction(`two columns share the bytes from (${places[index]![0]}) on`);
  }
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
