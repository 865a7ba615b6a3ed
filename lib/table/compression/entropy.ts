import { Contradiction } from '../contradiction.ts';

/**
 * A table of Zstandard's finite state entropy: of each state its symbol, and the bits and the base of the state that
 * follows.
 */
export interface FseTable {
  readonly symbols: Uint8Array;
  readonly bits: Uint8Array;
  readonly base: Uint16Array;
  readonly log: number;
}

/**
 * The table of probabilities that add up to 2^log, where -1 is less than one.
 * https://www.rfc-editor.org/rfc/rfc8878#section-4.1
 */
export function fseTable(probabilities: readonly number[], log: number): FseTable {
  const size = 1 << log;
  const symbols = new Uint8Array(size);
  const bits = new Uint8Array(size);
  const base = new Uint16Array(size);
  let high = size - 1;
  const next = probabilities.map((probability, symbol) => {
    if (probability === -1) symbols[high--] = symbol;
    return Math.abs(probability);
  });
  const step = (size >> 1) + (size >> 3) + 3;
  let place = 0;
  probabilities.forEach((probability, symbol) => {
    for (let index = 0; index < probability; index++) {
      symbols[place] = symbol;
      do place = (place + step) & (size - 1);
      while (place > high);
    }
  });
  for (let state = 0; state < size; state++) {
    const value = next[symbols[state]!]!++;
    bits[state] = log - (31 - Math.clz32(value));
    base[state] = (value << bits[state]!) - size;
  }
  return { symbols, bits, base, log };
}

/** Reads the probabilities of at most `most` symbols, whose table has at most 2^`largestLog` states. */
export function readFse(
  bytes: Uint8Array,
  start: number,
  end: number,
  largestLog: number,
  most: number,
): { probabilities: number[]; log: number; at: number } {
  let bit = 8 * start;
  const peek = (count: number): number => {
    let value = 0;
    for (let index = 0; index < count; index++) {
      const byte = (bit + index) >> 3;
      // A peek may reach beyond the end; what is taken may not.
      value |= (((byte < end ? bytes[byte]! : 0) >> ((bit + index) & 7)) & 1) << index;
    }
    return value;
  };
  const take = (count: number): number => {
    const value = peek(count);
    bit += count;
    if (bit > 8 * end) throw new Contradiction('a Zstandard table ends early');
    return value;
  };
  const log = take(4) + 5;
  if (log > largestLog) throw new Contradiction(`a Zstandard table has 2^(${log}) states`);
  const probabilities: number[] = [];
  let left = 1 << log;
  while (left > 0) {
    // As many bits as the largest value needs, and one less where the value is small.
    const width = 32 - Math.clz32(left + 1);
    const mask = (1 << (width - 1)) - 1;
    const small = (1 << width) - 1 - (left + 1);
    let value = peek(width);
    if ((value & mask) < small) {
      value &= mask;
      take(width - 1);
    } else {
      if (value > mask) value -= small;
      take(width);
    }
    const probability = value - 1;
    left -= Math.abs(probability);
    probabilities.push(probability);
    if (probability === 0)
      for (let repeat = 3; repeat === 3; ) {
        repeat = take(2);
        for (let index = 0; index < repeat; index++) probabilities.push(0);
      }
    if (probabilities.length > most) throw new Contradiction(`a Zstandard table has more than (${most}) symbols`);
  }
  return { probabilities, log, at: (bit + 7) >> 3 };
}

/** Bits from the last byte back to the first; the highest bit that is set only marks the end. */
export class BackwardBits {
  readonly #bytes: Uint8Array;
  readonly #start: number;
  // Bits that are left.
  #left: number;

  constructor(bytes: Uint8Array, start: number, end: number) {
    const last = end > start ? bytes[end - 1]! : 0;
    if (last === 0) throw new Contradiction('a Zstandard bit stream has no end mark');
    this.#bytes = bytes;
    this.#start = start;
    this.#left = 8 * (end - start) - 1 - Math.clz32(last) + 24;
  }

  get left(): number {
    return this.#left;
  }

  /** The next bits, at most 31. */
  take(count: number): number {
    if (count > this.#left) throw new Contradiction('a Zstandard bit stream ends early');
    this.#left -= count;
    return this.#at(this.#left, count);
  }

  /** The next bits, zeros where they are beyond the start; they are not taken. */
  peek(count: number): number {
    if (count <= this.#left) return this.#at(this.#left - count, count);
    return this.#at(0, this.#left) << (count - this.#left);
  }

  skip(count: number): void {
    if (count > this.#left) throw new Contradiction('a Zstandard bit stream ends early');
    this.#left -= count;
  }

  finish(): void {
    if (this.#left !== 0) throw new Contradiction(`(${this.#left}) bits are left of a Zstandard bit stream`);
  }

  #at(bit: number, count: number): number {
    if (count === 0) return 0;
    const bytes = this.#bytes;
    let at = this.#start + (bit >> 3);
    const offset = bit & 7;
    if (count + offset <= 24) {
      const word = bytes[at]! | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
      return (word >> offset) & ((1 << count) - 1);
    }
    let value = bytes[at]! >> offset;
    for (let have = 8 - offset; have < count; have += 8) value += (bytes[++at] ?? 0) * 2 ** have;
    return value % 2 ** count;
  }
}

/** The symbol and length of each code of `log` bits. */
export interface HuffmanTable {
  readonly symbols: Uint8Array;
  readonly lengths: Uint8Array;
  readonly log: number;
}

const longestCode = 11;

/**
 * Reads a table of codes from the weights of all symbols but the last.
 * https://www.rfc-editor.org/rfc/rfc8878#section-4.2.1
 */
export function readHuffman(bytes: Uint8Array, start: number, end: number): { table: HuffmanTable; at: number } {
  if (start >= end) throw new Contradiction('a Zstandard table of codes is not there');
  const head = bytes[start]!;
  const weights: number[] = [];
  let at = start + 1;
  if (head >= 128) {
    const count = head - 127;
    if (at + ((count + 1) >> 1) > end) throw new Contradiction('a Zstandard table of codes ends early');
    for (let index = 0; index < count; index++) {
      const pair = bytes[at + (index >> 1)]!;
      weights.push(index % 2 === 0 ? pair >> 4 : pair & 15);
    }
    at += (count + 1) >> 1;
  } else {
    if (at + head > end) throw new Contradiction('a Zstandard table of codes ends early');
    const read = readFse(bytes, at, at + head, 6, 13);
    const table = fseTable(read.probabilities, read.log);
    readWeights(table, new BackwardBits(bytes, read.at, at + head), weights);
    at += head;
  }
  return { table: huffmanTable(weights), at };
}

// Two states take turns until the bits end.
function readWeights(table: FseTable, bits: BackwardBits, weights: number[]): void {
  const states = [bits.take(table.log), bits.take(table.log)];
  for (let turn = 0; ; turn = 1 - turn) {
    const state = states[turn]!;
    weights.push(table.symbols[state]!);
    if (weights.length > 254) throw new Contradiction('a Zstandard table has more than (255) codes');
    const width = table.bits[state]!;
    if (width > bits.left) {
      weights.push(table.symbols[states[1 - turn]!]!);
      return;
    }
    states[turn] = table.base[state]! + bits.take(width);
  }
}

function huffmanTable(weights: readonly number[]): HuffmanTable {
  const sum = weights.reduce((total, weight) => total + (weight === 0 ? 0 : 2 ** (weight - 1)), 0);
  if (sum === 0) throw new Contradiction('a Zstandard table of codes is empty');
  const log = 32 - Math.clz32(sum);
  const rest = 2 ** log - sum;
  const last = 32 - Math.clz32(rest);
  if (log > longestCode || 2 ** (last - 1) !== rest)
    throw new Contradiction('the codes of a Zstandard table do not add up');
  const all = [...weights, last];
  const size = 1 << log;
  const symbols = new Uint8Array(size);
  const lengths = new Uint8Array(size);
  let place = 0;
  for (let weight = 1; weight <= log; weight++)
    all.forEach((each, symbol) => {
      if (each !== weight) return;
      const count = 1 << (weight - 1);
      symbols.fill(symbol, place, place + count);
      lengths.fill(log + 1 - weight, place, place + count);
      place += count;
    });
  return { symbols, lengths, log };
}

/** Decodes bytes `start` to `end`, one stream or four, into all of `out`. */
export function decodeHuffman(
  table: HuffmanTable,
  bytes: Uint8Array,
  start: number,
  end: number,
  streams: 1 | 4,
  out: Uint8Array,
): void {
  if (streams === 1) {
    decodeStream(table, bytes, start, end, out);
    return;
  }
  if (end - start < 6) throw new Contradiction('four Zstandard streams have no lengths');
  const part = (out.length + 3) >> 2;
  if (3 * part > out.length) throw new Contradiction(`(${out.length}) literals are in four Zstandard streams`);
  let at = start + 6;
  for (let index = 0; index < 4; index++) {
    const length = index < 3 ? bytes[start + 2 * index]! | (bytes[start + 2 * index + 1]! << 8) : end - at;
    if (length < 1 || at + length > end) throw new Contradiction('a Zstandard stream is longer than its block');
    decodeStream(table, bytes, at, at + length, out.subarray(index * part, index < 3 ? (index + 1) * part : undefined));
    at += length;
  }
}

function decodeStream(
  { symbols, lengths, log }: HuffmanTable,
  bytes: Uint8Array,
  start: number,
  end: number,
  out: Uint8Array,
): void {
  const bits = new BackwardBits(bytes, start, end);
  for (let index = 0; index < out.length; index++) {
    const code = bits.peek(log);
    out[index] = symbols[code]!;
    bits.skip(lengths[code]!);
  }
  bits.finish();
}
