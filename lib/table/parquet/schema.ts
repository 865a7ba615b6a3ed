import { isSlice, type Work } from '../../work.ts';
import { Contradiction } from '../contradiction.ts';
import { booleans, type NumberLayout } from '../numbers.ts';
import type { ThriftReader } from './thrift.ts';

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
/** A column of the schema's first level. */
export interface ParquetField {
  readonly name: string;
  /** Undefined where it holds no numbers. */
  readonly number: NumberLayout | undefined;
  /** What it holds, for a refusal. */
  readonly kind: string;
  readonly isOptional: boolean;
  /** Its place among the chunks of a row group. */
  readonly leaf: number;
}

/** An element of a schema, as the footer has it. */
export interface Element {
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

/** Reads an element of the schema. */
export function readElement(reader: ThriftReader): Element {
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

/** A column of the schema's last level: each row group has a chunk of it. */
export interface Leaf {
  readonly path: string;
  readonly type: number;
  /** Without it a chunk has as many values as its group rows. */
  readonly isRepeated: boolean;
}

// The schema is a tree in depth-first order, its first element the root.
export function* fieldsOf(elements: readonly Element[]): Work<{ fields: ParquetField[]; leaves: Leaf[] }> {
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
    if (isSlice(at)) yield;
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
function numberOf({ name, type, bytes, converted, logical, integerBits, isSigned }: Element): NumberLayout | undefined {
  const physical = typeName(type ?? -1);
  const said = logical === undefined ? undefined : logicalTypes[logical];
  const convertedSaid = converted === undefined ? undefined : convertedTypes[converted];
  if (said === 'FLOAT16') {
    if (physical !== 'FIXED_LEN_BYTE_ARRAY' || bytes !== 2)
      throw new Contradiction(`column (${name}) says FLOAT16 of (${physical}) of (${bytes ?? 'no'}) bytes`);
    return { kind: 'float', bits: 16, bytes: 2 };
  }
  if (logical === undefined && converted === undefined) {
    if (physical === 'BOOLEAN') return booleans;
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

/** A physical type as messages call it. */
export function typeName(type: number): string {
  return physicalTypes[type] ?? `type ${type}`;
}
