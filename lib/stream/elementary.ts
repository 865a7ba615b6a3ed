// Logarithm and exponential from correctly rounded + - * / alone, so that every machine and every engine computes the
// same bits; the bits of Math.log and Math.exp depend on the engine.

// ln 2 in two parts; the upper has 33 bits, so that its multiples by an exponent are exact.
const log2High = 0.6931471803691238;
const log2Low = 1.9082149292705877e-10;
const root2 = Math.SQRT2;

const double = new Float64Array(1);
const halves = new Int32Array(double.buffer);
const high = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0; // by the byte order of the platform
const low = 1 - high;

/** ln x of a positive x that is not subnormal; relative error below 1e-15. */
export function logarithm(x: number): number {
  double[0] = x;
  let exponent = ((halves[high]! >>> 20) & 0x7ff) - 1023;
  halves[high] = (halves[high]! & 0x000fffff) | 0x3ff00000;
  let m = double[0]!;
  if (m > root2) {
    m *= 0.5;
    exponent++;
  }
  // ln m = 2 artanh(s); s^2 is below 0.0295.
  const f = m - 1;
  const s = f / (2 + f);
  const y = s * s;
  let sum = 1 / 23;
  for (let odd = 21; odd >= 3; odd -= 2) sum = sum * y + 1 / odd;
  // 2 s = f - s f, and f is exact.
  return exponent * log2High + (exponent * log2Low + (f - s * (f - 2 * y * sum)));
}

/** e^x; the largest number beyond 709, 0 below -708. Relative error below 1e-15 plus an ulp of x. */
export function exponential(x: number): number {
  if (x > 709) return Number.MAX_VALUE;
  if (x < -708) return 0;
  const k = Math.round(x / (log2High + log2Low));
  const r = x - k * log2High - k * log2Low;
  let sum = 1;
  for (let i = 15; i >= 1; i--) sum = 1 + (r * sum) / i;
  double[0] = 1;
  halves[high] = (k + 1023) << 20;
  halves[low] = 0;
  return sum * double[0]!;
}
