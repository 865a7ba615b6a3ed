import type { Real } from '../../dtype.ts';
import { Contradiction } from '../contradiction.ts';
import { Inexact, type NumberLayout, readNumbers } from '../numbers.ts';
import { HybridReader } from './hybrid.ts';

/** Numbers of a page in order, nulls left out; made for as many as the page has. */
export interface PageValues {
  /** The next `count` numbers. Throws a {@link Contradiction}, or an {@link Inexact}. */
  read(out: Real, start: number, count: number): void;
  /** Once all are read: throws a {@link Contradiction} where the page holds more. */
  finish(): void;
}

/** Number after number. */
export class PlainValues implements PageValues {
  readonly #bytes: Uint8Array;
  readonly #layout: NumberLayout;
  #at: number;

  /** `count` numbers of a page of `values`, nulls among them, which some writers leave room for. */
  constructor(bytes: Uint8Array, at: number, layout: NumberLayout, count: number, values: number) {
    this.#bytes = bytes;
    this.#at = at;
    this.#layout = layout;
    const given = bytes.length - at;
    const taken = (numbers: number) => Math.ceil(numbers * layout.bytes);
    if (given !== taken(count) && given !== taken(values)) throw refusedBytes(given, layout, count);
  }

  read(out: Real, start: number, count: number): void {
    readNumbers(this.#bytes, this.#at, this.#layout, out, start, count);
    this.#at += count * this.#layout.bytes;
  }

  finish(): void {}
}

/** Booleans in runs. */
export class BooleanValues implements PageValues {
  readonly #runs: HybridReader;
  #bits: Uint8Array = new Uint8Array(0);

  /** `count` booleans, behind the length of their bytes. */
  constructor(bytes: Uint8Array, at: number, count: number) {
    const given = bytes.length - at - 4;
    if (given < 0) throw new Contradiction('a page of booleans does not say its length');
    const stated = new DataView(bytes.buffer, bytes.byteOffset + at, 4).getUint32(0, true);
    if (stated !== given) throw new Contradiction(`a page of booleans states (${stated}) bytes, and has (${given})`);
    this.#runs = new HybridReader(bytes, at + 4, bytes.length, 1, count, 'booleans');
  }

  read(out: Real, start: number, count: number): void {
    if (this.#bits.length < count) this.#bits = new Uint8Array(count);
    this.#runs.read(this.#bits, count);
    out.set(this.#bits.subarray(0, count), start);
  }

  finish(): void {
    this.#runs.finish();
  }
}

/** The first bytes of all numbers, then their second bytes, and so on. */
export class SplitValues implements PageValues {
  readonly #bytes: Uint8Array;
  readonly #start: number;
  readonly #layout: NumberLayout;
  readonly #count: number;
  #joined: Uint8Array = new Uint8Array(0);
  #next = 0;

  constructor(bytes: Uint8Array, at: number, layout: NumberLayout, count: number) {
    this.#bytes = bytes;
    this.#start = at;
    this.#layout = layout;
    this.#count = count;
    if (bytes.length - at !== count * layout.bytes) throw refusedBytes(bytes.length - at, layout, count);
  }

  read(out: Real, start: number, count: number): void {
    const { bytes: width } = this.#layout;
    if (this.#joined.length < count * width) this.#joined = new Uint8Array(count * width);
    const joined = this.#joined;
    const bytes = this.#bytes;
    for (let part = 0; part < width; part++) {
      let from = this.#start + part * this.#count + this.#next;
      for (let to = part; to < count * width; to += width) joined[to] = bytes[from++]!;
    }
    readNumbers(joined, 0, this.#layout, out, start, count);
    this.#next += count;
  }

  finish(): void {}
}

/** The numbers of a dictionary page. Those that float64 does not hold matter only where they are used. */
export interface Dictionary {
  readonly values: Real;
  readonly inexact: ReadonlyMap<number, bigint>;
}

/** Places in a dictionary. */
export class DictionaryValues implements PageValues {
  readonly #bytes: Uint8Array;
  readonly #at: number;
  readonly #dictionary: Dictionary;
  readonly #count: number;
  #indices: HybridReader | undefined;
  #found: Int32Array = new Int32Array(0);

  /** `count` numbers. */
  constructor(bytes: Uint8Array, at: number, dictionary: Dictionary, count: number) {
    this.#bytes = bytes;
    this.#at = at;
    this.#dictionary = dictionary;
    this.#count = count;
  }

  read(out: Real, start: number, count: number): void {
    if (count === 0) return;
    this.#indices ??= this.#begin();
    if (this.#found.length < count) this.#found = new Int32Array(count);
    const found = this.#found;
    this.#indices.read(found, count);
    const { values, inexact } = this.#dictionary;
    const length = values.length;
    for (let index = 0; index < count; index++) {
      const at = found[index]!;
      if (at < 0 || at >= length)
        throw new Contradiction(`index (${at >>> 0}) is beyond its dictionary of (${length})`);
      out[start + index] = values[at]!;
    }
    if (inexact.size > 0)
      for (let index = 0; index < count; index++) {
        const value = inexact.get(found[index]!);
        if (value !== undefined) throw new Inexact(index, value);
      }
  }

  finish(): void {
    this.#indices?.finish();
  }

  #begin(): HybridReader {
    const width = this.#bytes[this.#at];
    if (width === undefined) throw new Contradiction('a page of indices does not say their width');
    if (width > 32) throw new Contradiction(`indices have (${width}) bits`);
    return new HybridReader(this.#bytes, this.#at + 1, this.#bytes.length, width, this.#count, 'indices');
  }
}

function refusedBytes(bytes: number, layout: NumberLayout, count: number): Contradiction {
  return new Contradiction(`a page has (${bytes}) bytes for (${count}) numbers of (${layout.bytes}) bytes`);
}
