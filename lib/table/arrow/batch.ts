import { isSlice, type Work } from '../../work.ts';
import { Contradiction } from '../contradiction.ts';
import { booleans } from '../numbers.ts';
import type { FlatReader } from './flat-reader.ts';
import type { ArrowField } from './schema.ts';

/** A part of a message's body. */
export interface BufferPlace {
  readonly offset: number;
  readonly bytes: number;
}

/** Where a column of numbers, or of places in a dictionary, lies in a body. */
interface ColumnPlace {
  readonly nulls: number;
  /** Bits; of no bytes where nothing is null. */
  readonly validity: BufferPlace;
  readonly values: BufferPlace;
}

/** A record batch, held against its schema and its body. */
export interface Batch {
  readonly rows: number;
  /** Of the fields that were asked for, in their order. */
  readonly columns: readonly ColumnPlace[];
  readonly compression: 'lz4' | 'zstd' | undefined;
}

interface Node {
  readonly length: number;
  readonly nulls: number;
}

/**
 * Reads a record batch of columns `fields`, of which `wanted` are columns of numbers or of places in a dictionary. Each
 * column has as many rows as the batch, each buffer lies in the body behind the one before it, and there are as many as
 * the fields take. Throws a {@link Contradiction}.
 */
export function* readBatch(
  flat: FlatReader,
  table: number,
  bodyBytes: number,
  fields: readonly ArrowField[],
  wanted: readonly number[],
): Work<Batch> {
  const rows = flat.int64(table, 0);
  if (!(Number.isSafeInteger(rows) && rows >= 0)) throw new Contradiction(`a batch has (${rows}) rows`);
  const nodes = yield* readNodes(flat, table);
  const buffers = yield* readBuffers(flat, table, bodyBytes);
  const compression = readCompression(flat, table);
  const variadic = flat.vector(table, 4, 8);
  const starts: { node: number; buffer: number }[] = [];
  const at = { node: 0, buffer: 0, variadic: 0 };
  const pass = (field: ArrowField): void => {
    at.node++;
    at.buffer += field.dictionary === undefined ? field.buffers : 2;
    if (field.dictionary !== undefined) return;
    if (field.type === 'BinaryView' || field.type === 'Utf8View') {
      if (at.variadic >= variadic.length)
        throw new Contradiction(`column (${field.name}) does not say how many buffers it has`);
      const more = flat.int64At(variadic.start + 8 * at.variadic++);
      if (!(more >= 0 && more <= buffers.length))
        throw new Contradiction(`column (${field.name}) has (${more}) buffers more`);
      at.buffer += more;
    }
    field.children.forEach(pass);
  };
  for (const field of fields) {
    if (isSlice(starts.length)) yield;
    starts.push({ node: at.node, buffer: at.buffer });
    pass(field);
  }
  if (at.node !== nodes.length) throw new Contradiction(`a batch of (${at.node}) columns describes (${nodes.length})`);
  if (at.buffer !== buffers.length)
    throw new Contradiction(`a batch whose columns take (${at.buffer}) buffers has (${buffers.length})`);
  fields.forEach(({ name }, index) => {
    const { length } = nodes[starts[index]!.node]!;
    if (length !== rows) throw new Contradiction(`column (${name}) has (${length}) rows in a batch of (${rows})`);
  });
  const columns: ColumnPlace[] = [];
  for (const index of wanted) {
    if (isSlice(columns.length)) yield;
    const { node, buffer } = starts[index]!;
    const column = { nulls: nodes[node]!.nulls, validity: buffers[buffer]!, values: buffers[buffer + 1]! };
    checkColumn(fields[index]!, column, rows, compression !== undefined);
    columns.push(column);
  }
  return { rows, columns, compression };
}

function checkColumn(
  field: ArrowField,
  { nulls, validity, values }: ColumnPlace,
  rows: number,
  isCompressed: boolean,
): void {
  const { name } = field;
  if (nulls > 0 && validity.bytes === 0)
    throw new Contradiction(`column (${name}) has (${nulls}) nulls and does not say where`);
  if (nulls > 0 && !field.isNullable)
    throw new Contradiction(`column (${name}) has (${nulls}) nulls, and is said to have none`);
  if (isCompressed) return;
  const { bytes } = field.dictionary?.index ?? field.number!;
  if (validity.bytes > 0) checkBytes(name, 'bits', validity.bytes, Math.ceil(rows / 8), rows);
  const areBits = field.dictionary === undefined && field.number === booleans;
  if (areBits && isBitsOfMoreRows(validity, values)) checkBytes(name, 'bits', values.bytes, Math.ceil(rows / 8), rows);
  else checkPadded(name, 'numbers', values.bytes, Math.ceil(rows * bytes), rows);
}

// apache-arrow for JavaScript writes a slice of a table with the bits of all rows of the table, its own first: of
// validity, where something is null, and equally many of booleans, filled up to whole lines of 64 bytes. So wider
// numbers that are stated as booleans are found if they are not whole lines, or have nulls. Others, such as int8 of 64
// rows without nulls, look like a slice of a table with 512 rows.
function isBitsOfMoreRows(validity: BufferPlace, values: BufferPlace): boolean {
  return values.bytes % 64 === 0 && (validity.bytes === 0 || validity.bytes === values.bytes);
}

// Buffers are filled up to 64 bytes at most. Of numbers that are said to be narrower than they are, more is left.
const mostPadding = 63;

function checkPadded(name: string, what: string, bytes: number, needed: number, rows: number): void {
  checkBytes(name, what, bytes, needed, rows);
  if (bytes > needed + mostPadding)
    throw new Contradiction(`column (${name}) has (${bytes}) bytes of ${what}, but (${rows}) rows take (${needed})`);
}

/** Throws a {@link Contradiction} where bytes are fewer than a column takes. */
export function checkBytes(name: string, what: string, bytes: number, needed: number, rows: number): void {
  if (bytes < needed) throw new Contradiction(`column (${name}) has (${bytes}) bytes of ${what} for (${rows}) rows`);
}

function* readNodes(flat: FlatReader, table: number): Work<Node[]> {
  const { start, length: count } = flat.vector(table, 1, 16);
  const nodes: Node[] = [];
  for (let index = 0; index < count; index++) {
    if (isSlice(index)) yield;
    const length = flat.int64At(start + 16 * index);
    const nulls = flat.int64At(start + 16 * index + 8);
    if (!(length >= 0 && nulls >= 0 && nulls <= length))
      throw new Contradiction(`a column of (${length}) rows has (${nulls}) nulls`);
    nodes.push({ length, nulls });
  }
  return nodes;
}

function* readBuffers(flat: FlatReader, table: number, bodyBytes: number): Work<BufferPlace[]> {
  const { start, length: count } = flat.vector(table, 2, 16);
  const places: BufferPlace[] = [];
  let end = 0;
  for (let index = 0; index < count; index++) {
    if (isSlice(index)) yield;
    const offset = flat.int64At(start + 16 * index);
    const bytes = flat.int64At(start + 16 * index + 8);
    if (!(offset >= 0 && bytes >= 0 && offset + bytes <= bodyBytes))
      throw new Contradiction(`a buffer of (${bytes}) bytes begins at (${offset}) of a body of (${bodyBytes})`);
    if (bytes > 0) {
      if (offset < end) throw new Contradiction(`a buffer begins at (${offset}), before the end of another (${end})`);
      end = offset + bytes;
    }
    places.push({ offset, bytes });
  }
  return places;
}

function readCompression(flat: FlatReader, table: number): Batch['compression'] {
  const compression = flat.child(table, 3);
  if (compression === undefined) return undefined;
  const codec = flat.uint8(compression, 0);
  const method = flat.uint8(compression, 1);
  if (method !== 0 || codec > 1)
    throw new Contradiction(`a batch is compressed in an unknown way (${codec}, ${method})`);
  return codec === 0 ? 'lz4' : 'zstd';
}
