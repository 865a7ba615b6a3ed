// The arithmetic of the contract in plain loops over float64, with the bound on what rounding may change: a sum of k
// products that is rounded after each step is off by at most about k eps times the sum of the products' absolute values
// (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1), in whatever order it is taken.
import * as assert from 'uvu/assert';
import type { Real } from '../../lib/dtype.ts';

/** A sum, and the sum of absolute values of its terms. */
export interface Sum {
  value: number;
  size: number;
}

/** The sum over k < length of left(k) right(k), plus `start`. */
export function dot(length: number, left: (k: number) => number, right: (k: number) => number, start = 0): Sum {
  const sum = { value: start, size: Math.abs(start) };
  for (let k = 0; k < length; k++) {
    const term = left(k) * right(k);
    sum.value += term;
    sum.size += Math.abs(term);
  }
  return sum;
}

/** The same for parts of two arrays, in a loop that takes a fifth of the time. */
export function dotOf(length: number, left: Real, leftAt: number, right: Real, rightAt: number, start = 0): Sum {
  let value = start;
  let size = Math.abs(start);
  for (let k = 0; k < length; k++) {
    const term = left[leftAt + k]! * right[rightAt + k]!;
    value += term;
    size += Math.abs(term);
  }
  return { value, size };
}

/** |w|^2 with factor w = d, or with w = factor d if `inverse`; `factor` begins with the d.length rows of a factor. */
export function whitenedSquare(factor: Real, d: Real, inverse: boolean): number {
  const n = d.length;
  const w = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < (inverse ? i + 1 : i); j++) w[i]! += factor[i * n + j]! * (inverse ? d[j]! : -w[j]!);
    if (!inverse) w[i] = (w[i]! + d[i]!) / factor[i * n + i]!;
  }
  return w.reduce((sum, value) => sum + value * value, 0);
}

/** The transpose of `rows` rows of `columns` numbers. */
export function transposeOf(values: Real, rows: number, columns: number): Float64Array {
  const transpose = new Float64Array(values.length);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) transpose[j * rows + i] = values[i * columns + j]!;
  return transpose;
}

/** Asserts that `actual` is `sum` within `terms` roundings of its terms. */
export function isNear(actual: number, sum: Sum, terms: number, eps: number, place: string | (() => string)): void {
  const bound = terms * eps * sum.size;
  if (Math.abs(actual - sum.value) <= bound) return;
  const named = typeof place === 'string' ? place : place();
  assert.unreachable(`${named} is (${actual}), not (${sum.value}) within (${bound})`);
}

/** Numbers from -1 to 1 that look random and are the same in every run (a linear congruential generator). */
export function scattered(length: number, seed: number): Float64Array<ArrayBuffer> {
  const values = new Float64Array(length);
  let state = (seed * 2654435761 + 12345) >>> 0;
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    values[at] = state / 2 ** 31 - 1;
  }
  return values;
}

/** A well-conditioned lower factor: 1 to 2 on the diagonal, less than 1 / n below it, `above` over it. */
export function lowerFactor(n: number, seed: number, above = 0): Float64Array<ArrayBuffer> {
  const factor = scattered(n * n, seed);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++) factor[i * n + j]! /= n;
    factor[i * n + i] = 1.5 + factor[i * n + i]! / 2;
    factor.fill(above, i * n + i + 1, i * n + n);
  }
  return factor;
}

/**
 * `values` between two margins filled with a number that no command computes; `isIntact` fails if a command wrote
 * there.
 */
export function guarded(values: Real): { readonly view: Real; isIntact(what: string): void } {
  const margin = 64;
  const mark = -12345;
  const Values = values instanceof Float32Array ? Float32Array : Float64Array;
  const whole = new Values(values.length + 2 * margin).fill(mark);
  whole.set(values, margin);
  const view = whole.subarray(margin, margin + values.length);
  const outside = [whole.subarray(0, margin), whole.subarray(margin + values.length)];
  return {
    view,
    isIntact: (what) =>
      assert.ok(
        outside.every((side) => side.every((value) => value === mark)),
        `${what} overflows`,
      ),
  };
}

/** The words of a counter: seed, stream, first, all below 2^53. */
export function counterOf(seed: number, stream: number, first: number): Uint32Array {
  return Uint32Array.from([seed, stream, first].flatMap((value) => [value % 2 ** 32, Math.floor(value / 2 ** 32)]));
}

/** Asserts that two arrays have the same bytes: NaN equals itself, 0 differs from -0. */
export function hasSameBytes(actual: Real, expected: Real, what: string): void {
  const [a, b] = [actual, expected].map((values) => Buffer.from(values.buffer, values.byteOffset, values.byteLength));
  assert.ok(a!.equals(b!), `${what}: bytes differ`);
}
