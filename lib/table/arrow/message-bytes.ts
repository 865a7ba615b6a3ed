import type { ByteSource } from '../../file/input.ts';
import type { RandomAccess } from '../../file/random-access.ts';

/** The body of a message. */
export interface Body {
  readonly bytes: number;
  /** So many bytes of it, which are there: where they are in memory already, or else in what `scratch` gives. */
  part(offset: number, length: number, scratch: (length: number) => Uint8Array): Uint8Array | Promise<Uint8Array>;
  /** Where the body begins in an open file; undefined if it is not in one. */
  readonly file?: { readonly descriptor: number; readonly start: number } | undefined;
}

/** A body whose bytes are in memory. */
export function bodyInMemory(bytes: Uint8Array): Body {
  return { bytes: bytes.length, part: (offset, length) => bytes.subarray(offset, offset + length) };
}

/** What messages are read from, in order. */
export interface MessageBytes {
  /** Bytes taken so far. */
  readonly offset: number;
  /** The next bytes, which are not taken. */
  peek(count: number): Promise<Uint8Array>;
  /** So many bytes, fewer only at the end. */
  take(count: number): Promise<Uint8Array>;
  /** So many bytes as the body of a message; undefined where there are not as many. */
  body(count: number): Promise<Body | undefined>;
  close(): Promise<void>;
  /** Undefined of a pipe. */
  readonly file?: {
    readonly byteLength: number;
    /** The last bytes, at most so many. */
    last(count: number): Promise<Uint8Array>;
    skipTo(offset: number): void;
  };
}

/** Messages of a file: bodies stay in it until parts of them are read. */
export class FileMessageBytes implements MessageBytes {
  readonly #file: RandomAccess;
  #offset = 0;

  constructor(file: RandomAccess) {
    this.#file = file;
  }

  get offset(): number {
    return this.#offset;
  }

  async peek(count: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(Math.min(count, this.#file.byteLength - this.#offset));
    await this.#file.read(this.#offset, bytes);
    return bytes;
  }

  async take(count: number): Promise<Uint8Array> {
    const bytes = await this.peek(count);
    this.#offset += bytes.length;
    return bytes;
  }

  async body(count: number): Promise<Body | undefined> {
    const start = this.#offset;
    if (count > this.#file.byteLength - start) return undefined;
    this.#offset += count;
    const { descriptor } = this.#file;
    return {
      bytes: count,
      file: descriptor === undefined ? undefined : { descriptor, start },
      part: async (offset, length, scratch) => {
        const bytes = scratch(length);
        await this.#file.read(start + offset, bytes);
        return bytes;
      },
    };
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  get file(): NonNullable<MessageBytes['file']> {
    return {
      byteLength: this.#file.byteLength,
      last: async (count) => {
        const bytes = new Uint8Array(Math.min(count, this.#file.byteLength));
        await this.#file.read(this.#file.byteLength - bytes.length, bytes);
        return bytes;
      },
      skipTo: (offset) => {
        this.#offset = offset;
      },
    };
  }
}

/** Messages of a pipe: bodies are in memory, which grows only as bytes arrive. */
export class PipeMessageBytes implements MessageBytes {
  readonly #source: ByteSource;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  get offset(): number {
    return this.#source.offset;
  }

  peek(count: number): Promise<Uint8Array> {
    return this.#source.peek(count);
  }

  take(count: number): Promise<Uint8Array> {
    return this.#source.take(count);
  }

  async body(count: number): Promise<Body | undefined> {
    const bytes = await this.take(count);
    return bytes.length < count ? undefined : bodyInMemory(bytes);
  }

  close(): Promise<void> {
    return this.#source.close();
  }
}
