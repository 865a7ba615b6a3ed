import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { cannotWrite } from './file-error.ts';
import { partialPath, removeAbandoned } from './partial-name.ts';
import { standardOutput } from './standard-output.ts';

/** Where bytes go; one of {@link finish} and {@link discard} ends it. */
export interface Output {
  write(bytes: Uint8Array): Promise<void>;
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
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #temporary: string | undefined;
  readonly #target: string;

  constructor(path: string, file: FileHandle, temporary: string | undefined, target: string) {
    this.#path = path;
    this.#file = file;
    this.#temporary = temporary;
    this.#target = target;
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
