import { randomBytes } from 'node:crypto';
import { closeSync, linkSync, lstatSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import { CovariumError } from '../covarium-error.ts';
import { isDead, lockPath, partialPath, writer } from './temporary-name.ts';
import { removeQuietly } from './unfinished.ts';

// The work takes milliseconds. A process that holds the lock for longer is stopped, or was killed on another machine.
const abandonedMs = 30_000;

// A lock names its owner microseconds after it appears, unless the owner was killed in between or its disk is full.
const namelessMs = 2_000;

const holder = `${writer()}.${randomBytes(4).toString('hex')}`;

/**
 * Runs short work while no other process, on this machine or another, runs work for the same target. Throws
 * `ERR_FILE_UNWRITABLE` if something that is not a lock, or that can't be removed, is in the lock's place.
 */
export async function alone(target: string, work: () => void): Promise<void> {
  const lock = lockPath(target);
  let seen = '';
  let since = 0;
  while (!tryToLock(lock)) {
    requireLockPlace(target);
    const there = identityOf(lock);
    if (there === '') continue;
    if (there !== seen) since = performance.now();
    seen = there;
    const owner = textOf(lock);
    const longest = owner === '' ? namelessMs : abandonedMs;
    if (isLeft(owner) || performance.now() - since > longest) breakLock(target, lock, there);
    else await after(5 + 10 * Math.random());
  }
  try {
    work();
  } finally {
    removeQuietly(lock);
  }
}

/** Throws `ERR_FILE_UNWRITABLE` if what is in the place of the target's lock can't be one. */
export function requireLockPlace(target: string): void {
  const lock = lockPath(target);
  if (lstatSync(lock, { throwIfNoEntry: false })?.isFile() === false) throw inTheWay(target, lock, 'is not a file');
}

function tryToLock(lock: string): boolean {
  let file: number;
  try {
    file = openSync(lock, 'wx');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  try {
    writeSync(file, holder);
  } catch {
    // On a full disk the lock does not name its owner: if this process is killed, others wait for some seconds.
  } finally {
    closeSync(file);
  }
  return true;
}

// This thread holds no lock when it asks for one, so a lock with its name is one that it could not remove.
function isLeft(text: string): boolean {
  return text === holder || isDead(text.slice(0, text.lastIndexOf('.')));
}

// A file system may reuse the inode number of a removed file.
function identityOf(path: string): string {
  const status = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return status === undefined ? '' : `${status.ino} ${status.mtimeNs}`;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

// Of several processes that find the same dead lock, one is first, and may already have made its own lock: remove only
// the dead one.
function breakLock(target: string, lock: string, dead: string): void {
  const aside = partialPath(lock);
  try {
    renameSync(lock, aside);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Another process was faster.
    if (code === 'ENOENT') return;
    throw inTheWay(target, lock, `cannot be removed (${code})`);
  }
  try {
    if (identityOf(aside) !== dead) linkSync(aside, lock);
  } catch {
    // Another process has made its own meanwhile.
  } finally {
    removeQuietly(aside);
  }
}

function inTheWay(target: string, lock: string, why: string): CovariumError {
  return new CovariumError(
    'ERR_FILE_UNWRITABLE',
    `File (${target}) cannot be written: (${lock}), where its lock is made, ${why}. Remove it.`,
    { path: target },
  );
}
