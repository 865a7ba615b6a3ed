import { readFileSync, readlinkSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { isUnfinished } from './unfinished.ts';

// Not imported: it takes milliseconds to load, and whoever opens a device reaches this module.
const crypto = () => process.getBuiltinModule('node:crypto');

// A live writer writes or touches its file at least once an hour.
const abandonedMs = 3_600_000;

// A name has at most 255 bytes, and this module adds up to 40 to it.
const mostBytes = 200;

/**
 * A new name beside `target` for its temporary file: `.name.system.process.random.partial`. It cannot be predicted, and
 * it says which process writes.
 */
export function partialPath(target: string): string {
  const random = crypto().randomBytes(4).toString('hex');
  return join(dirname(target), `.${stemOf(basename(target))}.${system()}.${process.pid}.${random}.partial`);
}

/** The name of the lock file beside `target`, which only one process at a time holds. */
export function lockPath(target: string): string {
  return join(dirname(target), `.${stemOf(basename(target))}.lock`);
}

/** Names the process that writes, for {@link isDead}. */
export function writer(): string {
  return `${system()}.${process.pid}`;
}

/**
 * True if the process so named is certainly gone. Nothing is known about a process of another system or another
 * container.
 */
export function isDead(writer: string): boolean {
  const [, its, pid] = /^([0-9a-f]{12})\.(\d+)$/.exec(writer) ?? [];
  return its === system() && !isAlive(Number(pid));
}

/** Removes the files that killed writers left: those of one target, or of all files of a folder. */
export async function removeAbandoned(folder: string, target?: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, stem, writer] = /^\.(.+)\.([0-9a-f]{12}\.\d+)\.[0-9a-f]{8}\.partial$/.exec(name) ?? [];
    if (writer === undefined || (target !== undefined && stem !== stemOf(target))) continue;
    const path = join(folder, name);
    if (isUnfinished(path)) continue;
    const status = await stat(path).catch(() => undefined);
    if (status === undefined) continue;
    if (isDead(writer) || Date.now() - status.mtimeMs > abandonedMs) await rm(path, { force: true }).catch(() => {});
  }
}

function stemOf(name: string): string {
  if (Buffer.byteLength(name) <= mostBytes) return name;
  return crypto().createHash('sha256').update(name).digest('hex').slice(0, 32);
}

let known: string | undefined;

// A process number means something within one boot and one namespace of process numbers: containers may share a host's
// name, or its process numbers.
function system(): string {
  known ??= crypto().createHash('sha256').update(bootAndNamespace()).digest('hex').slice(0, 12);
  return known;
}

function bootAndNamespace(): string {
  if (process.platform !== 'linux') return hostname();
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    // No process number can be judged here, not even this process's.
    return crypto().randomBytes(16).toString('hex');
  }
}

// A process of another user cannot be signalled (EPERM), but lives.
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
