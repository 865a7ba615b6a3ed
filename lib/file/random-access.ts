import { type FileHandle, open } from 'node:fs/promises';
import { CovariumError } from '../covarium-error.ts';
import { cannotRead } from './error.ts';
import { ByteSource, inputName } from './input.ts';

/** Bytes that are read in any order. */
export interface RandomAccess {
  readonly byteLength: number;
  /** Fills `out` with the bytes from `start` on, which are there. Throws `ERR_FILE_UNREADABLE`. */
  read(start: number, out: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a file to be read in any order. What comes from a pipe is taken into memory whole, once `accept` has looked at
 * its first four bytes, and thrown if they are another format's. Throws `ERR_FILE_NOT_FOUND` and `ERR_FILE_UNREADABLE`.
 */
export async function openRandomAccess(path: string, accept: (first: Uint8Array) => void): Promise<RandomAccess> {
  const name = inputName(path);
  let handle: FileHandle | undefined;
  try {
    handle = path === '-' ? undefined : await open(path);
    const status = await handle?.stat();
    if (handle !== undefined && status?.isFile()) {
      const file = accessOf(handle, name, status.size);
      const first = new Uint8Array(Math.min(4, status.size));
      await file.read(0, first);
      accept(first);
      return file;
    }
    await handle?.close();
  } catch (error) {
    await handle?.close().catch(() => {});
    throw error instanceof CovariumError ? error : cannotRead(name, error);
  }
  const source = new ByteSource(path);
  try {
    const first = await source.take(4);
    accept(first);
    const rest = await source.take(Number.POSITIVE_INFINITY);
    const bytes = Buffer.concat([first, rest]);
    return {
      byteLength: bytes.length,
      read: async (start, out) => out.set(bytes.subarray(start, start + out.length)),
      close: async () => {},
    };
  } finally {
    source.close();
  }
}

function accessOf(handle: FileHandle, name: string, byteLength: number): RandomAccess {
  const read = async (start: number, out: Uint8Array) => {
    try {
      for (let at = 0; at < out.length; ) {
        const { bytesRead } = await handle.read(out, at, out.length - at, start + at);
        if (bytesRead === 0)
          throw new CovariumError('ERR_FILE_UNREADABLE', `File (${name}) became shorter while it was read.`, {
            path: name,
          });
        at += bytesRead;
      }
    } catch (error) {
      throw error instanceof CovariumError ? error : cannotRead(name, error);
    }
  };
  return { byteLength, read, close: () => handle.close() };
}
