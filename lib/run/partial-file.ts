import { link, open, rename, rm, stat } from 'node:fs/promises';
import { cannotWrite } from '../table/file-error.ts';
import type { Output } from '../table/output-file.ts';
import { partialPath } from '../table/partial-name.ts';

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
