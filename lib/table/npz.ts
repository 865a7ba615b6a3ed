import { pipeline } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import { describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { ByteSource } from '../file/input.ts';
import { malformedNpy, unsupportedNpy } from './npy-error.ts';

/** A file of an `.npz` archive, which is a ZIP. */
interface NpzMember {
  readonly source: ByteSource;
  /** Size of the NPY file in bytes. */
  readonly size: number;
}

interface Entry {
  readonly name: string;
  readonly isEncrypted: boolean;
  readonly method: number;
  readonly crc: number;
  readonly packedBytes: number;
  readonly bytes: number;
  readonly offset: number;
}

const endBytes = 22;
const mostDirectoryBytes = 16 << 20;
const stored = 0;
const deflated = 8;
// The best ratio of deflate: 258 bytes from two bits.
const mostDeflation = 1032;

/** True if these are the first bytes of a ZIP file; an empty one begins with the end of its directory. */
export function isZip(start: Uint8Array): boolean {
  const text = Buffer.from(start.subarray(0, 4)).toString('latin1');
  return text === 'PK\x03\x04' || text === 'PK\x05\x06';
}

/**
 * Opens the array `member` (with or without `.npy`) of an `.npz` file; the name may be omitted if there is only one.
 * Throws `ERR_MALFORMED_NPY`, `ERR_UNSUPPORTED` (encryption, compression other than deflate), `ERR_INVALID_ARGUMENT`
 * with the names of all members.
 */
export async function openNpzMember(path: string, given: ByteSource, member: string | undefined): Promise<NpzMember> {
  // The directory of a ZIP file is at its end.
  const isSized = (await given.size()) !== undefined;
  const archive = isSized ? given : new ByteSource(await given.take(Number.POSITIVE_INFINITY));
  const entries = await directoryOf(path, archive);
  const entry = chosenEntry(path, entries, member);
  const where = `member (${describe(entry.name)})`;
  if (entry.isEncrypted) throw unsupportedNpy(path, `${where} is encrypted`);
  if (entry.method !== stored && entry.method !== deflated)
    throw unsupportedNpy(path, `${where} is compressed with method (${entry.method}), not by deflate`);
  const isPossible =
    entry.method === stored ? entry.bytes === entry.packedBytes : entry.bytes <= mostDeflation * entry.packedBytes;
  if (!isPossible)
    throw malformedNpy(
      path,
      `${where} has (${entry.bytes}) bytes, more than (${entry.packedBytes}) compressed bytes can hold`,
    );
  return { source: new ByteSource(unpacked(path, where, archive, entry)), size: entry.bytes };
}

function chosenEntry(path: string, entries: readonly Entry[], member: string | undefined): Entry {
  const names = entries.map(({ name }) => name.replace(/\.npy$/, ''));
  const refusal = (why: string) =>
    new CovariumError('ERR_INVALID_ARGUMENT', `File (${path}) ${why} (${describe(names.join(', '))}).`, { path });
  if (entries.length === 0) throw malformedNpy(path, 'its archive is empty');
  if (member === undefined) {
    if (entries.length === 1) return entries[0]!;
    throw refusal('holds several arrays; pass `member` (--member) to choose one:');
  }
  const found = entries.filter(({ name }, i) => name === member || names[i] === member);
  if (found.length === 1) return found[0]!;
  throw refusal(`${found.length === 0 ? 'has no' : 'has more than one'} member (${describe(member)}):`);
}

async function directoryOf(path: string, archive: ByteSource): Promise<Entry[]> {
  const size = (await archive.size())!;
  const read = async (position: number, count: number, what: string): Promise<Buffer> => {
    const bytes = Buffer.alloc(position >= 0 && position + count <= size ? count : 0);
    if (bytes.length < count || (await archive.readAt(bytes, position)) < count)
      throw malformedNpy(path, `${what} of its archive lies outside of the file`);
    return bytes;
  };
  const tailBytes = Math.min(size, endBytes + 0xffff);
  const tail = await read(size - tailBytes, tailBytes, 'the end');
  const endAt = tail.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  if (endAt < 0 || endAt + endBytes > tail.length) throw malformedNpy(path, 'its archive is cut short');
  let directoryBytes = tail.readUInt32LE(endAt + 12);
  let offset = tail.readUInt32LE(endAt + 16);
  const locatorAt = size - tailBytes + endAt - 20;
  if (offset === 0xffffffff || directoryBytes === 0xffffffff) {
    const locator = await read(locatorAt, 20, 'the locator');
    const end = await read(wide(locator, 8), 56, 'the end');
    if (locator.toString('latin1', 0, 4) !== 'PK\x06\x07' || end.toString('latin1', 0, 4) !== 'PK\x06\x06')
      throw malformedNpy(path, 'its archive has no directory');
    directoryBytes = wide(end, 40);
    offset = wide(end, 48);
  }
  if (directoryBytes > mostDirectoryBytes)
    throw malformedNpy(path, `the directory of its archive has (${directoryBytes}) bytes`);
  const entries = entriesOf(path, await read(offset, directoryBytes, 'the directory'));
  for (const [i, entry] of entries.entries()) {
    const local = await read(entry.offset, 30, 'a member');
    if (!isZip(local)) throw malformedNpy(path, `member (${describe(entry.name)}) is not where the directory says`);
    const start = entry.offset + 30 + local.readUInt16LE(26) + local.readUInt16LE(28);
    if (!(start + entry.packedBytes <= offset))
      throw malformedNpy(path, `member (${describe(entry.name)}) of its archive lies outside of the file`);
    entries[i] = { ...entry, offset: start };
  }
  return entries;
}

function entriesOf(path: string, directory: Buffer): Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; at < directory.length; ) {
    const isWhole = at + 46 <= directory.length && directory.toString('latin1', at, at + 4) === 'PK\x01\x02';
    const [nameBytes, extraBytes, commentBytes] = isWhole
      ? [28, 30, 32].map((place) => directory.readUInt16LE(at + place))
      : [0, 0, 0];
    const extraAt = at + 46 + nameBytes!;
    const next = extraAt + extraBytes! + commentBytes!;
    if (!isWhole || next > directory.length) throw malformedNpy(path, 'the directory of its archive is malformed');
    const sizes = [24, 20, 42].map((place) => directory.readUInt32LE(at + place));
    widen(sizes, directory.subarray(extraAt, extraAt + extraBytes!));
    entries.push({
      name: directory.toString('utf8', at + 46, extraAt),
      isEncrypted: (directory.readUInt16LE(at + 8) & 1) === 1,
      method: directory.readUInt16LE(at + 10),
      crc: directory.readUInt32LE(at + 16),
      bytes: sizes[0]!,
      packedBytes: sizes[1]!,
      offset: sizes[2]!,
    });
    at = next;
  }
  return entries;
}

// Sizes beyond 32 bits are in an extra field, which holds only those that need it, in this order.
function widen(sizes: number[], extra: Buffer): void {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    let from = at + 4;
    for (const [i, size] of sizes.entries()) {
      if (size !== 0xffffffff || from + 8 > extra.length) continue;
      sizes[i] = wide(extra, from);
      from += 8;
    }
  }
}

function wide(bytes: Buffer, at: number): number {
  return Number(bytes.readBigUInt64LE(at));
}

async function* unpacked(path: string, where: string, archive: ByteSource, entry: Entry): AsyncGenerator<Uint8Array> {
  const packed = packedBytes(path, archive, entry);
  let checksum = 0;
  let length = 0;
  try {
    for await (const chunk of entry.method === stored ? packed : inflated(packed)) {
      checksum = crc32(chunk, checksum);
      length += chunk.length;
      if (length > entry.bytes) break;
      yield chunk;
    }
  } catch (error) {
    if (error instanceof CovariumError) throw error;
    throw malformedNpy(path, `${where} cannot be decompressed (${(error as Error).message})`);
  }
  if (length !== entry.bytes)
    throw malformedNpy(path, `${where} does not have the (${entry.bytes}) bytes that it states`);
  if (checksum !== entry.crc) throw malformedNpy(path, `${where} has another checksum than it states`);
}

// An error of the packed bytes becomes one of the stream, which `pipe` would leave uncaught.
function inflated(packed: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return pipeline(packed, createInflateRaw(), () => {});
}

async function* packedBytes(path: string, archive: ByteSource, entry: Entry): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < entry.packedBytes; ) {
    const bytes = Buffer.allocUnsafeSlow(Math.min(1 << 20, entry.packedBytes - at));
    const count = await archive.readAt(bytes, entry.offset + at);
    if (count === 0) throw malformedNpy(path, 'it became shorter while it was read');
    yield bytes.subarray(0, count);
    at += count;
  }
}
