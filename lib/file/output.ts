import { constants, linkSync, renameSync, rmSync } from 'node:fs';
import { type FileHandle, link, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { cannotWrite } from './error.ts';
import { alone } from './lock.ts';
import { partialPath, removeAbandoned } from './temporary-name.ts';
import { begin, end, removeQuietly } from './unfinished.ts';

/** Where bytes go; one of {@link finish} and {@link discard} ends it. */
export interface Output {
  write(bytes: Uint8Array): Promise<void>;
  /** Writes over what is there from `position` on; undefined where what was written is gone, as in a pipe. */
  overwrite?(bytes: Uint8Array, position: number): Promise<void>;
  finish(): Promise<void>;
  /** Leaves nothing of an unfinished output behind. Never rejects. */
  discard(): Promise<void>;
}

/** Standard output for `-`, and else {@link openOutputFile}. */
export async function openOutput(path: string): Promise<Output> {
  return path === '-' ? standardOutput() : openOutputFile(path);
}

/**
 * A file that appears under its name only when it is finished: until then its bytes are in a temporary file beside it.
 * Throws `ERR_FILE_UNWRITABLE` and `ERR_DISK_FULL`.
 */
export async function openOutputFile(path: string): Promise<Output> {
  const file = await OutputFile.open(path);
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

/** A whole text, by {@link openOutput}: a file appears complete or not at all. */
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

/** Standard output. A reader that went away is an error with the code `EPIPE`, which ends the command in silence. */
export function standardOutput(): Output {
  // Each write's callback tells the same error; without a listener it would end the process.
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

/**
 * A file under way beside its target, and what becomes of it: {@link finish} brings its bytes to the disk, then {@link
 * replace} or {@link place} gives it the name. Several processes, also of several machines, may write to one target.
 * What exists and is no regular file (a device, a pipe) is written directly.
 */
export class OutputFile implements Output {
  readonly #path: string;
  readonly #file: FileHandle;
  /** The path without links. */
  readonly #target: string;
  readonly #temporary: string | undefined;

  private constructor(path: string, file: FileHandle, target: string, temporary: string | undefined) {
    this.#path = path;
    this.#file = file;
    this.#target = target;
    this.#temporary = temporary;
  }

  /** Removes what a killed process left of the same file. Throws `ERR_FILE_UNWRITABLE` and `ERR_DISK_FULL`. */
  static async open(path: string): Promise<OutputFile> {
    try {
      const target = await realpath(path).catch(() => path);
      const status = await stat(target).catch(() => undefined);
      if (status !== undefined && !status.isFile())
        return new OutputFile(path, await open(target, 'w'), target, undefined);
      // A folder that can't be listed may still be written to.
      await removeAbandoned(dirname(target), basename(target)).catch(() => {});
      const temporary = partialPath(target);
      const mode = status === undefined ? 0o666 : status.mode & 0o777;
      // Before it is there: a signal may come at once.
      begin(temporary);
      const file = await open(temporary, exclusively, mode).catch((error: unknown) => {
        end(temporary);
        throw error;
      });
      // What nobody else could read stays so; a umask must not take away more.
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

  /** False for what exists and has no positions: a device, a pipe. */
  get isRegular(): boolean {
    return this.#temporary !== undefined;
  }

  /** Writes over what is there from `position` on; only of a regular file. */
  async overwrite(bytes: Uint8Array, position: number): Promise<void> {
    try {
      for (let at = 0; at < bytes.length; )
        at += (await this.#file.write(bytes, at, bytes.length - at, position + at)).bytesWritten;
    } catch (error) {
      throw cannotWrite(this.#path, error);
    }
  }

  /** Brings the bytes to the disk, so that the name never stands for less. */
  async finish(): Promise<void> {
    try {
      if (this.#temporary !== undefined) await this.#file.sync();
      await this.#file.close();
    } catch (error) {
      throw cannotWrite(this.#path, error);
    }
  }

  async discard(): Promise<void> {
    await this.#file.close().catch(() => {});
    if (this.#temporary === undefined) return;
    await rm(this.#temporary, { force: true }).catch(() => {});
    end(this.#temporary);
  }

  /** Gives the finished file its name, in the place of whatever has it. */
  async replace(): Promise<void> {
    try {
      // Not at once on this thread: to let go of a large file that had the name takes long.
      if (this.#temporary !== undefined) await rename(this.#temporary, this.#target);
    } catch (error) {
      throw cannotWrite(this.#path, error);
    } finally {
      await this.discard();
    }
  }

  /**
   * Gives two finished files their names: both, or neither. No other call of this function comes between the two. A
   * process that is killed between them, which takes microseconds, leaves the new file beside the old second one.
   */
  static async replaceBoth(first: OutputFile, second: OutputFile): Promise<void> {
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
          // Also after a renaming back, which does nothing where both are names of one file.
          if (before !== undefined) removeQuietly(before);
        }
      });
    } catch (error) {
      throw cannotWrite(first.#path, error);
    } finally {
      await first.discard();
      await second.discard();
    }
  }

  /** Gives the finished file its name if nothing has it; says whether it did. */
  async place(): Promise<boolean> {
    if (this.#temporary === undefined) return false;
    try {
      await link(this.#temporary, this.#target);
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST') return false;
      if (!hasNoLinks(error)) throw cannotWrite(this.#path, error);
      // Between the question and the answer another process could come.
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
   * A second name of what has the target's name now, or where there are no links its only one; undefined where nothing
   * has it.
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

// Exclusive opening follows no link either; where the flag is there, it says so.
const exclusively = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

// A file system without links, as exFAT.
function hasNoLinks(error: unknown): boolean {
  return ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** Writes a whole text into a file that is just opened, to its {@link OutputFile.finish}; a failure discards it. */
export async function finishText(file: OutputFile, text: string): Promise<void> {
  try {
    await file.write(Buffer.from(text));
    await file.finish();
  } catch (error) {
    await file.discard();
    throw error;
  }
}
