// The float32 map of the normal stream, version 1: msl/normal.h, bit for bit. That text explains the mathematics.
//
// A float32 operation is Math.fround of the double one; a store to a Float32Array rounds likewise. For fma that rounds
// twice, and twice is not once where the double sum falls, rounded, on the midpoint of two floats. Over all 2^32 words
// of the radius and all angles of the direction this never happens, at any fma (checked against the processor's fma; to
// be checked again if a coefficient or the order of operations changes). So the naive form below is the exact one.
//
// Each operation waits for the one before it, so many words go through a few operations at a time: half the time of one
// word after the other. No branches on random bits: half of them would be mispredicted.

import { blocksAtOnce } from './philox.ts';

const fround = Math.fround;

const p0 = fround(2.82857633);
const p1 = fround(-3.27808809);
const p2 = fround(2.41648769);
const p3 = fround(-0.361477733);
const p4 = fround(0.52727288);
const p5 = fround(0.487380624);
const p6 = fround(0.66726315);
const p7 = fround(0.999990463);
const twoLn2 = fround(1.38629436);

const q0 = fround(0.375716567);
const q1 = fround(-1.25257087);
const q2 = fround(1.8768543);

const s0 = fround(-3.66091517e-5);
const s1 = fround(0.00249101641);
const s2 = fround(-0.0807458311);
const s3 = fround(0.785398185);

const c0 = fround(-0.000318977021);
const c1 = fround(0.0158501491);
const c2 = fround(-0.308424413);

// g = offset + scale x, exactly: 1 - x / 2^(32 - k) for the lower half of the words (k = 0 to 32), x / 2^32 for the
// upper.
const upperHalf = 33;
const offsets = new Float64Array(34).fill(1, 0, upperHalf);
const scales = Float64Array.from(offsets, (_, k) => (k === upperHalf ? 2 ** -32 : -(2 ** (k - 32))));

const radii = new Float32Array(2 * blocksAtOnce); // y, then its square root
const radiiBits = new Int32Array(radii.buffer);
const guesses = new Float32Array(2 * blocksAtOnce);
const guessesBits = new Int32Array(guesses.buffer);
const gs = new Float32Array(2 * blocksAtOnce);
const ks = new Float32Array(2 * blocksAtOnce);
const ps = new Float32Array(2 * blocksAtOnce);

/** Maps the words of `blocks` Philox blocks, at most {@link blocksAtOnce}, to normals: four for each block. */
export function mapToNormals(words: Int32Array, blocks: number, out: Float32Array): void {
  squaredRadii(words, 2 * blocks);
  squareRoots(2 * blocks);
  directions(words, 2 * blocks, out);
}

// -2 ln u, u = (word + 1/2) / 2^32, of the words with even index.
function squaredRadii(words: Int32Array, count: number): void {
  for (let i = 0; i < count; i++) {
    const word = words[2 * i]!;
    const upper = word >> 31;
    const x = fround((word ^ upper) + 0.5);
    const zeros = Math.clz32(x);
    const half = (zeros & ~upper) | (upperHalf & upper);
    const g = offsets[half]! + scales[half]! * x;
    gs[i] = g;
    ks[i] = zeros & ~upper;
    ps[i] = fround(fround(p0 * g + p1) * g + p2) * g + p3;
  }
  for (let i = 0; i < count; i++) {
    const g = gs[i]!;
    ps[i] = fround(fround(ps[i]! * g + p4) * g + p5) * g + p6;
  }
  for (let i = 0; i < count; i++) {
    const g = gs[i]!;
    const p = fround(fround(ps[i]! * g + p7) * g + 2);
    radii[i] = ks[i]! * twoLn2 + fround(g * p);
  }
}

function squareRoots(count: number): void {
  for (let i = 0; i < count; i++) guessesBits[i] = 0x5f3759df - (radiiBits[i]! >> 1);
  for (let i = 0; i < count; i++) {
    const y = radii[i]!;
    const s = guesses[i]!;
    const h = fround(y * s);
    const t = fround(h * s);
    const q = fround(fround(q0 * t + q1) * t + q2);
    const r = fround(h * q);
    radii[i] = fround(y - r * r) * fround(0.5 * fround(s * q)) + r;
  }
}

// Points on the unit circle from the words with odd index, times the radii.
function directions(words: Int32Array, count: number, out: Float32Array): void {
  for (let i = 0; i < count; i++) {
    const word = words[2 * i + 1]!;
    const a = (((word << 2) >> 7) | 1) * 2 ** -24;
    const b = fround(a * a);
    const s = fround(a * fround(fround(fround(s0 * b + s1) * b + s2) * b + s3));
    const c = fround(fround(fround(c0 * b + c1) * b + c2) * b + 1);
    const radius = radii[i]! * ((word >> 31) | 1);
    const swapped = (word >>> 30) & 1;
    out[2 * i + swapped] = radius * c;
    out[2 * i + 1 - swapped] = radius * s;
  }
}
