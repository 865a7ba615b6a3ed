import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** The folder of what may be lost: `COVARIUM_CACHE`, or ours in the system's. Throws for a user without a home. */
export function cacheFolder(): string {
  const { COVARIUM_CACHE = '', XDG_CACHE_HOME = '' } = process.env;
  if (COVARIUM_CACHE !== '') return resolve(COVARIUM_CACHE);
  const base =
    process.platform === 'darwin' ? join(homedir(), 'Library/Caches') : XDG_CACHE_HOME || join(homedir(), '.cache');
  return resolve(base, 'covarium');
}
