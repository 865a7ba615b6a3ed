import { Contradiction } from '../contradiction.ts';

/**
 * Whole numbers of a fixed width in runs: one number many times, or numbers side by side in groups of eight. A run that
 * is longer than what is left to read is refused, so that nothing loops on what a run says.
 * https://github.com/apache/parquet-format/blob/master/Encodings.md#run-length-encoding--bit-packing-hybrid-rle--3
 */
export class HybridReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  readonly #width: number;
  readonly #what: string;
  #at: number;
  // Numbers that were not read, and those of them that the run holds.
  #left: number;
  #runLeft = 0;
  #isPacked = false;
  #value = 0;
  // Of the byte, where the next number of a packed run begins.
  #bit = 0;
  #runEnd = 0;

  /** `count` numbers of `width` bits in bytes `at` to `end`; `what` is what messages call them. */
  constructor(bytes: Uint8Array, at: number, end: number, width: number, count: number, what: string) {
    this.#bytes = bytes;
    this.#at = at;
    this.#end = end;
    this.#width = width;
    this.#left = count;
    this.#what = what;
  }

  /** The next `count` numbers. Throws a {@link Contradiction}. */
  read(out: Int32Array | Uint8Array, count: number): void {
    for (let done = 0; done < count; ) {
      if (this.#runLeft === 0) this.#nextRun();
      const taken = Math.min(count - done, this.#runLeft);
      if (!this.#isPacked) out.fill(this.#value, done, done + taken);
      else if (this.#width <= 24) this.#unpack(out, done, taken);
      else this.#unpackWide(out, done, taken);
      this.#runLeft -= taken;
      this.#left -= taken;
      done += taken;
      if (this.#runLeft === 0 && this.#isPacked) this.#at = this.#runEnd;
    }
  }

  /** The sum of all numbers, which takes the place of reading them: of levels of one bit, those that are 1. */
  ones(): number {
    let sum = 0;
    while (this.#left > 0) {
      this.#nextRun();
      if (this.#isPacked) {
        for (let index = 0; index < this.#runLeft; index++)
          sum += (this.#bytes[this.#at + (index >> 3)]! >> (index & 7)) & 1;
        this.#at = this.#runEnd;
      } else sum += this.#value * this.#runLeft;
      this.#left -= this.#runLeft;
      this.#runLeft = 0;
    }
    this.finish();
    return sum;
  }

  /** Throws a {@link Contradiction} where bytes are left when all numbers are read. */
  finish(): void {
    if (this.#left === 0 && this.#at !== this.#end)
      throw new Contradiction(`(${this.#end - this.#at}) bytes follow its ${this.#what}`);
  }

  #nextRun(): void {
    const head = this.#varint();
    const length = Math.floor(head / 2);
    if (length === 0) throw new Contradiction(`a run of ${this.#what} is empty`);
    this.#isPacked = head % 2 === 1;
    if (this.#isPacked) {
      // Groups of eight: the last may reach beyond what is left; DuckDB fills up 256. All their bytes are there.
      if (this.#width === 0 && 8 * length >= this.#left + 8) throw this.#tooLong(8 * length);
      this.#runLeft = Math.min(8 * length, this.#left);
      this.#runEnd = this.#at + length * this.#width;
      if (this.#runEnd > this.#end) throw this.#short();
      this.#bit = 0;
      return;
    }
    if (length > this.#left) throw this.#tooLong(length);
    this.#runLeft = length;
    const valueBytes = (this.#width + 7) >> 3;
    if (this.#at + valueBytes > this.#end) throw this.#short();
    let value = 0;
    for (let index = 0; index < valueBytes; index++) value += this.#bytes[this.#at++]! * 2 ** (8 * index);
    if (value >= 2 ** this.#width)
      throw new Contradiction(`a run of ${this.#what} is (${value}) in (${this.#width}) bits`);
    this.#value = value | 0;
  }

  #unpack(out: Int32Array | Uint8Array, start: number, count: number): void {
    const bytes = this.#bytes;
    const width = this.#width;
    const mask = 2 ** width - 1;
    // Four bytes hold any number of up to 24 bits, whatever bit of the first it begins at; beyond the end they are
    // zeros.
    let bit = this.#bit;
    const at = this.#at;
    const end = start + count;
    for (let index = start; index < end; index++, bit += width) {
      const from = at + (bit >>> 3);
      const word = bytes[from]! | (bytes[from + 1]! << 8) | (bytes[from + 2]! << 16) | (bytes[from + 3]! << 24);
      out[index] = (word >>> (bit & 7)) & mask;
    }
    // Runs of many numbers: a place in bits stays a small integer.
    this.#at = at + (bit >>> 3);
    this.#bit = bit & 7;
  }

  #unpackWide(out: Int32Array | Uint8Array, start: number, count: number): void {
    for (let index = start; index < start + count; index++) {
      let value = this.#bytes[this.#at]! >> this.#bit;
      let have = 8 - this.#bit;
      for (let from = this.#at + 1; have < this.#width; have += 8) value += this.#bytes[from++]! * 2 ** have;
      out[index] = value % 2 ** this.#width;
      const bit = this.#bit + this.#width;
      this.#at += bit >>> 3;
      this.#bit = bit & 7;
    }
  }

  #varint(): number {
    let value = 0;
    for (let scale = 1; scale < 2 ** 35; scale *= 128) {
      if (this.#at >= this.#end) throw this.#short();
      const byte = this.#bytes[this.#at++]!;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    throw new Contradiction(`the length of a run of ${this.#what} takes more than (5) bytes`);
  }

  #tooLong(length: number): Contradiction {
    return new Contradiction(`a run of ${this.#what} is (${length}) long where (${this.#left}) are left`);
  }

  #short(): Contradiction {
    return new Contradiction(`its ${this.#what} end before all are read`);
  }
}
