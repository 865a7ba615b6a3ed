import { CovariumError } from '../covarium-error.ts';
import type { ByteSource } from './input.ts';

/** Bytes that can be read in any order. */
export interface RandomAccess {
  readonly byteLength: number;
  /** Of the open file, for native code; undefined if the bytes are not those of a file. */
  readonly descriptor: number | undefined;
  /** Fills `out` with the bytes from `start` on, which must exist. Throws `ERR_FILE_UNREADABLE`, `ERR_ABORTED`. */
  read(start: number, out: Uint8Array): Promise<void>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** The bytes of a source in any order; undefined if they can only be read in sequence, as from a pipe. */
export async function randomAccess(source: ByteSource): Promise<RandomAccess | undefined> {
  const byteLength = await source.size();
  if (byteLength === undefined) return undefined;
  return {
    byteLength,
    descriptor: await source.descriptor(),
    read: async (start, out) => {
      if ((await source.readAt(out, start)) === out.length) return;
      throw new CovariumError('ERR_FILE_UNREADABLE', `File (${source.name}) became shorter while it was read.`, {
        path: source.name,
      });
    },
    close: () => source.close(),
  };
}

/** Like {@link randomAccess}, but reads a pipe into memory whole. */
export async function randomAccessOf(source: ByteSource): Promise<RandomAccess> {
  const sized = await randomAccess(source);
  if (sized !== undefined) return sized;
  const bytes = await source.take(Number.POSITIVE_INFINITY);
  return {
    byteLength: bytes.length,
    descriptor: undefined,
    read: async (start, out) => out.set(bytes.subarray(start, start + out.length)),
    close: () => source.close(),
  };
}
