import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { cannotRead } from './error.ts';
import type { Output } from './output.ts';

/** Size and SHA-256 of a file. */
export interface Digest {
  readonly bytes: number;
  /** SHA-256, hexadecimal. */
  readonly sha256: string;
}

/** An output that computes the digest of everything written through it. */
export class DigestOutput implements Output {
  readonly #output: Output;
  readonly #hash: Hash = createHash('sha256');
  #bytes = 0;

  constructor(output: Output) {
    this.#output = output;
  }

  async write(bytes: Uint8Array): Promise<void> {
    const writing = this.#output.write(bytes);
    // Hashed while the system writes.
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    await writing;
  }

  finish(): Promise<void> {
    return this.#output.finish();
  }

  discard(): Promise<void> {
    return this.#output.discard();
  }

  /** The digest of all bytes written. Call it once. */
  digest(): Digest {
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }
}

/** The digest of a file. Throws `ERR_FILE_NOT_FOUND` and `ERR_FILE_UNREADABLE`. */
export async function digestOf(path: string): Promise<Digest> {
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
      hash.update(chunk as Buffer);
      bytes += (chunk as Buffer).length;
    }
  } catch (error) {
    throw cannotRead(path, error);
  }
  return { bytes, sha256: hash.digest('hex') };
}
