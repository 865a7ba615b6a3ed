import { closeSync, constants, openSync, statSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';

/**
 * Ends the opening of a named pipe for reading, or for writing, that nobody waits for any more. It holds a thread and
 * the process until the other end is opened: this opens it, again and again until `opening` has settled, because a busy
 * process may open later. Its calls are synchronous, since all of libuv's threads may be held.
 */
export async function endOpening(
  path: string,
  opening: Promise<unknown>,
  of: 'read' | 'write' = 'read',
): Promise<void> {
  const otherEnd = (of === 'read' ? constants.O_WRONLY : constants.O_RDONLY) | constants.O_NONBLOCK;
  let isOpening = true;
  const settled = () => {
    isOpening = false;
  };
  opening.then(settled, settled);
  while (isOpening && isNamedPipe(path)) {
    try {
      closeSync(openSync(path, otherEnd));
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
