import { rmSync } from 'node:fs';

// Temporary files of this thread.
const unfinished = new Set<string>();
let watcher: ((some: boolean) => void) | undefined;
let isWatchingExit = false;

/** A temporary file that is removed when the process exits, unless {@link end} comes first. */
export function begin(path: string): void {
  if (!isWatchingExit) process.on('exit', removeUnfinished);
  isWatchingExit = true;
  unfinished.add(path);
  if (unfinished.size === 1) watcher?.(true);
}

/** The temporary file has its final name, or is gone. */
export function end(path: string): void {
  if (unfinished.delete(path) && unfinished.size === 0) watcher?.(false);
}

export function isUnfinished(path: string): boolean {
  return unfinished.has(path);
}

/** Removes all temporary files of this thread, before the process ends. Never throws. */
export function removeUnfinished(): void {
  for (const path of unfinished) removeQuietly(path);
}

/** Removes a file of ours; one that can't be removed stays until the next writer of the same target. */
export function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // See above.
  }
}

/**
 * Tells from now on when the first temporary file is there (true), and when the last one is gone (false). One listener.
 */
export function watchUnfinished(listener: (some: boolean) => void): void {
  watcher = listener;
}
