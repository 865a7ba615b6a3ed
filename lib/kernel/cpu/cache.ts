import { createHash, randomBytes } from 'node:crypto';
import { access, chmod, constants, lstat, mkdtemp, readdir, readFile, rename, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { cacheFolder } from '../../addon/cache-folder.ts';
import { CovariumError } from '../../covarium-error.ts';
import { makeFolder } from '../../file/folder.ts';

// A library of the cache is loaded into this process, so it must be what this user's compiler wrote: a regular file
// that no other user can write, in a folder that no other user can enter, and unharmed: its name is the digest of its
// bytes.

/** The number of kernels that are kept; the least recently used are removed. Each takes about ten thousand bytes. */
const mostKept = 1000;

/** After an hour, a file that a killed process left behind has no owner: a compiler is stopped long before. */
const draftMs = 3_600_000;

/** The key of a library. */
export function cacheKey(...parts: readonly (string | Uint8Array)[]): string {
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

/** The library of `key` if the cache has one that may be loaded; a wrong file of its name is removed. */
async function found(folder: string, ending: string): Promise<string | undefined> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => each.endsWith('.draft'))) {
    const path = join(folder, name);
    if ((await changedMs(path)) < Date.now() - draftMs) await rm(path, { force: true }).catch(() => {});
  }
  for (const name of names.filter((each) => each.endsWith(ending))) {
    const path = join(folder, name);
    if ((await isOurs(path, 'file')) && `${cacheKey(await readFile(path))}${ending}` === name) return path;
    await rm(path, { force: true, recursive: true });
  }
  return undefined;
}

/** A library to load; call `done` once it is loaded. */
export interface CachedLibrary {
  readonly path: string;
  readonly isNew: boolean;
  readonly done: () => Promise<void>;
}

/**
 * The library of `key`, from the cache or made by `make`, which writes it to the path that it gets. It is renamed when
 * it is complete, so that processes which make the same library at once never see a part of one. If the cache's folder
 * cannot be trusted or written, the library is made in a temporary folder and removed once it is loaded.
 */
export async function cached(
  key: string,
  make: (path: string) => Promise<void>,
  ending: '.so' | '.ptx' = '.so',
): Promise<CachedLibrary> {
  let parent: string;
  let folder: string;
  try {
    parent = join(cacheFolder(), 'kernels'); // throws for a user without a home
    folder = join(parent, key);
    makeFolder(folder, 0o700);
    await access(folder, constants.W_OK); // it may be there, and read-only
  } catch {
    return alone(make);
  }
  if (!(await isOurs(parent, 'folder')) || !(await isOurs(folder, 'folder'))) return alone(make);
  const kept = await found(folder, ending);
  if (kept !== undefined) {
    const now = new Date();
    await utimes(folder, now, now).catch(() => {}); // marks it as recently used
    return { path: kept, isNew: false, done: async () => {} };
  }
  const draft = join(folder, `${process.pid}-${randomBytes(8).toString('hex')}.draft`);
  try {
    await make(draft);
    await chmod(draft, 0o700);
    const path = join(folder, `${cacheKey(await readFile(draft))}${ending}`);
    await rename(draft, path);
    // After it is loaded, because libraries that other processes load now are among the recently used.
    return { path, isNew: true, done: () => makeRoom(parent) };
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Removes the kernels beyond the number that is kept. */
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
    const said = `Cannot write a kernel's library to folder (${path}) (${cause.code ?? cause.message}), nor to the cache.`;
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
