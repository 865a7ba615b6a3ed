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
    read: merged(byteLength, async (start, out) => {
      if ((await source.readAt(out, start)) === out.length) return;
      throw new CovariumError('ERR_FILE_UNREADABLE', `File (${source.name}) became shorter while it was read.`, {
        path: source.name,
      });
    }),
    close: () => source.close(),
  };
}

// Of reads that are merged, and of what is read for them.
const [smallBytes, windowBytes] = [1 << 12, 1 << 18];

/**
 * Merges small reads that lie close behind one another, as those of a table of thousands of columns do: each would wait
 * for a thread.
 */
function merged(byteLength: number, read: RandomAccess['read']): RandomAccess['read'] {
  let last = 0;
  let window: { readonly start: number; readonly end: number; readonly bytes: Promise<Uint8Array> } | undefined;
  return async (start, out) => {
    const end = start + out.length;
    const isNear = start >= last && start - last < smallBytes;
    last = end;
    if (out.length > smallBytes) return read(start, out);
    if (window === undefined || start < window.start || end > window.end) {
      if (!isNear) return read(start, out);
      const bytes = new Uint8Array(Math.min(windowBytes, byteLength - start));
      window = { start, end: start + bytes.length, bytes: read(start, bytes).then(() => bytes) };
    }
    const from = start - window.start;
    out.set((await window.bytes).subarray(from, from + out.length));
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
