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
 * Opens a file to be read in any order; undefined where it is a pipe. Throws `ERR_FILE_NOT_FOUND` and
 * `ERR_FILE_UNREADABLE`.
 */
export async function openRegularFile(path: string): Promise<RandomAccess | undefined> {
  if (path === '-') return undefined;
  let handle: FileHandle | undefined;
  try {
    handle = await open(path);
    const status = await handle.stat();
    if (status.isFile()) return accessOf(handle, inputName(path), status.size);
    await handle.close();
    return undefined;
  } catch (error) {
    await handle?.close().catch(() => {});
    throw cannotRead(inputName(path), error);
  }
}

/**
 * As {@link openRegularFile}; what comes from a pipe is taken into memory whole, once `accept` has looked at its first
 * four bytes: it throws where they are another format's.
 */
export async function openRandomAccess(path: string, accept: (first: Uint8Array) => void): Promise<RandomAccess> {
  const file = await openRegularFile(path);
  if (file !== undefined) {
    try {
      const first = new Uint8Array(Math.min(4, file.byteLength));
      await file.read(0, first);
      accept(first);
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
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
