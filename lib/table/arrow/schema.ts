import { isSlice, type Work } from '../../work.ts';
import { Contradiction, NotTaken } from '../contradiction.ts';
import { booleans, type NumberLayout } from '../numbers.ts';
import type { FlatReader } from './flat-reader.ts';

// Numbers of the format's enumerations: https://github.com/apache/arrow/blob/main/format/Schema.fbs
const typeNames: readonly string[] = [
  ...['NONE', 'Null', 'Int', 'Float', 'Binary', 'Utf8', 'Bool', 'Decimal', 'Date', 'Time', 'Timestamp'],
  ...['Interval', 'List', 'Struct', 'Union', 'FixedSizeBinary', 'FixedSizeList', 'Map', 'Duration'],
  ...['LargeBinary', 'LargeUtf8', 'LargeList', 'RunEndEncoded', 'BinaryView', 'Utf8View', 'ListView', 'LargeListView'],
];
// How many buffers a column of each type has, without those of its children.
const bufferCounts: { readonly [name: string]: number } = {
  ...{ Null: 0, RunEndEncoded: 0, FixedSizeList: 1, Struct: 1, List: 2, LargeList: 2, Map: 2 },
  ...{ Binary: 3, Utf8: 3, LargeBinary: 3, LargeUtf8: 3, ListView: 3, LargeListView: 3 },
};

/** A column of a schema, or a part of one. */
export interface ArrowField {
  readonly name: string;
  readonly isNullable: boolean;
  /** Of the values, where they are in a dictionary. */
  readonly type: string;
  /** Undefined where the values are not numbers. */
  readonly number: NumberLayout | undefined;
  /** Undefined where the values are not in a dictionary. */
  readonly dictionary: { readonly id: number; readonly index: NumberLayout } | undefined;
  readonly children: readonly ArrowField[];
  /** Without those of the children, and of the values themselves, were they in no dictionary. */
  readonly buffers: number;
}

const deepest = 64;

/**
 * The columns of a schema. Throws a {@link Contradiction}, or {@link NotTaken} for numbers whose highest byte comes
 * first.
 */
export function* readSchema(flat: FlatReader, schema: number, version: number): Work<ArrowField[]> {
  if (flat.int16(schema, 0) !== 0) throw new NotTaken('its numbers are big-endian');
  const fields: ArrowField[] = [];
  for (const field of flat.tables(schema, 1)) {
    if (isSlice(fields.length)) yield;
    fields.push(readField(flat, field, version, 0));
  }
  return fields;
}

/** The text that a schema's metadata have by this key. Throws a {@link Contradiction}. */
export function* readMetadata(flat: FlatReader, schema: number, key: string): Work<string | undefined> {
  for (const [index, pair] of flat.tables(schema, 2).entries()) {
    if (isSlice(index)) yield;
    if (flat.text(pair, 0) === key) return flat.text(pair, 1);
  }
  return undefined;
}

/** A schema as text, to be compared with another. */
export function* schemaText(flat: FlatReader, schema: number, version: number): Work<string> {
  const texts: string[] = [];
  for (const field of yield* readSchema(flat, schema, version)) {
    if (isSlice(texts.length)) yield;
    texts.push(JSON.stringify(field));
  }
  return texts.join();
}

function readField(flat: FlatReader, field: number, version: number, depth: number): ArrowField {
  if (depth > deepest) throw new Contradiction(`columns are nested more than (${deepest}) deep`);
  const name = flat.text(field, 0);
  const type = typeNames[flat.uint8(field, 2)];
  const details = flat.child(field, 3);
  if (type === undefined || type === 'NONE' || details === undefined)
    throw new Contradiction(`column (${name}) is of no known type (${flat.uint8(field, 2)})`);
  const encoding = flat.child(field, 4);
  const isPeriod = flat.tables(field, 6).some((pair) => isOfPeriods(flat, pair));
  return {
    name,
    isNullable: flat.uint8(field, 1) !== 0,
    type: isPeriod ? 'Period' : type,
    number: isPeriod ? undefined : numberOf(flat, name, type, details),
    dictionary: encoding === undefined ? undefined : readDictionary(flat, name, encoding),
    children: flat.tables(field, 5).map((child) => readField(flat, child, version, depth + 1)),
    buffers: type === 'Union' ? unionBuffers(flat, details, version) : (bufferCounts[type] ?? 2),
  };
}

// pandas stores a period, such as a month, as the number of periods since 1970.
function isOfPeriods(flat: FlatReader, pair: number): boolean {
  return flat.text(pair, 0) === 'ARROW:extension:name' && flat.text(pair, 1) === 'pandas.period';
}

// Types; places of a dense union; validity, which unions had before version 5.
function unionBuffers(flat: FlatReader, details: number, version: number): number {
  return 1 + (flat.int16(details, 0) === 1 ? 1 : 0) + (version < 4 ? 1 : 0);
}

function numberOf(flat: FlatReader, name: string, type: string, details: number): NumberLayout | undefined {
  if (type === 'Bool') return booleans;
  if (type === 'Int') return integerOf(flat, name, details);
  if (type !== 'Float') return undefined;
  const bits = ([16, 32, 64] as const)[flat.int16(details, 0)];
  if (bits === undefined)
    throw new Contradiction(`column (${name}) has floats of an unknown precision (${flat.int16(details, 0)})`);
  return { kind: 'float', bits, bytes: (bits / 8) as 2 | 4 | 8 };
}

function integerOf(flat: FlatReader, name: string, details: number): NumberLayout {
  const bits = flat.int32(details, 0);
  if (bits !== 8 && bits !== 16 && bits !== 32 && bits !== 64)
    throw new Contradiction(`column (${name}) has integers of (${bits}) bits`);
  return { kind: flat.uint8(details, 1) === 0 ? 'uint' : 'int', bits, bytes: (bits / 8) as 1 | 2 | 4 | 8 };
}

function readDictionary(flat: FlatReader, name: string, encoding: number): ArrowField['dictionary'] {
  const index = flat.child(encoding, 1);
  const standard: NumberLayout = { kind: 'int', bits: 32, bytes: 4 };
  return { id: flat.int64(encoding, 0), index: index === undefined ? standard : integerOf(flat, name, index) };
}
