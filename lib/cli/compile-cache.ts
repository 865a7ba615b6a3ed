import { lstatSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { cacheFolder } from '../addon/cache-folder.ts';
import { makeFolder } from '../file/folder.ts';

/** Lets Node, from 22.8 on, keep what V8 compiles from now on for the next run, which then starts faster. */
export function keepCompiled(): void {
  const { enableCompileCache } = module as { enableCompileCache?(folder: string): unknown };
  if (enableCompileCache === undefined) return;
  try {
    const folder = join(cacheFolder(), 'compiled');
    makeFolder(folder, 0o700);
    // V8 runs what is there, so no other user may write to it.
    const status = lstatSync(folder);
    if (status.isDirectory() && status.uid === process.getuid?.() && (status.mode & 0o022) === 0)
      enableCompileCache(folder);
  } catch {
    // A user without a home, or a folder that cannot be written: each run compiles.
  }
}
