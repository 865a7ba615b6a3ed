// The float64 map of the normal stream, version 1: msl/normal-float64.h, bit for bit. That text explains the
// mathematics. Each operation waits for the one before it, so many blocks go through a few operations at a time, as in
// normal.ts.

import { blocksAtOnce } from './philox.ts';

const p0 = 52.919975987900244;
const p1 = -223.00321660165906;
const p2 = 446.24872651805384;
const p3 = -555.1714199022504;
const p4 = 479.27636481120516;
const p5 = -302.93105640690493;
const p6 = 145.16759915293537;
const p7 = -53.361198052722;
const p8 = 15.521256867070043;
const p9 = -3.2822376871766084;
const p10 = 0.7856005935862986;
const p11 = 0.11810579870081103;
const p12 = 0.2307240586972068;
const p13 = 0.24933685548370782;
const p14 = 0.28575212237323105;
const p15 = 0.33333181358819974;
const p16 = 0.4000000406274105;
const p17 = 0.4999999993368222;
const p18 = 0.6666666666723862;
const p19 = 0.9999999999999805;
const p20 = 2;

const s0 = -2.0225906185890113e-14;
const s1 = 6.948154114367228e-12;
const s2 = -1.7572474204808876e-9;
const s3 = 3.133616889192818e-7;
const s4 = -3.6576204182147085e-5;
const s5 = 0.0024903945701927163;
const s6 = -0.08074551218828079;
const s7 = 0.7853981633974483;

const c0 = -3.8581890073416675e-13;
const c1 = 1.1500512028217341e-10;
const c2 = -2.4611364033652597e-8;
const c3 = 3.590860446027952e-6;
const c4 = -0.00032599188692673765;
const c5 = 0.01585434424381542;
const c6 = -0.30842513753404244;

// g = offset + scale x: 1 - x / 2^(64 - k) for the lower half of the words (k = 0 to 64), x / 2^64 for the upper.
const upperHalf = 65;
const offsets = new Float64Array(66).fill(1, 0, upperHalf);
const scales = Float64Array.from(offsets, (_, k) => (k === upperHalf ? 2 ** -64 : -(2 ** (k - 64))));

const radii = new Float64Array(blocksAtOnce); // x, then y, then its square root
const radiiWords = new Int32Array(radii.buffer);
const guesses = new Float64Array(blocksAtOnce);
const guessesWords = new Int32Array(guesses.buffer);
const gs = new Float64Array(blocksAtOnce);
const ks = new Float64Array(blocksAtOnce);
const sums = new Float64Array(blocksAtOnce);
const high = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0; // by the byte order of the platform

/** Maps the words of `blocks` Philox blocks, at most {@link blocksAtOnce}, to normals: two for each block. */
export function mapToNormalsFloat64(words: Int32Array, blocks: number, out: Float64Array): void {
  squaredRadii(words, blocks);
  squareRoots(blocks);
  directions(words, blocks, out);
}

// -2 ln u, u = (word + 1/2) / 2^64, of the 64-bit words of index 0 and 1 (the upper half first).
function squaredRadii(words: Int32Array, count: number): void {
  for (let i = 0; i < count; i++) {
    const word = words[4 * i]!;
    const upper = word >> 31;
    radii[i] = (word ^ upper) * 2 ** 32 + ((words[4 * i + 1]! ^ upper) >>> 0) + 0.5;
  }
  for (let i = 0; i < count; i++) {
    const upper = words[4 * i]! >> 31;
    const k = (1086 - (radiiWords[2 * i + high]! >> 20)) & ~upper;
    const half = k | (upperHalf & upper);
    const g = offsets[half]! + scales[half]! * radii[i]!;
    gs[i] = g;
    ks[i] = k;
    sums[i] = (((p0 * g + p1) * g + p2) * g + p3) * g + p4;
  }
  for (let i = 0; i < count; i++) {
    const g = gs[i]!;
    sums[i] = (((sums[i]! * g + p5) * g + p6) * g + p7) * g + p8;
  }
  for (let i = 0; i < count; i++) {
    const g = gs[i]!;
    sums[i] = (((sums[i]! * g + p9) * g + p10) * g + p11) * g + p12;
  }
  for (let i = 0; i < count; i++) {
    const g = gs[i]!;
    sums[i] = (((sums[i]! * g + p13) * g + p14) * g + p15) * g + p16;
  }
  for (let i = 0; i < count; i++) {
    const g = gs[i]!;
    radii[i] = ks[i]! * 1.3862943611198906 + g * ((((sums[i]! * g + p17) * g + p18) * g + p19) * g + p20);
  }
}

// The low words of the guesses are 0.
function squareRoots(count: number): void {
  for (let i = 0; i < count; i++) guessesWords[2 * i + high] = 0x5fe6eb50 - (radiiWords[2 * i + high]! >> 1);
  for (let i = 0; i < count; i++) {
    const s = guesses[i]!;
    const h = 0.5 * radii[i]!;
    const t = s * (1.5 - h * s * s);
    sums[i] = t * (1.5 - h * t * t);
  }
  for (let i = 0; i < count; i++) {
    const s = sums[i]!;
    const h = 0.5 * radii[i]!;
    const t = s * (1.5 - h * s * s);
    radii[i] = radii[i]! * (t * (1.5 - h * t * t));
  }
}

// Points on the unit circle from the 64-bit words of index 2 and 3, times the radii.
function directions(words: Int32Array, count: number, out: Float64Array): void {
  for (let i = 0; i < count; i++) {
    const word = words[4 * i + 2]!;
    const lowWord = words[4 * i + 3]!;
    const a = (((word << 2) | (lowWord >>> 30)) * 2 ** 32 + (((lowWord << 2) | 2) >>> 0)) * 2 ** -63;
    const b = a * a;
    const s = a * (((((((s0 * b + s1) * b + s2) * b + s3) * b + s4) * b + s5) * b + s6) * b + s7);
    const c = ((((((c0 * b + c1) * b + c2) * b + c3) * b + c4) * b + c5) * b + c6) * b + 1;
    const radius = radii[i]! * ((word >> 31) | 1);
    const swapped = (word >>> 30) & 1;
    out[2 * i + swapped] = radius * c;
    out[2 * i + 1 - swapped] = radius * s;
  }
}
