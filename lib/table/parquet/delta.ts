import type { Real } from '../../dtype.ts';
import { Contradiction } from '../contradiction.ts';
import { bigOf, Inexact, joinHalves, type NumberLayout } from '../numbers.ts';
import type { PageValues } from './values.ts';

/**
 * Integers as differences, in blocks of the least difference and of what each adds to it, in miniblocks of one width
 * each. Sums wrap as the integers do, so 64 bits are kept in two halves.
 * https://github.com/apache/parquet-format/blob/master/Encodings.md#delta-encoding-delta_binary_packed--5
 */
export class DeltaValues implements PageValues {
  readonly #bytes: Uint8Array;
  readonly #layout: NumberLayout;
  readonly #miniblocks: number;
  readonly #miniblockValues: number;
  #at: number;
  // Numbers that are not read, and differences among them that the blocks hold.
  #left: number;
  #isFirst = true;
  #low = 0;
  #high = 0;
  #minLow = 0;
  #minHigh = 0;
  #widths: Uint8Array = new Uint8Array(0);
  #miniblock = 0;
  #miniblockLeft = 0;
  #width = 0;
  // Place in bits of the next difference, and where its miniblock ends.
  #bit = 0;
  #miniblockEnd = 0;

  /** `count` numbers from byte `at` on. Throws a {@link Contradiction}. */
  constructor(bytes: Uint8Array, at: number, layout: NumberLayout, count: number) {
    this.#bytes = bytes;
    this.#at = at;
    this.#layout = layout;
    const blockValues = this.#varint();
    this.#miniblocks = this.#varint();
    const total = this.#varint();
    this.#miniblockValues = blockValues / this.#miniblocks;
    if (!(blockValues > 0 && blockValues % 128 === 0 && this.#miniblockValues % 32 === 0))
      throw new Contradiction(`blocks of (${blockValues}) differences are in (${this.#miniblocks}) miniblocks`);
    if (total !== count) throw new Contradiction(`a page of (${count}) numbers has (${total}) as differences`);
    this.#left = count;
    [this.#low, this.#high] = this.#zigzag();
  }

  read(out: Real, start: number, count: number): void {
    const { kind, bytes } = this.#layout;
    const isUnsigned = kind === 'uint';
    for (let index = 0; index < count; index++) {
      if (this.#isFirst) this.#isFirst = false;
      else this.#addDifference();
      if (bytes === 8) {
        const number = joinHalves(this.#low, this.#high, isUnsigned);
        if (number === undefined) throw new Inexact(index, bigOf(this.#low, this.#high, isUnsigned));
        out[start + index] = number;
      } else out[start + index] = this.#inRange(isUnsigned ? this.#low >>> 0 : this.#low | 0);
    }
    this.#left -= count;
  }

  finish(): void {
    if (this.#miniblockLeft > 0) this.#at = this.#miniblockEnd;
    if (this.#left === 0 && this.#at !== this.#bytes.length)
      throw new Contradiction(`(${this.#bytes.length - this.#at}) bytes follow the differences of a page`);
  }

  #inRange(value: number): number {
    const { kind, bits } = this.#layout;
    const least = kind === 'int' ? -(2 ** (bits - 1)) : 0;
    if (value < least || value > least + 2 ** bits - 1)
      throw new Contradiction(`(${value}) is beyond its type of (${bits}) bits`);
    return value;
  }

  #addDifference(): void {
    if (this.#miniblockLeft === 0) this.#nextMiniblock();
    this.#miniblockLeft--;
    const width = this.#width;
    const low = this.#take(Math.min(width, 32));
    const high = width > 32 ? this.#take(width - 32) : 0;
    this.#add(this.#minLow, this.#minHigh);
    this.#add(low, high);
    if (this.#miniblockLeft === 0) this.#at = this.#miniblockEnd;
  }

  #add(low: number, high: number): void {
    const sum = (this.#low >>> 0) + (low >>> 0);
    this.#low = sum | 0;
    this.#high = (this.#high + high + (sum >= 2 ** 32 ? 1 : 0)) | 0;
  }

  #nextMiniblock(): void {
    if (this.#miniblock === this.#widths.length) {
      [this.#minLow, this.#minHigh] = this.#zigzag();
      if (this.#at + this.#miniblocks > this.#bytes.length) throw this.#short();
      this.#widths = this.#bytes.subarray(this.#at, this.#at + this.#miniblocks);
      this.#at += this.#miniblocks;
      this.#miniblock = 0;
    }
    this.#width = this.#widths[this.#miniblock++]!;
    if (this.#width > 8 * this.#layout.bytes) throw new Contradiction(`differences have (${this.#width}) bits`);
    this.#miniblockLeft = this.#miniblockValues;
    this.#bit = 0;
    this.#miniblockEnd = this.#at + (this.#miniblockValues / 8) * this.#width;
    if (this.#miniblockEnd > this.#bytes.length) throw this.#short();
  }

  // Up to 32 bits.
  #take(width: number): number {
    let value = 0;
    for (let have = 0; have < width; ) {
      const at = this.#at + Math.floor(this.#bit / 8);
      const offset = this.#bit % 8;
      const taken = Math.min(8 - offset, width - have);
      value |= ((this.#bytes[at]! >> offset) & ((1 << taken) - 1)) << have;
      have += taken;
      this.#bit += taken;
    }
    return value;
  }

  #varint(): number {
    const [low, high] = this.#varintHalves();
    return (high >>> 0) * 2 ** 32 + (low >>> 0);
  }

  #zigzag(): [low: number, high: number] {
    const [low, high] = this.#varintHalves();
    const sign = -(low & 1);
    return [((low >>> 1) | (high << 31)) ^ sign, (high >>> 1) ^ sign];
  }

  #varintHalves(): [low: number, high: number] {
    let [low, high] = [0, 0];
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw this.#short();
      const bits = byte & 127;
      if (shift < 32) low |= bits << shift;
      if (shift > 28) high |= bits << (shift - 32);
      else if (shift === 28) high |= bits >> 4;
      if (byte < 128) return [low, high];
    }
    throw new Contradiction('a whole number takes more than (10) bytes');
  }

  #short(): Contradiction {
    return new Contradiction('a page ends before all its differences are read');
  }
}
