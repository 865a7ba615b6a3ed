import { Contradiction } from '../contradiction.ts';

/** Bytes of output after which a decompressor lets others run. */
export const yieldBytes: number = 1 << 20;

/**
 * Copies `length` bytes from `offset` bytes before `to`, which may overlap: the bytes then repeat. Throws a {@link
 * Contradiction}.
 */
export function copyWithin(out: Uint8Array, to: number, offset: number, length: number): void {
  if (!(offset > 0 && offset <= to))
    throw new Contradiction(`a copy from (${offset}) bytes back begins before (${to}) bytes of data`);
  const from = to - offset;
  if (offset >= length && length > 32) out.copyWithin(to, from, from + length);
  else if (offset === 1) out.fill(out[from]!, to, to + length);
  else for (let index = 0; index < length; index++) out[to + index] = out[from + index]!;
}
