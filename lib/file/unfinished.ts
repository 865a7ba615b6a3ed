import { rmSync } from 'node:fs';

// The temporary files of this thread.
const unfinished = new Set<string>();
let watcher: ((some: boolean) => void) | undefined;
let isWatchingExit = false;

/** Registers a temporary file, which is removed when the process exits unless {@link end} is called first. */
export function begin(path: string): void {
  if (!isWatchingExit) process.on('exit', removeUnfinished);
  isWatchingExit = true;
  unfinished.add(path);
  if (unfinished.size === 1) watcher?.(true);
}

/** Called when the temporary file has its final name or is gone. */
export function end(path: string): void {
  if (unfinished.delete(path) && unfinished.size === 0) watcher?.(false);
}

export function isUnfinished(path: string): boolean {
  return unfinished.has(path);
}

/** Removes all temporary files of this thread before the process ends. Never throws. */
export function removeUnfinished(): void {
  for (const path of unfinished) removeQuietly(path);
}

/** Removes one of our files; if that fails, the next writer of the same target removes it. */
export function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Left to the next writer.
  }
}

/**
 * Calls the listener with true when the first temporary file exists, and with false when the last one is gone. One
 * listener.
 */
export function watchUnfinished(listener: (some: boolean) => void): void {
  watcher = listener;
}
