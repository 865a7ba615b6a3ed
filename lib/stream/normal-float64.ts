// The float64 map of the normal stream, version 1: objc/cpu/simd/normal-float64.h, bit for bit.

const logCoefficients = Float64Array.of(
  52.919975987900244,
  -223.00321660165906,
  446.24872651805384,
  -555.1714199022504,
  479.27636481120516,
  -302.93105640690493,
  145.16759915293537,
  -53.361198052722,
  15.521256867070043,
  -3.2822376871766084,
  0.7856005935862986,
  0.11810579870081103,
  0.2307240586972068,
  0.24933685548370782,
  0.28575212237323105,
  0.33333181358819974,
  0.4000000406274105,
  0.4999999993368222,
  0.6666666666723862,
  0.9999999999999805,
  2,
);

const sineCoefficients = Float64Array.of(
  -2.0225906185890113e-14,
  6.948154114367228e-12,
  -1.7572474204808876e-9,
  3.133616889192818e-7,
  -3.6576204182147085e-5,
  0.0024903945701927163,
  -0.08074551218828079,
  0.7853981633974483,
);

const cosineCoefficients = Float64Array.of(
  -3.8581890073416675e-13,
  1.1500512028217341e-10,
  -2.4611364033652597e-8,
  3.590860446027952e-6,
  -0.00032599188692673765,
  0.01585434424381542,
  -0.30842513753404244,
  1,
);

// g = offset + scale x: 1 - x / 2^(64 - k) for the lower half of the words (k = 0 to 64), x / 2^64 for the upper.
const upperHalf = 65;
const offsets = new Float64Array(66).fill(1, 0, upperHalf);
const scales = Float64Array.from(offsets, (_, k) => (k === upperHalf ? 2 ** -64 : -(2 ** (k - 64))));

const double = new Float64Array(1);
const halves = new Int32Array(double.buffer);
const low = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 0 : 1; // by the byte order of the platform
const high = 1 - low;

function horner(coefficients: Float64Array<ArrayBuffer>, x: number): number {
  let sum = coefficients[0]!;
  for (let i = 1; i < coefficients.length; i++) sum = sum * x + coefficients[i]!;
  return sum;
}

// sqrt(-2 ln u), u = (word + 1/2) / 2^64, of the 64-bit word high:low.
function radiusOf(highWord: number, lowWord: number): number {
  const upper = highWord >> 31;
  const x = (highWord ^ upper) * 2 ** 32 + ((lowWord ^ upper) >>> 0) + 0.5;
  double[0] = x;
  const k = (1086 - (halves[high]! >> 20)) & ~upper;
  const half = k | (upperHalf & upper);
  const g = offsets[half]! + scales[half]! * x;
  const y = k * 1.3862943611198906 + g * horner(logCoefficients, g);
  double[0] = y;
  halves[high] = 0x5fe6eb50 - (halves[high]! >> 1);
  halves[low] = 0;
  let s = double[0]!;
  const h = 0.5 * y;
  s *= 1.5 - h * s * s;
  s *= 1.5 - h * s * s;
  s *= 1.5 - h * s * s;
  s *= 1.5 - h * s * s;
  return y * s;
}

/** Maps the words of `blocks` Philox blocks to as many normals: two a block. */
export function mapToNormalsFloat64(words: Int32Array, blocks: number, out: Float64Array): void {
  for (let block = 0; block < blocks; block++) {
    const directionHigh = words[4 * block + 2]!;
    const directionLow = words[4 * block + 3]!;
    const angleHigh = (directionHigh << 2) | (directionLow >>> 30);
    const angleLow = ((directionLow << 2) | 2) >>> 0;
    const a = (angleHigh * 2 ** 32 + angleLow) * 2 ** -63;
    const b = a * a;
    const radius = radiusOf(words[4 * block]!, words[4 * block + 1]!) * ((directionHigh >> 31) | 1);
    const swapped = (directionHigh >>> 30) & 1;
    out[2 * block + swapped] = radius * horner(cosineCoefficients, b);
    out[2 * block + 1 - swapped] = radius * (a * horner(sineCoefficients, b));
  }
}
