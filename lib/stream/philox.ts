/**
 * How many blocks of the normal stream are computed together: enough to keep a processor busy, few enough to stay in
 * its cache.
 */
export const blocksAtOnce = 256;

/**
 * Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011): writes the four 32-bit words of one block to `words` from index
 * `at`, as signed numbers. The counter is (c0, c1, c2, c3), the key (k0, k1), least significant word first; see
 * msl/philox.h.
 */
export function philox(
  c0: number,
  c1: number,
  c2: number,
  c3: number,
  k0: number,
  k1: number,
  words: Int32Array<ArrayBuffer>,
  at: number,
): void {
  for (let round = 0; round < 10; round++) {
    const high0 = multiplyHigh(c0, 0xd251, 0x1f53);
    const low0 = Math.imul(c0, 0xd2511f53);
    const high1 = multiplyHigh(c2, 0xcd9e, 0x8d57);
    const low1 = Math.imul(c2, 0xcd9e8d57);
    c0 = high1 ^ c1 ^ k0;
    c1 = low1;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 = (k0 + 0x9e3779b9) | 0;
    k1 = (k1 + 0xbb67ae85) | 0;
  }
  words[at] = c0;
  words[at + 1] = c1;
  words[at + 2] = c2;
  words[at + 3] = c3;
}

// The upper 32 bits of a product, from halves of 16 bits: no partial sum exceeds 32 bits.
function multiplyHigh(a: number, bHigh: number, bLow: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const middle = (Math.imul(aHigh, bLow) + (Math.imul(aLow, bLow) >>> 16)) | 0;
  const carry = ((middle & 0xffff) + Math.imul(aLow, bHigh)) | 0;
  return (Math.imul(aHigh, bHigh) + (middle >>> 16) + (carry >>> 16)) | 0;
}
