import { constants, fsync, linkSync, renameSync, rmSync } from 'node:fs';
import { link, lutimes, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import { cannotWrite } from './error.ts';
import { alone } from './lock.ts';
import { openPipe, type WriteHandle } from './named-pipe.ts';
import { withoutLinks } from './same-file.ts';
import { partialPath, removeAbandoned } from './temporary-name.ts';
import { begin, end, removeQuietly } from './unfinished.ts';

/** A destination of bytes. Call one of {@link finish} and {@link discard} to end it. */
export interface Output {
  write(bytes: Uint8Array): Promise<void>;
  /** Overwrites bytes from `position` on; undefined if that is impossible, as in a pipe. */
  overwrite?(bytes: Uint8Array, position: number): Promise<void>;
  finish(): Promise<void>;
  /** Removes an unfinished output. Never rejects. */
  discard(): Promise<void>;
}

/** Standard output for `-`, otherwise {@link openOutputFile}. */
export async function openOutput(path: string, signal?: AbortSignal): Promise<Output> {
  return path === '-' ? standardOutput() : openOutputFile(path, signal);
}

/**
 * A file that appears under its name only when it is finished; until then its bytes are in a temporary file beside it.
 * Throws `ERR_FILE_UNWRITABLE`, `ERR_DISK_FULL` and `ERR_ABORTED`.
 */
export async function openOutputFile(path: string, signal?: AbortSignal): Promise<Output> {
  const file = await OutputFile.open(path, signal);
  return {
    write: (bytes) => file.write(bytes),
    ...(file.isRegular && { overwrite: (bytes, position) => file.overwrite(bytes, position) }),
    finish: async () => {
      await file.finish();
      await file.replace();
    },
    discard: () => file.discard(),
  };
}

/** Writes a whole text through {@link openOutput}: a file appears complete or not at all. */
export async function writeTextFile(path: string, text: string): Promise<void> {
  const output = await openOutput(path);
  try {
    await output.write(Buffer.from(text));
    await output.finish();
  } catch (error) {
    await output.discard();
    throw error;
  }
}

const ignore = () => {};

// Well within the time after which a file counts as abandoned.
const touchedMs = 600_000;

function touch(path: string): void {
  const now = new Date();
  lutimes(path, now, now).catch(ignore);
}

/** Standard output. If the reader has gone, an error with the code `EPIPE` ends the command silently. */
export function standardOutput(): Output {
  // Each write's callback reports the same error; without a listener it would end the process.
  if (!process.stdout.listeners('error').includes(ignore)) process.stdout.on('error', ignore);
  return {
    write: (bytes) =>
      new Promise((resolve, reject) => {
        process.stdout.write(bytes, (error) => {
          if (!error) resolve();
          else
            reject((error as NodeJS.ErrnoException).code === 'EPIPE' ? error : cannotWrite('standard output', error));
        });
      }),
    finish: async () => {},
    discard: async () => {},
  };
}

/** Flushes to the disk, by the descriptor: a handle of Yarn's Plug'n'Play has no sync(). */
async function flush(file: WriteHandle): Promise<void> {
  await promisify(fsync)(file.fd).catch((error: NodeJS.ErrnoException) => {
    // The permission model of Node 26 allows no flush at all, whatever may be written.
    if (error.code !== 'ERR_ACCESS_DENIED') throw error;
  });
}

/**
 * An unfinished file beside its target: {@link finish} flushes its bytes to the disk, then {@link replace} or {@link
 * place} gives it the name. Several processes, on one machine or several, may write to one target. A target that exists
 * and is not a regular file (a device, a pipe) is written directly.
 */
export class OutputFile implements Output {
  readonly #path: string;
  readonly #file: WriteHandle;
  /** The path with symbolic links resolved. */
  readonly #target: string;
  readonly #temporary: string | undefined;
  readonly #touching: NodeJS.Timeout | undefined;

  private constructor(path: string, file: WriteHandle, target: string, temporary: string | undefined) {
    this.#path = path;
    this.#file = file;
    this.#target = target;
    this.#temporary = temporary;
    // Others remove a file without writes as a dead writer's. A manifest waits for its rows, and a table for blocks.
    if (temporary !== undefined) this.#touching = setInterval(() => touch(temporary), touchedMs).unref();
  }

  /**
   * Opens the file, and removes what killed writers of the same target left behind. Throws `ERR_FILE_UNWRITABLE`,
   * `ERR_DISK_FULL`, and `ERR_ABORTED` if `signal` aborts while a named pipe waits for its reader, as its writes do.
   */
  static async open(path: string, signal?: AbortSignal): Promise<OutputFile> {
    try {
      // A link to a file that is not there yet says where it is wanted, perhaps on another disk.
      const target = await withoutLinks(path);
      const status = await stat(target).catch((error: NodeJS.ErrnoException) => {
        // Of links in a circle, the rename would replace one.
        if (error.code === 'ELOOP') throw error;
        return undefined;
      });
      // Windows has no named pipes among its files.
      if (status?.isFIFO() && constants.O_NONBLOCK !== undefined)
        return new OutputFile(path, await openPipe(target, signal), target, undefined);
      if (status !== undefined && !status.isFile())
        return new OutputFile(path, await open(target, 'w'), target, undefined);
      // A folder that cannot be listed may still be writable.
      await removeAbandoned(dirname(target), basename(target)).catch(() => {});
      const temporary = partialPath(target);
      const mode = status === undefined ? 0o666 : status.mode & 0o777;
      // Registered before the file exists, because a signal may come at any time.
      begin(temporary);
      const file = await open(temporary, exclusively, mode).catch((error: unknown) => {
        end(temporary);
        throw error;
      });
      // The new file gets the old file's permissions, whatever the umask: a private file stays private, a shared one
      // shared.
      if (status !== undefined) await file.chmod(mode).catch(() => {});
      return new OutputFile(path, file, target, temporary);
    } catch (error) {
      throw cannotWrite(path, error);
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      for (let at = 0; at < bytes.length; ) at += (await this.#file.write(bytes, at)).bytesWritten;
    } catch (error) {
      throw cannotWrite(this.#path, error);
    }
  }

  /** False for a target that exists and has no positions: a device, a pipe. */
  get isRegular(): boolean {
    return this.#temporary !== undefined;
  }

  /** Overwrites bytes from `position` on; only for a regular file. */
  async overwrite(bytes: Uint8Array, position: number): Promise<void> {
    try {
      for (let at = 0; at < bytes.length; )
        at += (await this.#file.write(bytes, at, bytes.length - at, position + at)).bytesWritten;
    } catch (error) {
      throw cannotWrite(this.#path, error);
    }
  }

  /** Flushes the bytes to the disk, so that the name never refers to an incomplete file. */
  async finish(): Promise<void> {
    try {
      if (this.#temporary !== undefined) await flush(this.#file);
      await this.#file.close();
    } catch (error) {
      throw cannotWrite(this.#path, error);
    }
  }

  async discard(): Promise<void> {
    clearInterval(this.#touching);
    await this.#file.close().catch(() => {});
    if (this.#temporary === undefined) return;
    await rm(this.#temporary, { force: true }).catch(() => {});
    end(this.#temporary);
  }

  /** Gives the finished file its name, and replaces a file that has it. */
  async replace(): Promise<void> {
    const letGo = await this.#keepOpen();
    try {
      if (this.#temporary !== undefined) await rename(this.#temporary, this.#target);
    } catch (error) {
      throw cannotWrite(this.#path, error);
    } finally {
      letGo();
      await this.discard();
    }
  }

  /**
   * Keeps the file that has the name open; call the result once another has it. A large file takes long to go, and then
   * goes on another thread, for which nobody waits.
   */
  async #keepOpen(): Promise<() => void> {
    // Windows replaces no open file.
    if (this.#temporary === undefined || process.platform === 'win32') return ignore;
    // A pipe that somebody has put there would wait for its writer.
    const file = await open(this.#target, constants.O_RDONLY | constants.O_NONBLOCK).catch(ignore);
    return () => void file?.close().catch(ignore);
  }

  /**
   * Gives two finished files their names: both, or neither. No other call of this function comes between the two. If
   * the process is killed in the microseconds between them, the new first file stands beside the old second file.
   */
  static async replaceBoth(first: OutputFile, second: OutputFile): Promise<void> {
    const letGo = await first.#keepOpen();
    try {
      await alone(first.#target, () => {
        const before = first.#keep();
        try {
          first.#rename();
          second.#rename();
        } catch (error) {
          if (before !== undefined) renameSync(before, first.#target);
          else rmSync(first.#target, { force: true });
          throw error;
        } finally {
          // Needed after renaming back too, which does nothing if both are names of the same file.
          if (before !== undefined) removeQuietly(before);
        }
      });
    } catch (error) {
      throw cannotWrite(first.#path, error);
    } finally {
      letGo();
      await first.discard();
      await second.discard();
    }
  }

  /** Gives the finished file its name if no file has it; returns whether it did. */
  async place(): Promise<boolean> {
    if (this.#temporary === undefined) return false;
    try {
      await link(this.#temporary, this.#target);
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST') return false;
      if (!hasNoLinks(error)) throw cannotWrite(this.#path, error);
      // Another process could create the file between this check and the renaming.
      if (await stat(this.#target).catch(() => undefined)) return false;
      await rename(this.#temporary, this.#target);
      return true;
    } finally {
      await this.discard();
    }
  }

  #rename(): void {
    if (this.#temporary !== undefined) renameSync(this.#temporary, this.#target);
  }

  /**
   * A second name for the file that has the target's name now, or, on a file system without links, its new only name;
   * undefined if no file has it.
   */
  #keep(): string | undefined {
    const kept = partialPath(this.#target);
    try {
      linkSync(this.#target, kept);
      return kept;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      if (!hasNoLinks(error)) throw error;
      renameSync(this.#target, kept);
      return kept;
    }
  }
}

// Exclusive opening does not follow a symbolic link; O_NOFOLLOW says so too where it exists.
const exclusively = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

// True for a file system without links, such as exFAT.
function hasNoLinks(error: unknown): boolean {
  return ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** Writes a whole text into a file that was just opened, and finishes it; a failure discards it. */
export async function finishText(file: OutputFile, text: string): Promise<void> {
  try {
    await file.write(Buffer.from(text));
    await file.finish();
  } catch (error) {
    await file.discard();
    throw error;
  }
}
