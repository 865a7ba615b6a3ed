import type { Work } from '../../work.ts';
import { Contradiction } from '../contradiction.ts';
import { copyWithin, yieldBytes } from './copy.ts';

/**
 * Decompresses Snappy's raw format into `out`, which it fills to the last byte. Throws a {@link Contradiction}.
 * https://github.com/google/snappy/blob/main/format_description.txt
 */
export function* unsnappy(bytes: Uint8Array, out: Uint8Array): Work {
  let [at, stated] = [0, 0];
  for (let scale = 1; ; scale *= 128) {
    const byte = bytes[at++];
    if (byte === undefined || scale > 2 ** 28) throw new Contradiction('Snappy data have no length');
    stated += (byte & 127) * scale;
    if (byte < 128) break;
  }
  if (stated !== out.length)
    throw new Contradiction(`Snappy data state (${stated}) bytes, and the file (${out.length})`);
  let to = 0;
  let pause = yieldBytes;
  while (at < bytes.length) {
    if (to > pause) {
      pause = to + yieldBytes;
      yield;
    }
    const tag = bytes[at++]!;
    if ((tag & 3) === 0) {
      let length = (tag >> 2) + 1;
      if (length > 60) {
        const extra = length - 60;
        length = 1;
        for (let index = 0; index < extra; index++) length += (bytes[at++] ?? Number.NaN) * 256 ** index;
      }
      if (!(length <= bytes.length - at && length <= out.length - to)) throw beyond('a literal', length);
      if (length > 16) out.set(bytes.subarray(at, at + length), to);
      else for (let index = 0; index < length; index++) out[to + index] = bytes[at + index]!;
      at += length;
      to += length;
      continue;
    }
    let [length, offset] = [(tag >> 2) + 1, 0];
    if ((tag & 3) === 1) {
      length = ((tag >> 2) & 7) + 4;
      offset = ((tag >> 5) << 8) | (bytes[at++] ?? 0);
    } else {
      const width = (tag & 3) === 2 ? 2 : 4;
      for (let index = 0; index < width; index++) offset += (bytes[at++] ?? 0) * 256 ** index;
    }
    if (at > bytes.length) throw new Contradiction('Snappy data end within a copy');
    if (length > out.length - to) throw beyond('a copy', length);
    copyWithin(out, to, offset, length);
    to += length;
  }
  if (to !== out.length) throw new Contradiction(`Snappy data hold (${to}) bytes, not (${out.length})`);
}

function beyond(what: string, length: number): Contradiction {
  return new Contradiction(`${what} of (${length}) bytes in Snappy data is longer than what is left`);
}
