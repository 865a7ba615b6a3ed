import { readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';

// A writer that lives writes at least once an hour.
const abandonedMs = 3_600_000;

/**
 * Where this process writes what is to become `target`: beside it, named for its writer, which may have a machine of
 * its own.
 */
export function partialPath(target: string): string {
  return join(dirname(target), `.${basename(target)}.${machine()}.${process.pid}.partial`);
}

/**
 * Removes what writers left when they were killed: of one target, or of all files of a folder. A writer of another
 * machine is dead when it was long silent. `ownIsDead`: whether a file of this process's number is of an earlier one,
 * as where this one begins.
 */
export async function removeAbandoned(
  folder: string,
  { target, ownIsDead }: { readonly target?: string; readonly ownIsDead: boolean },
): Promise<void> {
  for (const name of await readdir(folder)) {
    const parts = partsOf(name);
    if (parts === undefined || (target !== undefined && parts.target !== target)) continue;
    const path = join(folder, name);
    const status = await stat(path).catch(() => undefined);
    if (status === undefined) continue;
    const { host, pid } = parts;
    const isDead = pid === process.pid ? ownIsDead : !isAlive(pid);
    const isAbandoned = host === machine() ? isDead : Date.now() - status.mtimeMs > abandonedMs;
    if (isAbandoned) await rm(path, { force: true }).catch(() => {});
  }
}

function partsOf(name: string): { readonly target: string; readonly host: string; readonly pid: number } | undefined {
  const [, target, host, pid] = /^\.(.+)\.([^.]+)\.(\d+)\.partial$/.exec(name) ?? [];
  return target === undefined ? undefined : { target, host: host!, pid: Number(pid) };
}

function machine(): string {
  return hostname().replaceAll(/[^\w-]/g, '-') || 'localhost';
}

// A process of another user can't be asked (EPERM), and lives.
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
