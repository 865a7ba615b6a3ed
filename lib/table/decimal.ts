const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** True if a text is a decimal number, like a field of a CSV file. */
export function isDecimal(text: string): boolean {
  return decimal.test(text);
}

/** The most bytes that a number takes: sign, 17 digits, point, exponent. */
export const maximumDecimalBytes = 25;

// The powers 10^0 to 10^22 are exact.
const powers = Float64Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));

/**
 * Writes the shortest decimal that reads back as the float32 `value`, the nearest if there are several, and returns the
 * place after it.
 */
export function writeFloat32(value: number, bytes: Uint8Array, at: number): number {
  const size = Math.abs(value);
  if (size === 0) return writeText(textOf(value), bytes, at);
  if (!(size >= 1e-5 && size < 1e7) || isPowerOfTwo(size)) return writeText(float32Text(value), bytes, at);
  let places = 5;
  if (size >= 1) for (let power = 1; size >= powers[power]! && places > 0; power++) places--;
  else for (let power = 1; size * powers[power]! < 1; power++) places++;
  if (size < 1) places++;
  let digits = Math.round(size * powers[places]!);
  // Every float32 reads back from its nearest nine digits, and every decimal of six digits is a float32 of its own, so
  // the search begins at six digits; shorter decimals are six digits with trailing zeros removed. `digits` and the
  // power are exact, so their quotient is the decimal rounded once, as a reader rounds it.
  while (Math.fround(digits / powers[places]!) !== size) digits = Math.round(size * powers[++places]!);
  if (digits - size * powers[places]! === 0.5) return writeText(float32Text(value), bytes, at);
  while (places > 0 && digits % 10 === 0) {
    digits /= 10;
    places--;
  }
  let next = at;
  if (value < 0) bytes[next++] = 0x2d;
  const whole = Math.floor(digits / powers[places]!) | 0;
  next = writeDigits(whole, whole < 10 ? 1 : widthOf(whole), bytes, next);
  if (places === 0) return next;
  bytes[next++] = 0x2e;
  return writeDigits((digits - whole * powers[places]!) | 0, places, bytes, next);
}

/** Writes the shortest decimal that reads back as the float64 `value`, and returns the place after it. */
export function writeFloat64(value: number, bytes: Uint8Array, at: number): number {
  return writeText(textOf(value), bytes, at);
}

// String() leaves out the sign of a negative zero.
function textOf(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

// Slow but exact. A number in the middle of two decimals becomes the even one, as in std::to_chars. Below a power of
// two, floats lie twice as close as above it; there the nearest decimal may read back as a neighbour, and the next one
// is taken.
function float32Text(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  for (let places = 0; ; places++) {
    const [mantissa, exponent] = size.toExponential(places).split('e') as [string, string];
    const decimal = (digits: number) => Number(`${digits}e${Number(exponent) - places}`);
    const isRead = (digits: number) => Math.fround(decimal(digits)) === size;
    const nearest = Number(mantissa.replace('.', ''));
    const isTied = nearest % 2 === 1 && isMiddle(size, places);
    const digits = [isTied ? nearest - 1 : nearest, nearest, isPowerOfTwo(size) ? nearest + 1 : nearest].find(isRead);
    if (digits !== undefined) return String(value < 0 ? -decimal(digits) : decimal(digits));
  }
}

// True if all digits after `places` are 5000...
function isMiddle(size: number, places: number): boolean {
  const [mantissa] = size.toExponential(100).split('e') as [string];
  return /^50*$/.test(mantissa.slice(2 + places));
}

const single = new Float32Array(1);
const word = new Uint32Array(single.buffer);

function isPowerOfTwo(size: number): boolean {
  single[0] = size;
  return (word[0]! & 0x7fffff) === 0;
}

function writeText(text: string, bytes: Uint8Array, at: number): number {
  for (let index = 0; index < text.length; index++) bytes[at + index] = text.charCodeAt(index);
  return at + text.length;
}

function writeDigits(value: number, width: number, bytes: Uint8Array, at: number): number {
  let rest = value;
  for (let place = at + width - 1; place >= at; place--) {
    const quotient = (rest / 10) | 0;
    bytes[place] = 0x30 + rest - quotient * 10;
    rest = quotient;
  }
  return at + width;
}

function widthOf(whole: number): number {
  let width = 1;
  while (whole >= powers[width]!) width++;
  return width;
}
