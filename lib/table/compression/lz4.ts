import type { Work } from '../../work.ts';
import { Contradiction, NotTaken } from '../contradiction.ts';
import { copyWithin, yieldBytes } from './copy.ts';

/**
 * Decompresses an LZ4 block into `out` from `start` on, and gives where it ends.
 * Throws a {@link Contradiction}. https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md
 */
export function* unlz4Block(bytes: Uint8Array, out: Uint8Array, start = 0): Work<number> {
  let at = 0;
  let to = start;
  let pause = to + yieldBytes;
  const extended = (length: number): number => {
    let sum = length;
    if (length === 15)
      for (let byte = 255; byte === 255; sum += byte) {
        byte = bytes[at++] ?? -1;
        if (byte < 0) throw new Contradiction('an LZ4 block ends within a length');
      }
    return sum;
  };
  for (;;) {
    const token = bytes[at++];
    if (token === undefined) throw new Contradiction('an LZ4 block ends without a literal');
    const literal = extended(token >> 4);
    if (literal > bytes.length - at || literal > out.length - to) throw beyond('a literal', literal);
    if (literal > 16) out.set(bytes.subarray(at, at + literal), to);
    else for (let index = 0; index < literal; index++) out[to + index] = bytes[at + index]!;
    at += literal;
    to += literal;
    if (at === bytes.length) return to;
    if (at + 2 > bytes.length) throw new Contradiction('an LZ4 block ends within a copy');
    const offset = bytes[at]! | (bytes[at + 1]! << 8);
    at += 2;
    const length = extended(token & 15) + 4;
    if (length > out.length - to) throw beyond('a copy', length);
    copyWithin(out, to, offset, length);
    to += length;
    if (to > pause) {
      pause = to + yieldBytes;
      yield;
    }
  }
}

const blockBytes = [0, 0, 0, 0, 1 << 16, 1 << 18, 1 << 20, 1 << 22] as const;

/**
 * Decompresses LZ4 frames into `out`, which it fills to the last byte. Checksums are passed over: whoever wants them
 * holds them against the file. Throws a {@link Contradiction}.
 * https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md
 */
export function* unlz4(bytes: Uint8Array, out: Uint8Array): Work {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let [at, to] = [0, 0];
  const need = (count: number) => {
    if (count > bytes.length - at) throw new Contradiction('LZ4 data end within a frame');
  };
  need(1);
  while (at < bytes.length) {
    need(7);
    const magic = view.getUint32(at, true);
    if (magic !== 0x184d2204) throw new Contradiction(`an LZ4 frame does not begin as one (${magic.toString(16)})`);
    const flags = bytes[at + 4]!;
    const largest = blockBytes[(bytes[at + 5]! >> 4) & 7]!;
    at += 6;
    if (flags >> 6 !== 1 || largest === 0) throw new Contradiction('an LZ4 frame is of an unknown version');
    if (flags & 1) throw new NotTaken('an LZ4 frame takes a dictionary from elsewhere');
    if (flags & 8) {
      need(9);
      const stated = view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
      if (stated !== out.length - to)
        throw new Contradiction(`an LZ4 frame states (${stated}) bytes, and the file (${out.length - to})`);
      at += 8;
    }
    at += 1;
    for (;;) {
      need(4);
      const head = view.getUint32(at, true);
      at += 4;
      if (head === 0) break;
      const size = head % 2 ** 31;
      if (size > largest) throw new Contradiction(`an LZ4 block has (${size}) bytes, more than (${largest})`);
      need(size);
      const block = bytes.subarray(at, at + size);
      const before = to;
      if (head >= 2 ** 31) {
        if (size > out.length - to) throw beyond('a block', size);
        out.set(block, to);
        to += size;
      } else to = yield* unlz4Block(block, out, to);
      if (to - before > largest)
        throw new Contradiction(`an LZ4 block holds (${to - before}) bytes, more than (${largest})`);
      at += size + (flags & 16 ? 4 : 0);
    }
    if (flags & 4) {
      need(4);
      at += 4;
    }
  }
  if (to !== out.length) throw new Contradiction(`LZ4 data hold (${to}) bytes, not (${out.length})`);
}

function beyond(what: string, length: number): Contradiction {
  return new Contradiction(`${what} of (${length}) bytes in LZ4 data is longer than what is left`);
}
