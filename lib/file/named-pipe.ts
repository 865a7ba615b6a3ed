import { closeSync, constants, openSync, statSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import { unlessAborted } from '../check.ts';

/** What is used of a file's handle to write it; a pipe has no positions. */
export interface WriteHandle {
  readonly fd: number;
  write(
    bytes: Uint8Array,
    offset: number,
    length?: number,
    position?: number,
  ): Promise<{ readonly bytesWritten: number }>;
  close(): Promise<void>;
}

const ignore = () => {};

/**
 * Opens a named pipe for writing once it has a reader. Neither that nor a reader that stops reading holds a thread of
 * libuv, as a file handle of a pipe would, and both end when `signal` aborts. Throws the system's error, and
 * `ERR_ABORTED`.
 */
export async function openPipe(path: string, signal: AbortSignal | undefined): Promise<WriteHandle> {
  const { Socket } = process.getBuiltinModule('node:net');
  let fd: number | undefined;
  while (fd === undefined) {
    try {
      fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      // There is no reader yet.
      if ((error as NodeJS.ErrnoException).code !== 'ENXIO') throw error;
      await unlessAborted(signal, after(10));
    }
  }
  const socket = new Socket({ fd, readable: false, writable: true });
  // Each write's callback reports the same error; without a listener it would end the process.
  socket.on('error', ignore);
  return {
    fd,
    write: async (bytes, offset) => {
      const piece = bytes.subarray(offset);
      await unlessAborted(
        signal,
        new Promise<void>((resolve, reject) => {
          socket.write(piece, (error) => (error ? reject(error) : resolve()));
        }),
      );
      return { bytesWritten: piece.length };
    },
    close: async () => {
      socket.destroy();
    },
  };
}

/**
 * Ends the opening of a named pipe for reading that nobody waits for any more. It holds a thread and the process until
 * a writer opens the pipe: this opens it, again and again until `opening` has settled, because a busy process may open
 * later. Its calls are synchronous, since all of libuv's threads may be held.
 */
export async function endOpening(path: string, opening: Promise<unknown>): Promise<void> {
  let isOpening = true;
  const settled = () => {
    isOpening = false;
  };
  opening.then(settled, settled);
  while (isOpening && isNamedPipe(path)) {
    try {
      closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
    } catch {
      // There is no reader yet.
    }
    await after(50);
  }
}

function isNamedPipe(path: string): boolean {
  try {
    return statSync(path).isFIFO();
  } catch {
    return false;
  }
}
