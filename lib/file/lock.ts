import { randomBytes } from 'node:crypto';
import { closeSync, linkSync, openSync, readFileSync, renameSync, statSync, writeSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import { isDead, lockPath, partialPath, writer } from './temporary-name.ts';
import { removeQuietly } from './unfinished.ts';

// The work takes milliseconds: whoever has the lock for longer was killed on another machine, or is stopped.
const abandonedMs = 30_000;

const holder = `${writer()}.${randomBytes(4).toString('hex')}`;

/**
 * Runs short work while nobody else does so for the same target, in this process, another one, or on another machine.
 */
export async function alone(target: string, work: () => void): Promise<void> {
  const lock = lockPath(target);
  let seen = '';
  let since = 0;
  while (!tryToLock(lock)) {
    const there = identityOf(lock);
    if (there === '') continue;
    if (there !== seen) since = performance.now();
    seen = there;
    if (isLeft(textOf(lock)) || performance.now() - since > abandonedMs) breakLock(lock, there);
    else await after(5 + 10 * Math.random());
  }
  try {
    work();
  } finally {
    removeQuietly(lock);
  }
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
    // On a full disk the lock does not say whose it is: others wait longer where this process is killed.
  } finally {
    closeSync(file);
  }
  return true;
}

// This thread holds no lock while it asks for one: what it could not remove is left too.
function isLeft(text: string): boolean {
  return text === holder || isDead(text.slice(0, text.lastIndexOf('.')));
}

// File systems use the number of a removed file again.
function identityOf(path: string): string {
  const status = statSync(path, { bigint: true, throwIfNoEntry: false });
  return status === undefined ? '' : `${status.ino} ${status.mtimeNs}`;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

// Of several that find the same dead lock one is first, and may have made its own already: what is taken away must be
// the dead one.
function breakLock(lock: string, dead: string): void {
  const aside = partialPath(lock);
  try {
    renameSync(lock, aside);
    if (identityOf(aside) !== dead) linkSync(aside, lock);
  } catch {
    // Somebody else was faster.
  } finally {
    removeQuietly(aside);
  }
}
