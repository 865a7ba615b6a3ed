import type { Values } from '../../lib/index.ts';

/** A number of 16 bits with a sign, 5 bits of exponent and 10 of fraction. */
function halfOf(bits: number): number {
  const sign = bits >> 15 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** For each kind of component: the memory of its numbers, and the value that a kernel reads from one. */
export const kinds: { readonly [kind: string]: { readonly bits: Values; readonly read: (bits: number) => number } } = {
  '8unorm': { bits: Uint8Array.from({ length: 256 }, (_, i) => i), read: (b) => b / 255 },
  '8snorm': { bits: Uint8Array.from({ length: 256 }, (_, i) => i), read: (b) => Math.max(((b << 24) >> 24) / 127, -1) },
  '8uint': { bits: Uint8Array.from({ length: 256 }, (_, i) => i), read: (b) => b },
  '8sint': { bits: Uint8Array.from({ length: 256 }, (_, i) => i), read: (b) => (b << 24) >> 24 },
  '16unorm': { bits: halves(), read: (b) => b / 65535 },
  '16snorm': { bits: halves(), read: (b) => Math.max(((b << 16) >> 16) / 32767, -1) },
  '16uint': { bits: halves(), read: (b) => b },
  '16sint': { bits: halves(), read: (b) => (b << 16) >> 16 },
  '16float': { bits: halves(), read: halfOf },
  '32uint': { bits: Uint32Array.of(0, 1, 2 ** 31, 2 ** 32 - 1), read: (b) => b },
  '32sint': { bits: Int32Array.of(0, 1, -(2 ** 31), 2 ** 31 - 1), read: (b) => b },
  '32float': { bits: Float32Array.of(0, -1.5, 1e-38, 3e38), read: (b) => b },
};

/** All words of 16 bits except those of NaN, as bytes. */
function halves(): Uint8Array {
  const all = Array.from({ length: 65536 }, (_, i) => (Number.isNaN(halfOf(i)) ? 0 : i));
  return new Uint8Array(Uint16Array.from(all).buffer);
}
