import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder, and those above it that are missing; one that is there stays as it is. Throws the system's error.
 * Node's own `recursive` never returns where a folder that is there answers ENOENT to what is made in it, like /proc.
 */
export function makeFolder(path: string, mode = 0o777): void {
  try {
    makeOne(path, mode);
  } catch (error) {
    const above = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === path) throw error;
    makeFolder(above, mode);
    makeOne(path, mode);
  }
}

function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have made it in the meantime.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
