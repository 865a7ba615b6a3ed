/** A rotation in the plane of two coordinates. */
interface Rotation {
  readonly cosine: number;
  readonly sine: number;
  readonly tangent: number;
}

/**
 * The smaller of the two rotations that make [a, c; c, b] diagonal (Golub and Van Loan: Matrix Computations, 4th ed.,
 * 8.5.2); `off` is c, which must not be 0, and `difference` is b - a.
 */
export function jacobiRotation(difference: number, off: number): Rotation {
  const slope = difference / (2 * off);
  const tangent = (slope < 0 ? -1 : 1) / (Math.abs(slope) + Math.hypot(1, slope));
  const cosine = 1 / Math.sqrt(1 + tangent * tangent);
  return { cosine, sine: tangent * cosine, tangent };
}

/** Turns rows p and q, of `length` numbers each, in place. */
export function turnRows(rows: Float64Array, length: number, p: number, q: number, { cosine, sine }: Rotation): void {
  const [first, second] = [rows.subarray(p * length, (p + 1) * length), rows.subarray(q * length, (q + 1) * length)];
  for (let k = 0; k < length; k++) {
    const [x, y] = [first[k]!, second[k]!];
    first[k] = cosine * x - sine * y;
    second[k] = sine * x + cosine * y;
  }
}
