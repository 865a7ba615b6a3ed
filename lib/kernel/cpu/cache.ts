import { createHash, randomBytes } from 'node:crypto';
import {
  access,
  chmod,
  constants,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  utimes,
} from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { CovariumError } from '../../covarium-error.ts';

// A library of the cache is loaded into this process, so it must be what this user's compiler wrote: a regular file
// that no other user can write, in a folder that no other user can enter, and unharmed: its name is the digest of its
// bytes.

/** Where compiled kernels are kept: `COVARIUM_CACHE`, or the folder that the system has for it. */
function cacheFolder(): string {
  const { COVARIUM_CACHE = '', XDG_CACHE_HOME = '' } = process.env;
  if (COVARIUM_CACHE !== '') return resolve(COVARIUM_CACHE, 'kernels');
  const base =
    process.platform === 'darwin' ? join(homedir(), 'Library/Caches') : XDG_CACHE_HOME || join(homedir(), '.cache');
  return resolve(base, 'covarium', 'kernels');
}

/** Kernels that are kept; those that were not used for longest make room. Each takes some ten thousand bytes. */
const mostKept = 1000;

/** What a process that was ended leaves behind is nobody's after an hour: a compiler is stopped long before. */
const draftMs = 3_600_000;

/** What makes two libraries the same. */
export function digestOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('hex');
}

async function isOurs(path: string, kind: 'folder' | 'file'): Promise<boolean> {
  try {
    const stat = await lstat(path);
    const others = kind === 'folder' ? 0o077 : 0o022;
    return (
      (kind === 'folder' ? stat.isDirectory() : stat.isFile()) &&
      stat.uid === process.getuid?.() &&
      (stat.mode & others) === 0
    );
  } catch {
    return false;
  }
}

async function changedMs(path: string): Promise<number> {
  return (await lstat(path).catch(() => undefined))?.mtimeMs ?? Date.now();
}

/**
 * The library of `key`, where the cache has one that may be loaded; whatever else is there under its name is taken
 * away.
 */
async function found(folder: string): Promise<string | undefined> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => each.endsWith('.draft'))) {
    const path = join(folder, name);
    if ((await changedMs(path)) < Date.now() - draftMs) await rm(path, { force: true }).catch(() => {});
  }
  for (const name of names.filter((each) => each.endsWith('.so'))) {
    const path = join(folder, name);
    if ((await isOurs(path, 'file')) && `${digestOf(await readFile(path))}.so` === name) return path;
    await rm(path, { force: true, recursive: true });
  }
  return undefined;
}

/** A library to load; `done` is called when it has been. */
export interface CachedLibrary {
  readonly path: string;
  readonly isNew: boolean;
  readonly done: () => Promise<void>;
}

/**
 * The library of `key`, from the cache or made by `make`, which writes it to the path that it is given. It is renamed
 * when it is whole: processes that make the same one at once don't see each other's halves. Where the cache's folder is
 * not to be trusted or not to be written, the library is made in a folder of its own and is gone once it is loaded.
 */
export async function cached(key: string, make: (path: string) => Promise<void>): Promise<CachedLibrary> {
  let parent: string;
  let folder: string;
  try {
    parent = cacheFolder(); // a user without a home has none
    folder = join(parent, key);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.W_OK); // it may be there, and read-only
  } catch {
    return alone(make);
  }
  if (!(await isOurs(parent, 'folder')) || !(await isOurs(folder, 'folder'))) return alone(make);
  const kept = await found(folder);
  if (kept !== undefined) {
    const now = new Date();
    await utimes(folder, now, now).catch(() => {}); // it is in use
    return { path: kept, isNew: false, done: async () => {} };
  }
  const draft = join(folder, `${process.pid}-${randomBytes(8).toString('hex')}.draft`);
  try {
    await make(draft);
    await chmod(draft, 0o700);
    const path = join(folder, `${digestOf(await readFile(draft))}.so`);
    await rename(draft, path);
    // Once it is loaded: what is being loaded elsewhere is among those used last.
    return { path, isNew: true, done: () => makeRoom(parent) };
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Takes away the kernels beyond the most that are kept. */
async function makeRoom(parent: string): Promise<void> {
  const names = (await readdir(parent).catch(() => [])).filter((name) => /^[\da-f]{64}$/.test(name));
  if (names.length <= mostKept) return;
  const all = await Promise.all(names.map(async (name) => ({ name, at: await changedMs(join(parent, name)) })));
  all.sort((a, b) => a.at - b.at);
  for (const { name } of all.slice(0, names.length - mostKept))
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => {});
}

async function alone(make: (path: string) => Promise<void>): Promise<CachedLibrary> {
  const folder = await mkdtemp(resolve(tmpdir(), 'covarium-kernel-')).catch((cause: NodeJS.ErrnoException) => {
    const path = tmpdir();
    const said = `Folder (${path}) takes no library of a kernel (${cause.code}), nor does the cache.`;
    throw new CovariumError('ERR_FILE_UNWRITABLE', said, { path, cause });
  });
  const done = () => rm(folder, { recursive: true, force: true });
  const path = join(folder, 'kernel.so');
  try {
    await make(path);
    return { path, isNew: true, done };
  } catch (error) {
    await done();
    throw error;
  }
}
