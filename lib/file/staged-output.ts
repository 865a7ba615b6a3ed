import type { Output } from './output.ts';

const stageBytes = 4 << 20;
// From here on a copy costs more than a write of its own.
const directBytes = 1 << 19;

/** Collects small pieces into large writes, and counts the bytes, which gives offsets in the file. */
export class StagedOutput {
  readonly #output: Output;
  readonly #stage: Uint8Array = new Uint8Array(stageBytes);
  #staged = 0;
  #bytes = 0;

  constructor(output: Output) {
    this.#output = output;
  }

  /** The number of bytes so far. */
  get bytes(): number {
    return this.#bytes;
  }

  async write(piece: Uint8Array): Promise<void> {
    this.#bytes += piece.length;
    const isDirect = piece.length >= directBytes;
    if (isDirect || this.#staged + piece.length > stageBytes) await this.flush();
    if (isDirect) return this.#output.write(piece);
    this.#stage.set(piece, this.#staged);
    this.#staged += piece.length;
  }

  async flush(): Promise<void> {
    if (this.#staged === 0) return;
    const staged = this.#stage.subarray(0, this.#staged);
    this.#staged = 0;
    await this.#output.write(staged);
  }
}
