// An expectation: a kernel of a public text, its arguments, and what it must write, computed by plain JavaScript.
import type { KernelArgument, KernelOptions } from '../../../lib/index.ts';

/** Memory that a kernel writes, and what it must hold afterwards; NaN stands for any value. */
export class Written {
  readonly type: string;
  readonly expected: readonly number[];
  /** The largest difference, relative to the largest expected number. */
  readonly tolerance: number;
  readonly before: readonly number[];

  constructor(type: string, expected: readonly number[], tolerance = 0, before: readonly number[] = []) {
    this.type = type;
    this.expected = expected;
    this.tolerance = tolerance;
    this.before = before;
  }
}

export interface Expectation {
  readonly kernel: string;
  readonly grid: number | readonly number[];
  readonly threadgroup?: number | readonly number[];
  readonly constants?: NonNullable<KernelOptions['constants']>;
  readonly layouts?: NonNullable<KernelOptions['layouts']>;
  readonly arguments: { readonly [name: string]: KernelArgument | Written };
  /** A part of the message with which check mode refuses the kernel, if it rightly does. */
  readonly refusal?: string;
}

/** By file, which begins with the name of its source. */
export type Expectations = { readonly [file: string]: readonly Expectation[] };

/** Numbers that are the same on each run, in [-1, 1). */
export function numbers(length: number, seed = 1): number[] {
  let state = seed * 2654435761;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.fround((state >>> 8) / 2 ** 23 - 1);
  });
}

/** Whole numbers that are the same on each run, in [0, below). */
export function wholes(length: number, below: number, seed = 1): number[] {
  return numbers(length, seed).map((value) => Math.floor(((value + 1) / 2) * below));
}

export function range(length: number): number[] {
  return Array.from({ length }, (_, i) => i);
}

/** The rows of a matrix, each by a function. */
export function perRow(
  values: readonly number[],
  columns: number,
  apply: (row: readonly number[]) => readonly number[],
): number[] {
  const rows = range(values.length / columns);
  return rows.flatMap((row) => apply(values.slice(row * columns, (row + 1) * columns)));
}

export function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}

export function softmax(row: readonly number[]): number[] {
  const most = Math.max(...row);
  const each = row.map((value) => Math.exp(value - most));
  const total = sum(each);
  return each.map((value) => value / total);
}

/** The product of `a`, of rows by inner, and `b`, of inner by columns. */
export function product(a: readonly number[], b: readonly number[], rows: number, columns: number): number[] {
  const inner = a.length / rows;
  return range(rows).flatMap((i) =>
    range(columns).map((j) => sum(range(inner).map((k) => a[i * inner + k]! * b[k * columns + j]!))),
  );
}

/** A matrix with its rows as columns. */
export function transposed(values: readonly number[], rows: number): number[] {
  const columns = values.length / rows;
  return range(columns).flatMap((j) => range(rows).map((i) => values[i * columns + j]!));
}

type Reader = (view: DataView, at: number) => number;
type Writer = (view: DataView, at: number, value: number) => void;

/** How the elements of a type are stored: bytes of one, how it is read, and how it is written. */
const kinds: { readonly [type: string]: readonly [bytes: number, read: Reader, write: Writer] } = {
  float: [4, (view, at) => view.getFloat32(at, true), (view, at, value) => view.setFloat32(at, value, true)],
  uint: [4, (view, at) => view.getUint32(at, true), (view, at, value) => view.setUint32(at, value, true)],
  int: [4, (view, at) => view.getInt32(at, true), (view, at, value) => view.setInt32(at, value, true)],
  ushort: [2, (view, at) => view.getUint16(at, true), (view, at, value) => view.setUint16(at, value, true)],
  short: [2, (view, at) => view.getInt16(at, true), (view, at, value) => view.setInt16(at, value, true)],
  uchar: [1, (view, at) => view.getUint8(at), (view, at, value) => view.setUint8(at, value)],
  char: [1, (view, at) => view.getInt8(at), (view, at, value) => view.setInt8(at, value)],
  long: [
    8,
    (view, at) => Number(view.getBigInt64(at, true)),
    (view, at, value) => view.setBigInt64(at, BigInt(value), true),
  ],
  half: [
    2,
    (view, at) => halfOf(view.getUint16(at, true)),
    (view, at, value) => view.setUint16(at, toHalf(value), true),
  ],
  bfloat: [
    2,
    (view, at) => floatOf(view.getUint16(at, true) << 16),
    (view, at, value) => view.setUint16(at, toBfloat(value), true),
  ],
};

const scratch = new DataView(new ArrayBuffer(4));

function floatOf(bits: number): number {
  scratch.setInt32(0, bits);
  return scratch.getFloat32(0);
}

function bitsOf(value: number): number {
  scratch.setFloat32(0, value);
  return scratch.getUint32(0);
}

function halfOf(bits: number): number {
  const [sign, exponent, fraction] = [bits >> 15, (bits >> 10) & 31, bits & 1023];
  const size =
    exponent === 31
      ? fraction === 0
        ? Number.POSITIVE_INFINITY
        : Number.NaN
      : exponent === 0
        ? fraction * 2 ** -24
        : (1024 + fraction) * 2 ** (exponent - 25);
  return sign === 1 ? -size : size;
}

/** The bits of the nearest half to a number, ties to even. */
export function toHalf(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size >= 65520) return sign | 0x7c00;
  const exponent = Math.max(-14, Math.floor(Math.log2(size)));
  const step = 2 ** (exponent - 10);
  const whole = evenly(size / step);
  return sign | (whole < 1024 ? whole : whole + ((exponent + 14) << 10));
}

function evenly(value: number): number {
  const below = Math.floor(value);
  return value - below > 0.5 || (value - below === 0.5 && below % 2 === 1) ? below + 1 : below;
}

function toBfloat(value: number): number {
  const bits = bitsOf(value);
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) / 65536) & 0xffff;
}

/** The nearest halves to numbers. */
export function halves(values: readonly number[]): number[] {
  return values.map((value) => halfOf(toHalf(value)));
}

/** The nearest bfloats to numbers. */
export function bfloats(values: readonly number[]): number[] {
  return values.map((value) => floatOf(toBfloat(value) << 16));
}

/** The bytes of numbers as elements of a type. */
export function bytes(type: string, values: readonly number[]): Uint8Array {
  const [size, , write] = kinds[type]!;
  const all = new Uint8Array(size * values.length);
  const view = new DataView(all.buffer);
  values.forEach((value, i) => {
    write(view, i * size, value);
  });
  return all;
}

/** The numbers that bytes hold as elements of a type. */
export function read(type: string, all: Uint8Array): number[] {
  const [size, get] = kinds[type]!;
  const view = new DataView(all.buffer, all.byteOffset, all.byteLength);
  return range(all.byteLength / size).map((i) => get(view, i * size));
}

/** Numbers as a kernel takes elements of a type: a typed array if there is one, otherwise bytes. */
export function memory(type: string, values: readonly number[]): Float32Array | Int32Array | Uint32Array | Uint8Array {
  const all = bytes(type, values);
  if (type === 'float') return new Float32Array(all.buffer);
  if (type === 'int') return new Int32Array(all.buffer);
  return type === 'uint' ? new Uint32Array(all.buffer) : all;
}

/** Memory that a kernel writes, and what it must hold afterwards. */
export function writes(
  type: string,
  expected: readonly number[],
  tolerance?: number,
  before?: readonly number[],
): Written {
  return new Written(type, expected, tolerance, before);
}
