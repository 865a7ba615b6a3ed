import { type FileHandle, link, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { cannotWrite } from './error.ts';
import { partialPath, removeAbandoned } from './temporary-name.ts';

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
 * A file that appears under its name only when it is finished: until then its bytes are in a temporary file beside it. What a killed process
 * left of the same file is removed. What exists and is no regular file (a device, a pipe) is written directly. Throws
 * `ERR_FILE_UNWRITABLE` and `ERR_DISK_FULL`.
 */
export async function openOutputFile(path: string): Promise<Output> {
  try {
    const target = await realpath(path).catch(() => path);
    const status = await stat(target).catch(() => undefined);
    if (status !== undefined && !status.isFile())
      return new FileOutput(path, await open(target, 'w'), undefined, target);
    // Another call of this process may write the same file now. A folder that can't be listed may still be written to.
    await removeAbandoned(dirname(target), { target: basename(target), ownIsDead: false }).catch(() => {});
    const temporary = partialPath(target);
    return new FileOutput(path, await open(temporary, 'w'), temporary, target);
  } catch (error) {
    throw cannotWrite(path, error);
  }
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

class FileOutput implements Output {
  readonly overwrite?: (bytes: Uint8Array, position: number) => Promise<void>;
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #temporary: string | undefined;
  readonly #target: string;

  constructor(path: string, file: FileHandle, temporary: string | undefined, target: string) {
    this.#path = path;
    this.#file = file;
    this.#temporary = temporary;
    this.#target = target;
    // What is no regular file has no positions.
    if (temporary !== undefined) this.overwrite = (bytes, position) => this.#overwrite(bytes, position);
  }

  async #overwrite(bytes: Uint8Array, position: number): Promise<void> {
    try {
      for (let at = 0; at < bytes.length; )
        at += (await this.#file.write(bytes, at, bytes.length - at, position + at)).bytesWritten;
    } catch (error) {
      throw cannotWrite(this.#path, error);
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      for (let at = 0; at < bytes.length; ) at += (await this.#file.write(bytes, at)).bytesWritten;
    } catch (error) {
      throw cannotWrite(this.#path, error);
    }
  }

  async finish(): Promise<void> {
    try {
      await this.#file.close();
      if (this.#temporary !== undefined) await rename(this.#temporary, this.#target);
    } catch (error) {
      throw cannotWrite(this.#path, error);
    }
  }

  async discard(): Promise<void> {
    await this.#file.close().catch(() => {});
    if (this.#temporary !== undefined) await rm(this.#temporary, { force: true }).catch(() => {});
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

/** A file under way beside its target, named for its writer: several processes, also of several machines, may write to one target. */
export class PartialFile implements Output {
  readonly #target: string;
  readonly #partial: string;
  readonly #file: Awaited<ReturnType<typeof open>>;

  private constructor(target: string, partial: string, file: Awaited<ReturnType<typeof open>>) {
    this.#target = target;
    this.#partial = partial;
    this.#file = file;
  }

  /** Throws `ERR_FILE_UNWRITABLE` and `ERR_DISK_FULL`. */
  static async open(target: string): Promise<PartialFile> {
    const partial = partialPath(target);
    try {
      return new PartialFile(target, partial, await open(partial, 'w'));
    } catch (error) {
      throw cannotWrite(target, error);
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      for (let at = 0; at < bytes.length; ) at += (await this.#file.write(bytes, at)).bytesWritten;
    } catch (error) {
      throw cannotWrite(this.#target, error);
    }
  }

  /** Brings the bytes to the disk, so that the name, which comes with {@link place}, never stands for less. */
  async finish(): Promise<void> {
    try {
      await this.#file.sync();
      await this.#file.close();
    } catch (error) {
      throw cannotWrite(this.#target, error);
    }
  }

  async discard(): Promise<void> {
    await this.#file.close().catch(() => {});
    await rm(this.#partial, { force: true }).catch(() => {});
  }

  /** Gives the finished file its name, in the place of whatever has it. */
  async replace(): Promise<void> {
    try {
      await rename(this.#partial, this.#target);
    } catch (error) {
      await this.discard();
      throw cannotWrite(this.#target, error);
    }
  }

  /** Gives the finished file its name if nothing has it; says whether it did. */
  async place(): Promise<boolean> {
    try {
      await link(this.#partial, this.#target);
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST') return false;
      if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code ?? '')) throw cannotWrite(this.#target, error);
      // A file system without links, as exFAT: between the question and the answer another process could come.
      if (await stat(this.#target).catch(() => undefined)) return false;
      await rename(this.#partial, this.#target);
      return true;
    } finally {
      await this.discard();
    }
  }
}

/** A whole file of text, in place of whatever has the name, or only where nothing has it; says whether it is there now. */
export async function writePartial(target: string, text: string, how: 'replace' | 'place'): Promise<boolean> {
  const file = await PartialFile.open(target);
  try {
    await file.write(Buffer.from(text));
    await file.finish();
  } catch (error) {
    await file.discard();
    throw error;
  }
  if (how === 'place') return file.place();
  await file.replace();
  return true;
}
