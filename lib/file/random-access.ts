import { CovariumError } from '../covarium-error.ts';
import { ByteSource, type InputSource, inputName } from './input.ts';

/** Bytes that are read in any order. */
export interface RandomAccess {
  readonly byteLength: number;
  /** Fills `out` with the bytes from `start` on, which are there. Throws `ERR_FILE_UNREADABLE`, `ERR_ABORTED`. */
  read(start: number, out: Uint8Array): Promise<void>;
  /** Never rejects. */
  close(): Promise<void>;
}

/**
 * Opens a source to be read in any order. What comes from a pipe is taken into memory whole, once `accept` has looked
 * at its first four bytes, and thrown if they are another format's. Throws `ERR_FILE_NOT_FOUND`, `ERR_FILE_UNREADABLE`.
 */
export async function openRandomAccess(
  input: InputSource,
  accept: (first: Uint8Array) => void,
  signal?: AbortSignal,
): Promise<RandomAccess> {
  const source = new ByteSource(input, signal);
  try {
    const byteLength = await source.size();
    accept(await source.peek(4));
    if (byteLength !== undefined) return accessOf(source, inputName(input), byteLength);
    const bytes = await source.take(Number.POSITIVE_INFINITY);
    await source.close();
    return {
      byteLength: bytes.length,
      read: async (start, out) => out.set(bytes.subarray(start, start + out.length)),
      close: async () => {},
    };
  } catch (error) {
    await source.close();
    throw error;
  }
}

function accessOf(source: ByteSource, name: string, byteLength: number): RandomAccess {
  return {
    byteLength,
    read: async (start, out) => {
      if ((await source.readAt(out, start)) === out.length) return;
      throw new CovariumError('ERR_FILE_UNREADABLE', `File (${name}) became shorter while it was read.`, {
        path: name,
      });
    },
    close: () => source.close(),
  };
}
