import { Contradiction } from '../contradiction.ts';
import { ThriftReader } from './thrift.ts';

const encodings = [
  ...['PLAIN', undefined, 'PLAIN_DICTIONARY', 'RLE', 'BIT_PACKED', 'DELTA_BINARY_PACKED'],
  ...['DELTA_LENGTH_BYTE_ARRAY', 'DELTA_BYTE_ARRAY', 'RLE_DICTIONARY', 'BYTE_STREAM_SPLIT'],
] as const;

/** What the header of a page says. */
export interface PageHeader {
  readonly kind: 'data' | 'dictionary' | 'index';
  /** Of the header itself. */
  readonly bytes: number;
  readonly compressedBytes: number;
  readonly plainBytes: number;
  /** CRC-32 of the bytes that follow the header, where it is stated. */
  readonly crc: number | undefined;
  readonly values: number;
  readonly encoding: string;
  readonly levelEncoding: string;
  /** Of version 2 only: its levels are not compressed. */
  readonly v2: { readonly nulls: number; readonly levelBytes: number; readonly isCompressed: boolean } | undefined;
}

const kinds = ['data', 'index', 'dictionary', 'data'] as const;

/** Reads the header of a page at the start of `bytes`. Throws a {@link Contradiction}. */
export function readPageHeader(bytes: Uint8Array): PageHeader {
  const reader = new ThriftReader(bytes);
  let [type, plainBytes, compressedBytes, values, encoding, levelEncoding] = [-1, -1, -1, -1, -1, 3];
  let crc: number | undefined;
  let [nulls, rows, levelBytes, repetitionBytes, isCompressed] = [0, 0, -1, -1, true];
  let content = -1;
  reader.struct((id) => {
    if (id === 1) type = reader.integer();
    else if (id === 2) plainBytes = reader.integer();
    else if (id === 3) compressedBytes = reader.integer();
    else if (id === 4) crc = reader.integer();
    else if (id === 5 || id === 7 || id === 8) {
      if (content !== -1) throw new Contradiction('the header of a page is of two kinds');
      content = id;
      return reader.child((part) => {
        if (part === 1) values = reader.integer();
        else if (id === 8) {
          if (part === 2) nulls = reader.integer();
          else if (part === 3) rows = reader.integer();
          else if (part === 4) encoding = reader.integer();
          else if (part === 5) levelBytes = reader.integer();
          else if (part === 6) repetitionBytes = reader.integer();
          else if (part === 7) isCompressed = reader.boolean();
          else return false;
        } else if (part === 2) encoding = reader.integer();
        else if (part === 3 && id === 5) levelEncoding = reader.integer();
        else return false;
        return true;
      });
    } else return false;
    return true;
  });
  const kind = kinds[type];
  const isV2 = type === 3;
  if (kind === undefined) throw new Contradiction(`a page is of an unknown kind (${type})`);
  if (kind !== 'index' && content !== [5, 0, 7, 8][type])
    throw new Contradiction(`a page of kind (${type}) has the header of another`);
  for (const [what, count] of [
    ['bytes', compressedBytes],
    ['bytes once decompressed', plainBytes],
  ] as const)
    if (!(count >= 0 && count < 2 ** 31)) throw new Contradiction(`a page has (${count}) ${what}`);
  if (kind !== 'index' && !(values >= 0 && values < 2 ** 31)) throw new Contradiction(`a page has (${values}) values`);
  if (isV2 && !(rows === values && repetitionBytes === 0))
    throw new Contradiction(`a page of a column without lists has (${values}) values in (${rows}) rows`);
  if (isV2 && !(levelBytes >= 0 && levelBytes <= Math.min(compressedBytes, plainBytes)))
    throw new Contradiction(`a page of (${compressedBytes}) bytes has levels of (${levelBytes})`);
  if (isV2 && !(nulls >= 0 && nulls <= values))
    throw new Contradiction(`a page of (${values}) values has (${nulls}) nulls`);
  const named = (code: number) => encodings[code] ?? `unknown ${code}`;
  return {
    ...{ kind, bytes: reader.at, compressedBytes, plainBytes, values, encoding: named(encoding) },
    crc: crc === undefined ? undefined : crc >>> 0,
    levelEncoding: named(levelEncoding),
    v2: isV2 ? { nulls, levelBytes, isCompressed } : undefined,
  };
}
