import type { Work } from '../../work.ts';
import { Contradiction, NotTaken } from '../contradiction.ts';
import { copyWithin } from './copy.ts';
import {
  BackwardBits,
  decodeHuffman,
  type FseTable,
  fseTable,
  type HuffmanTable,
  readFse,
  readHuffman,
} from './entropy.ts';

// A block holds no more, whatever the window.
const largestBlock = 1 << 17;

/**
 * Decompresses Zstandard frames into `out`, which it fills to the last byte: Node before 22.15 has no decompressor. The
 * frames' checksums are passed over. Throws a {@link Contradiction}. https://www.rfc-editor.org/rfc/rfc8878
 */
export function* unzstd(bytes: Uint8Array, out: Uint8Array): Work {
  let [at, to] = [0, 0];
  while (at < bytes.length) {
    if (bytes.length - at < 5) throw endsEarly();
    const magic = littleEndian(bytes, at, 4);
    at += 4;
    if (magic >= 0x184d2a50 && magic <= 0x184d2a5f) {
      if (bytes.length - at < 4) throw endsEarly();
      at += 4 + littleEndian(bytes, at, 4);
      if (at > bytes.length) throw endsEarly();
      continue;
    }
    if (magic !== 0xfd2fb528)
      throw new Contradiction(`a Zstandard frame does not begin as one (${magic.toString(16)})`);
    const frame = readFrameHeader(bytes, at);
    at = frame.at;
    if (frame.size !== undefined && frame.size > out.length - to)
      throw new Contradiction(`a Zstandard frame states (${frame.size}) bytes where (${out.length - to}) are left`);
    const decoder = new FrameDecoder(bytes, out, to);
    for (let isLast = false; !isLast; ) {
      if (bytes.length - at < 3) throw endsEarly();
      const head = littleEndian(bytes, at, 3);
      at += 3;
      isLast = (head & 1) === 1;
      const kind = (head >> 1) & 3;
      const size = head >> 3;
      const stored = kind === 1 ? 1 : size;
      if (size > largestBlock) throw new Contradiction(`a Zstandard block has (${size}) bytes`);
      if (kind === 3) throw new Contradiction('a Zstandard block is of an unknown kind (3)');
      if (stored > bytes.length - at) throw endsEarly();
      if (kind < 2 && size > out.length - to)
        throw new Contradiction(`Zstandard data hold more than (${out.length}) bytes`);
      if (kind === 0) out.set(bytes.subarray(at, at + size), to);
      else if (kind === 1) out.fill(bytes[at]!, to, to + size);
      to = kind === 2 ? decoder.block(at, at + size, to) : to + size;
      at += stored;
      yield;
    }
    if (frame.size !== undefined && to - decoder.start !== frame.size)
      throw new Contradiction(`a Zstandard frame states (${frame.size}) bytes, and holds (${to - decoder.start})`);
    if (frame.hasChecksum) at += 4;
    if (at > bytes.length) throw endsEarly();
  }
  if (to !== out.length) throw new Contradiction(`Zstandard data hold (${to}) bytes, not (${out.length})`);
}

interface FrameHeader {
  readonly at: number;
  readonly size: number | undefined;
  readonly hasChecksum: boolean;
}

function readFrameHeader(bytes: Uint8Array, start: number): FrameHeader {
  const flags = bytes[start]!;
  const isSingle = (flags & 32) !== 0;
  if (flags & 8) throw new Contradiction('a Zstandard frame sets a bit that is reserved');
  const dictionaryBytes = [0, 1, 2, 4][flags & 3]!;
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][flags >> 6]!;
  const at = start + 1 + (isSingle ? 0 : 1);
  if (at + dictionaryBytes + sizeBytes > bytes.length) throw endsEarly();
  if (littleEndian(bytes, at, dictionaryBytes) !== 0)
    throw new NotTaken('Zstandard data take a dictionary from elsewhere');
  const size = littleEndian(bytes, at + dictionaryBytes, sizeBytes) + (sizeBytes === 2 ? 256 : 0);
  return {
    at: at + dictionaryBytes + sizeBytes,
    size: sizeBytes === 0 ? undefined : size,
    hasChecksum: (flags & 4) !== 0,
  };
}

// Codes of lengths: the least length of each, and the bits that follow it.
const literalBase = codes(16, [1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16], 0);
const matchBase = codes(32, [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16], 3);

function codes(plain: number, longer: readonly number[], least: number): { base: Uint32Array; bits: Uint8Array } {
  const bits = Uint8Array.from([...new Array<number>(plain).fill(0), ...longer]);
  const base = new Uint32Array(bits.length);
  let next = least;
  bits.forEach((count, code) => {
    base[code] = next;
    next += 2 ** count;
  });
  return { base, bits };
}

// Probabilities of the codes where a block has no tables of its own; -1 is less than one.
const defaults = {
  literal: fseTable(
    [4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1],
    6,
  ),
  offset: fseTable([1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1], 5),
  match: fseTable(
    [
      ...[1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
      ...[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1],
    ],
    6,
  ),
};

/** What lasts from block to block of a frame: tables, and the last three offsets. */
class FrameDecoder {
  readonly start: number;
  readonly #bytes: Uint8Array;
  readonly #out: Uint8Array;
  #huffman: HuffmanTable | undefined;
  #literalLengths: FseTable | undefined;
  #offsets: FseTable | undefined;
  #matchLengths: FseTable | undefined;
  #recent = [1, 4, 8];
  #literals: Uint8Array = new Uint8Array(0);

  constructor(bytes: Uint8Array, out: Uint8Array, start: number) {
    this.#bytes = bytes;
    this.#out = out;
    this.start = start;
  }

  /** Decompresses a block, and gives where its output ends. */
  block(start: number, end: number, to: number): number {
    const sequences = this.#readLiterals(start, end);
    return this.#runSequences(sequences, end, to);
  }

  #readLiterals(start: number, end: number): number {
    const bytes = this.#bytes;
    const head = this.#byte(start, end);
    const kind = head & 3;
    const format = (head >> 2) & 3;
    if (kind < 2) {
      const headBytes = [1, 2, 1, 3][format]!;
      if (start + headBytes > end) throw endsEarly();
      const size = littleEndian(bytes, start, headBytes) >> (headBytes === 1 ? 3 : 4);
      this.#checkLiterals(size);
      const from = start + headBytes;
      const stored = kind === 0 ? size : 1;
      if (from + stored > end) throw endsEarly();
      this.#literals = kind === 0 ? bytes.subarray(from, from + size) : new Uint8Array(size).fill(bytes[from]!);
      return from + stored;
    }
    const headBytes = [3, 3, 4, 5][format]!;
    if (start + headBytes > end) throw endsEarly();
    const bits = [10, 10, 14, 18][format]!;
    const packed = littleEndian(bytes, start, headBytes);
    const size = Math.floor(packed / 16) % 2 ** bits;
    const compressed = Math.floor(packed / 2 ** (4 + bits)) % 2 ** bits;
    this.#checkLiterals(size);
    let from = start + headBytes;
    const literalsEnd = from + compressed;
    if (literalsEnd > end) throw endsEarly();
    if (kind === 2) {
      const { table, at } = readHuffman(bytes, from, literalsEnd);
      this.#huffman = table;
      from = at;
    }
    if (this.#huffman === undefined) throw new Contradiction('a Zstandard block repeats a table that is not there');
    const literals = new Uint8Array(size);
    decodeHuffman(this.#huffman, bytes, from, literalsEnd, format === 0 ? 1 : 4, literals);
    this.#literals = literals;
    return literalsEnd;
  }

  #checkLiterals(size: number): void {
    if (size > largestBlock) throw new Contradiction(`a Zstandard block has (${size}) literals`);
  }

  #runSequences(start: number, end: number, blockStart: number): number {
    const literals = this.#literals;
    const out = this.#out;
    let at = start;
    let count = this.#byte(at++, end);
    if (count >= 128 && count < 255) count = ((count - 128) << 8) + this.#byte(at++, end);
    else if (count === 255) {
      count = this.#byte(at, end) + (this.#byte(at + 1, end) << 8) + 0x7f00;
      at += 2;
    }
    let to = blockStart;
    let literal = 0;
    if (count > 0) {
      const modes = this.#byte(at++, end);
      if (modes & 3) throw new Contradiction('a Zstandard block sets bits that are reserved');
      const table = (mode: number, last: FseTable | undefined, standard: FseTable, codes: number, log: number) => {
        if (mode === 0) return standard;
        if (mode === 1) {
          const code = this.#byte(at++, end);
          if (code >= codes) throw new Contradiction(`a Zstandard code is (${code}), beyond (${codes - 1})`);
          return { symbols: Uint8Array.of(code), bits: new Uint8Array(1), base: new Uint16Array(1), log: 0 };
        }
        if (mode === 2) {
          const read = readFse(this.#bytes, at, end, log, codes);
          at = read.at;
          return fseTable(read.probabilities, read.log);
        }
        if (last === undefined) throw new Contradiction('a Zstandard block repeats a table that is not there');
        return last;
      };
      const literalTable = table(modes >> 6, this.#literalLengths, defaults.literal, 36, 9);
      const offsetTable = table((modes >> 4) & 3, this.#offsets, defaults.offset, 32, 8);
      const matchTable = table((modes >> 2) & 3, this.#matchLengths, defaults.match, 53, 9);
      this.#literalLengths = literalTable;
      this.#offsets = offsetTable;
      this.#matchLengths = matchTable;
      const bits = new BackwardBits(this.#bytes, at, end);
      let literalState = bits.take(literalTable.log);
      let offsetState = bits.take(offsetTable.log);
      let matchState = bits.take(matchTable.log);
      for (let index = 0; index < count; index++) {
        const offsetCode = offsetTable.symbols[offsetState]!;
        const matchCode = matchTable.symbols[matchState]!;
        const literalCode = literalTable.symbols[literalState]!;
        const value = 2 ** offsetCode + bits.take(offsetCode);
        const matchLength = matchBase.base[matchCode]! + bits.take(matchBase.bits[matchCode]!);
        const literalLength = literalBase.base[literalCode]! + bits.take(literalBase.bits[literalCode]!);
        if (index < count - 1) {
          literalState = literalTable.base[literalState]! + bits.take(literalTable.bits[literalState]!);
          matchState = matchTable.base[matchState]! + bits.take(matchTable.bits[matchState]!);
          offsetState = offsetTable.base[offsetState]! + bits.take(offsetTable.bits[offsetState]!);
        }
        if (literalLength > literals.length - literal)
          throw new Contradiction('a Zstandard block takes more literals than it has');
        const length = literalLength + matchLength;
        if (length > out.length - to || to + length - blockStart > largestBlock)
          throw new Contradiction('a Zstandard block holds more than its file says');
        for (let each = 0; each < literalLength; each++) out[to + each] = literals[literal + each]!;
        literal += literalLength;
        to += literalLength;
        const offset = this.#offset(value, literalLength);
        if (offset > to - this.start)
          throw new Contradiction(`a Zstandard copy from (${offset}) bytes back begins before its frame`);
        copyWithin(out, to, offset, matchLength);
        to += matchLength;
      }
      bits.finish();
    } else if (at !== end) throw new Contradiction('bytes follow the literals of a Zstandard block');
    const rest = literals.length - literal;
    if (rest > out.length - to || to + rest - blockStart > largestBlock)
      throw new Contradiction('a Zstandard block holds more than its file says');
    out.set(literals.subarray(literal), to);
    return to + rest;
  }

  // One of the last three offsets, or a new one.
  #offset(value: number, literalLength: number): number {
    const recent = this.#recent;
    if (value > 3) {
      this.#recent = [value - 3, recent[0]!, recent[1]!];
      return value - 3;
    }
    const place = value - 1 + (literalLength === 0 ? 1 : 0);
    if (place === 0) return recent[0]!;
    const offset = place === 3 ? recent[0]! - 1 : recent[place]!;
    if (offset === 0) throw new Contradiction('a Zstandard copy is from (0) bytes back');
    this.#recent = place === 1 ? [offset, recent[0]!, recent[2]!] : [offset, recent[0]!, recent[1]!];
    return offset;
  }

  #byte(at: number, end: number): number {
    if (at >= end) throw endsEarly();
    return this.#bytes[at]!;
  }
}

function littleEndian(bytes: Uint8Array, at: number, count: number): number {
  let value = 0;
  for (let index = 0; index < count; index++) value += bytes[at + index]! * 256 ** index;
  return value;
}

function endsEarly(): Contradiction {
  return new Contradiction('Zstandard data end early');
}
