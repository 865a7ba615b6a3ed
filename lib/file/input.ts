import { createReadStream } from 'node:fs';
import { cannotRead } from './error.ts';

const chunkBytes = 1 << 20;

/** How messages name what is read. */
export function inputName(path: string): string {
  return path === '-' ? 'standard input' : path;
}

/** The bytes of a file, or of standard input for `-`, in order. */
export function inputStream(path: string): NodeJS.ReadableStream & { destroy(): void } {
  return path === '-' ? process.stdin : createReadStream(path, { highWaterMark: chunkBytes });
}

/** Bytes in order, taken in pieces of chosen sizes. Throws `ERR_FILE_NOT_FOUND`, `ERR_FILE_UNREADABLE`. */
export class ByteSource {
  readonly #path: string;
  readonly #stream: ReturnType<typeof inputStream>;
  readonly #chunks: AsyncIterator<string | Buffer>;
  #rest: Buffer = Buffer.alloc(0);
  #at = 0;
  #offset = 0;

  constructor(path: string) {
    this.#path = path;
    this.#stream = inputStream(path);
    this.#chunks = this.#stream[Symbol.asyncIterator]();
  }

  /** Bytes taken so far. */
  get offset(): number {
    return this.#offset;
  }

  /** So many bytes in memory of their own, fewer only where the source ends. Memory grows only as bytes arrive. */
  async take(count: number): Promise<Uint8Array<ArrayBuffer>> {
    const pieces: Buffer[] = [];
    let length = 0;
    while (length < count) {
      if (this.#at === this.#rest.length && !(await this.#next())) break;
      const piece = this.#rest.subarray(this.#at, this.#at + count - length);
      pieces.push(piece);
      this.#at += piece.length;
      length += piece.length;
    }
    this.#offset += length;
    const bytes = new Uint8Array(length);
    let to = 0;
    for (const piece of pieces) {
      bytes.set(piece, to);
      to += piece.length;
    }
    return bytes;
  }

  /** All that is left, of which only the last bytes are kept. */
  async takeLast(count: number): Promise<Uint8Array> {
    let last = Buffer.from(this.#rest.subarray(this.#at));
    while (await this.#next()) last = Buffer.concat([last, this.#rest]).subarray(-count);
    this.#at = this.#rest.length;
    return last.subarray(-count);
  }

  close(): void {
    this.#stream.destroy();
  }

  async #next(): Promise<boolean> {
    try {
      const { value, done } = await this.#chunks.next();
      if (done === true) return false;
      this.#rest = value as Buffer;
      this.#at = 0;
      return true;
    } catch (error) {
      throw cannotRead(inputName(this.#path), error);
    }
  }
}
