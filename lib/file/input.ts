import { type FileHandle, open, readFile } from 'node:fs/promises';
import { isErrored, isReadable, Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import * as types from 'node:util/types';
import { describe, refuseAborted, unlessAborted, wrongArgument } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { Turns } from '../work.ts';
import { cannotRead } from './error.ts';
import { endOpening } from './named-pipe.ts';

/**
 * A source of bytes: a path (`-` is standard input), a URL (`file:`, `http:`, `https:`), bytes in memory, or a stream
 * of bytes, such as a Node Readable, the body of a Response, or any async iterable of bytes.
 */
export type InputSource = string | URL | Uint8Array | ArrayBuffer | AsyncIterable<Uint8Array | string>;

const chunkBytes = 1 << 20;
// A file's first bytes tell its format, and often no others are taken one after the other. Memory for more would have
// V8 collect garbage after each few files, which takes as long as its heap is large.
const firstBytes = 1 << 14;

/** The name of a source in messages. */
export function inputName(source: InputSource): string {
  if (typeof source === 'string') return source === '-' ? 'standard input' : source;
  if (isUrl(source)) return urlName(source);
  return isBytes(source) ? `${source.byteLength} bytes` : 'a stream';
}

/** The text of a file, of `-` that of standard input. Throws `ERR_FILE_NOT_FOUND`, `ERR_FILE_UNREADABLE`. */
export async function readText(path: string): Promise<string> {
  try {
    return await (path === '-' ? textOf(process.stdin) : readFile(path, 'utf8'));
  } catch (error) {
    throw cannotRead(inputName(path), error);
  }
}

/** Throws `ERR_INVALID_ARGUMENT` if the value is not an {@link InputSource}. */
export function requireSource(source: InputSource): void {
  if (isUrl(source)) requirePath(source);
  if (typeof source === 'string' || isUrl(source) || isBytes(source)) return;
  if (typeof (source as AsyncIterable<Uint8Array> | undefined)?.[Symbol.asyncIterator] === 'function') {
    if (!isConsumed(source as unknown as NodeJS.ReadableStream & ReadableStream)) return;
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `\`path\` is a stream (${describe(source)}) that was read already, or that another reader holds: pass a new one.`,
    );
  }
  // Of a Blob or a file of a form, and of a Response or a Request.
  const { stream, body } = Object(source) as { readonly stream?: unknown; readonly body?: unknown };
  const own =
    typeof stream === 'function' ? 'what its stream() returns, or ' : body instanceof Object ? 'its body, or ' : '';
  throw wrongArgument('path', source, `${own}a path, a URL, a Buffer, or a stream of bytes`);
}

function isConsumed(stream: NodeJS.ReadableStream & ReadableStream): boolean {
  if (stream.locked === true) return true;
  return Readable.isDisturbed(stream) && isReadable(stream) === false && !isErrored(stream);
}

// A URL of a file with another host, with a slash as `%2F`, or with bytes that are not UTF-8 has no path.
function requirePath(url: URL): void {
  if (url.protocol !== 'file:') return;
  try {
    fileURLToPath(url);
  } catch (error) {
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `\`path\` is a URL (${url.href}) that is not the path of a file (${describe((error as Error).message)}).`,
      { cause: error },
    );
  }
}

const ignore = () => {};

/** Keeps the error of a Node stream that comes before it is read, which would end the process, for its reader. */
export function keepError(source: InputSource): void {
  const { on, listeners } = source as unknown as Partial<NodeJS.EventEmitter>;
  if (typeof on !== 'function' || typeof listeners !== 'function') return;
  if (!listeners.call(source, 'error').includes(ignore)) on.call(source, 'error', ignore);
}

/**
 * Bytes in order, taken in pieces of any size. Its methods throw `ERR_FILE_NOT_FOUND`, `ERR_FILE_UNREADABLE`,
 * `ERR_ABORTED`.
 */
export class ByteSource {
  /** The name in messages. */
  readonly name: string;
  readonly #signal: AbortSignal | undefined;
  readonly #source: InputSource;
  // Bytes in memory come without waiting.
  readonly #turns: Turns;
  #chunks: Promise<Chunks> | undefined;
  #isOpen = false;
  #rest: Uint8Array = new Uint8Array(0);
  #offset = 0;

  constructor(source: InputSource, signal?: AbortSignal) {
    requireSource(source);
    this.#source = source;
    this.name = inputName(source);
    this.#signal = signal;
    this.#turns = new Turns(signal);
  }

  /** Bytes taken so far. */
  get offset(): number {
    return this.#offset;
  }

  /** The total number of bytes if it is known before reading: for a regular file, and for bytes in memory. */
  async size(): Promise<number | undefined> {
    return (await this.#opened()).size;
  }

  /** The next `count` bytes without taking them; fewer only at the end of the source. */
  async peek(count: number): Promise<Uint8Array> {
    while (this.#rest.length < count) {
      const chunk = await this.#next();
      if (chunk === undefined) break;
      this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    }
    return this.#rest.subarray(0, count);
  }

  /** The next bytes, as many as are available; undefined at the end. */
  async chunk(): Promise<Uint8Array | undefined> {
    const chunk = this.#rest.length > 0 ? this.#rest : await this.#next();
    this.#rest = new Uint8Array(0);
    this.#offset += chunk?.length ?? 0;
    return chunk;
  }

  /** `count` bytes in memory of their own; fewer only at the end of the source. Memory grows only as bytes arrive. */
  async take(count: number): Promise<Uint8Array<ArrayBuffer>> {
    const pieces: Uint8Array[] = [];
    let length = 0;
    while (length < count) {
      if (this.#rest.length === 0) this.#rest = (await this.#next()) ?? this.#rest;
      if (this.#rest.length === 0) break;
      const piece = this.#rest.subarray(0, count - length);
      pieces.push(piece);
      this.#rest = this.#rest.subarray(piece.length);
      length += piece.length;
    }
    this.#offset += length;
    const bytes = new Uint8Array(length);
    let to = 0;
    for (const piece of pieces) {
      bytes.set(piece, to);
      to += piece.length;
      await this.#turns.take();
    }
    return bytes;
  }

  /**
   * Fills `bytes` and returns how many were read: fewer only at the end of the source. A file is read directly into
   * this memory.
   */
  async fill(bytes: Uint8Array): Promise<number> {
    const chunks = await this.#opened();
    let length = 0;
    while (length < bytes.length) {
      if (this.#rest.length === 0 && chunks.readInto !== undefined) {
        refuseAborted(this.#signal);
        await this.#turns.take();
        const count = await this.#caught(chunks.readInto(bytes.subarray(length)));
        if (count === 0) break;
        length += count;
        continue;
      }
      if (this.#rest.length === 0) this.#rest = (await this.#next()) ?? this.#rest;
      if (this.#rest.length === 0) break;
      const piece = this.#rest.subarray(0, bytes.length - length);
      bytes.set(piece, length);
      this.#rest = this.#rest.subarray(piece.length);
      length += piece.length;
    }
    this.#offset += length;
    return length;
  }

  /**
   * Fills `bytes` from `position` on, without moving the place of reading, and returns how many were read. The size of
   * the source must be known.
   */
  async readAt(bytes: Uint8Array, position: number): Promise<number> {
    const chunks = await this.#opened();
    let length = 0;
    while (length < bytes.length) {
      refuseAborted(this.#signal);
      await this.#turns.take();
      const count = await this.#caught(chunks.readAt!(bytes.subarray(length), position + length));
      if (count === 0) break;
      length += count;
    }
    return length;
  }

  /** The number of the open file for native code; undefined if the source is not a regular file. */
  async descriptor(): Promise<number | undefined> {
    return (await this.#opened()).descriptor;
  }

  /** Takes all remaining bytes and keeps only the last `count`. */
  async takeLast(count: number): Promise<Uint8Array> {
    let last: Uint8Array = this.#rest;
    this.#rest = new Uint8Array(0);
    for (let chunk = await this.#next(); chunk !== undefined; chunk = await this.#next())
      last = Buffer.concat([last, chunk]).subarray(-count);
    return last.subarray(-count);
  }

  /** Never rejects, and does not wait for a source that may never answer. */
  async close(): Promise<void> {
    const closed = this.#chunks?.then((chunks) => chunks.close()).catch(() => {});
    if (this.#isOpen) return closed;
    const path = pathOf(this.#source);
    if (closed !== undefined && path !== undefined) endOpening(path, closed);
  }

  async #next(): Promise<Uint8Array | undefined> {
    const chunks = await this.#opened();
    for (;;) {
      refuseAborted(this.#signal);
      await this.#turns.take();
      const chunk = await this.#caught(unlessAborted(this.#signal, chunks.next()));
      if (chunk === undefined || chunk.length > 0) return chunk;
    }
  }

  async #opened(): Promise<Chunks> {
    this.#chunks ??= openChunks(this.#source, this.#signal);
    const chunks = await (this.#isOpen ? this.#chunks : this.#caught(unlessAborted(this.#signal, this.#chunks)));
    this.#isOpen = true;
    return chunks;
  }

  async #caught<Result>(result: Promise<Result>): Promise<Result> {
    try {
      return await result;
    } catch (error) {
      refuseAborted(this.#signal);
      throw error instanceof CovariumError ? error : cannotRead(this.name, error);
    }
  }
}

/** The bytes of a source in the chunks in which they arrive. */
interface Chunks {
  /** The total number of bytes, if known. */
  readonly size: number | undefined;
  /** Undefined at the end. */
  next(): Promise<Uint8Array | undefined>;
  /** Reads the next bytes into `bytes`; returns 0 at the end. */
  readInto?(bytes: Uint8Array): Promise<number>;
  /** If the size is known: reads the bytes at `position`; returns 0 at the end. */
  readAt?(bytes: Uint8Array, position: number): Promise<number>;
  /** Of a regular file that is open. */
  readonly descriptor?: number | undefined;
  close(): Promise<void>;
}

/** The path of a source that is a file. */
function pathOf(source: InputSource): string | undefined {
  if (typeof source === 'string') return source === '-' ? undefined : source;
  return isUrl(source) && source.protocol === 'file:' ? fileURLToPath(source) : undefined;
}

async function openChunks(source: InputSource, signal: AbortSignal | undefined): Promise<Chunks> {
  if (typeof source === 'string') return source === '-' ? streamChunks(process.stdin) : fileChunks(await open(source));
  if (isUrl(source)) return urlChunks(source, signal);
  return isBytes(source) ? memoryChunks(source) : streamChunks(source);
}

async function fileChunks(file: FileHandle): Promise<Chunks> {
  try {
    const status = await file.stat();
    const isRegular = status.isFile() && status.size > 0; // files in /proc report size 0
    let position = 0;
    const readInto = async (bytes: Uint8Array) => {
      const { bytesRead } = await file.read(bytes, 0, Math.min(bytes.length, 1 << 30), isRegular ? position : null);
      position += bytesRead;
      return bytesRead;
    };
    return {
      size: isRegular ? status.size : undefined,
      next: async () => {
        const most = position === 0 ? firstBytes : chunkBytes;
        const bytes = Buffer.allocUnsafeSlow(isRegular ? Math.min(most, status.size) : 1 << 16);
        const count = await readInto(bytes);
        return count === 0 ? undefined : bytes.subarray(0, count);
      },
      ...(isRegular && { readInto }),
      readAt: async (bytes, from) => (await file.read(bytes, 0, Math.min(bytes.length, 1 << 30), from)).bytesRead,
      descriptor: isRegular ? file.fd : undefined,
      close: async () => {
        const closed = file.close();
        // It waits for a read, which on a pipe may never end.
        if (isRegular) await closed;
        else closed.catch(() => {});
      },
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

// Each chunk is a copy, because a decoder may transfer the bytes to another thread.
function memoryChunks(source: Uint8Array | ArrayBuffer): Chunks {
  const bytes = types.isArrayBuffer(source) ? new Uint8Array(source) : source;
  const size = bytes.length;
  let at = 0;
  const part = (from: number, count: number) => {
    if (bytes.length !== size)
      throw new CovariumError('ERR_CLOSED', `Bytes (${size}) were transferred to another thread while they were read.`);
    return bytes.subarray(from, from + Math.min(count, chunkBytes));
  };
  return {
    size,
    next: async () => {
      if (at === size) return undefined;
      const chunk = new Uint8Array(part(at, chunkBytes));
      at += chunk.length;
      return chunk;
    },
    readAt: async (into, from) => {
      const chunk = part(from, into.length);
      into.set(chunk);
      return chunk.length;
    },
    close: async () => {},
  };
}

function streamChunks(stream: AsyncIterable<Uint8Array | string>): Chunks {
  const chunks = stream[Symbol.asyncIterator]();
  return {
    size: undefined,
    next: async () => {
      const { value, done } = await chunks.next();
      if (done === true) return undefined;
      if (typeof value === 'string') return Buffer.from(value);
      if (types.isUint8Array(value)) return new Uint8Array(value);
      throw new CovariumError('ERR_INVALID_ARGUMENT', `The stream gave (${describe(value)}); pass a stream of bytes.`);
    },
    // Does not wait for a source that never answers.
    close: async () => {
      if ('destroy' in stream && typeof stream.destroy === 'function') stream.destroy();
      else chunks.return?.()?.catch(() => {});
    },
  };
}

async function urlChunks(url: URL, signal: AbortSignal | undefined): Promise<Chunks> {
  if (url.protocol === 'file:') return fileChunks(await open(fileURLToPath(url)));
  const name = urlName(url);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new CovariumError('ERR_INVALID_ARGUMENT', `URL (${name}) is not one of (file:, http:, https:).`);
  const { ok, status, statusText, body } = await fetch(url, signal === undefined ? {} : { signal });
  if (ok && body !== null) return streamChunks(body as unknown as AsyncIterable<Uint8Array>);
  await body?.cancel();
  const code = status === 404 || status === 410 ? 'ERR_FILE_NOT_FOUND' : 'ERR_FILE_UNREADABLE';
  throw new CovariumError(code, `File (${name}) cannot be read: the server answered (${status} ${statusText}).`, {
    path: name,
  });
}

function urlName(url: URL): string {
  if (url.protocol === 'file:') return pathnameOf(url);
  // A message must not contain a password or a token.
  return `${url.protocol}//${url.host}${url.pathname}`;
}

/** The decoded path of a URL; the path as it stands if its bytes are not UTF-8, which servers accept. */
export function pathnameOf({ pathname }: URL): string {
  try {
    return decodeURI(pathname);
  } catch {
    return pathname;
  }
}

// Each may be of another realm, whose constructors are others.

export function isUrl(source: unknown): source is URL {
  return Object.prototype.toString.call(source) === '[object URL]';
}

function isBytes(source: unknown): source is Uint8Array | ArrayBuffer {
  return types.isUint8Array(source) || types.isArrayBuffer(source);
}
