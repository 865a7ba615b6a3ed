/** Side of a tile: rows and columns that are computed together. All matrix work of this device goes through tiles. */
export const tileSide = 4;

/** `n` rounded up to whole tiles. */
export function inTiles(n: number): number {
  return Math.ceil(n / tileSide) * tileSide;
}

/**
 * The dot products of four rows of `a` with four rows of `b`, over `length` numbers each: sums[4 i + j] = a_i . b_j.
 * Row i starts at aStart + i aStride. Sixteen products for eight reads; float64 alone, so that V8 compiles this loop
 * for one type.
 */
export function dotTile(
  a: Float64Array<ArrayBuffer>,
  aStart: number,
  aStride: number,
  b: Float64Array<ArrayBuffer>,
  bStart: number,
  bStride: number,
  length: number,
  sums: Float64Array<ArrayBuffer>,
): void {
  const aStart1 = aStart + aStride;
  const aStart2 = aStart1 + aStride;
  const aStart3 = aStart2 + aStride;
  const bStart1 = bStart + bStride;
  const bStart2 = bStart1 + bStride;
  const bStart3 = bStart2 + bStride;
  let s00 = 0;
  let s01 = 0;
  let s02 = 0;
  let s03 = 0;
  let s10 = 0;
  let s11 = 0;
  let s12 = 0;
  let s13 = 0;
  let s20 = 0;
  let s21 = 0;
  let s22 = 0;
  let s23 = 0;
  let s30 = 0;
  let s31 = 0;
  let s32 = 0;
  let s33 = 0;
  for (let k = 0; k < length; k++) {
    const a0 = a[aStart + k]!;
    const a1 = a[aStart1 + k]!;
    const a2 = a[aStart2 + k]!;
    const a3 = a[aStart3 + k]!;
    const b0 = b[bStart + k]!;
    const b1 = b[bStart1 + k]!;
    const b2 = b[bStart2 + k]!;
    const b3 = b[bStart3 + k]!;
    s00 += a0 * b0;
    s01 += a0 * b1;
    s02 += a0 * b2;
    s03 += a0 * b3;
    s10 += a1 * b0;
    s11 += a1 * b1;
    s12 += a1 * b2;
    s13 += a1 * b3;
    s20 += a2 * b0;
    s21 += a2 * b1;
    s22 += a2 * b2;
    s23 += a2 * b3;
    s30 += a3 * b0;
    s31 += a3 * b1;
    s32 += a3 * b2;
    s33 += a3 * b3;
  }
  sums[0] = s00;
  sums[1] = s01;
  sums[2] = s02;
  sums[3] = s03;
  sums[4] = s10;
  sums[5] = s11;
  sums[6] = s12;
  sums[7] = s13;
  sums[8] = s20;
  sums[9] = s21;
  sums[10] = s22;
  sums[11] = s23;
  sums[12] = s30;
  sums[13] = s31;
  sums[14] = s32;
  sums[15] = s33;
}
