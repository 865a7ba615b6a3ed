// Matrices of minute or huge numbers are decomposed in a unit of their own, a power of two, which rounds nothing.
import type { Storage } from '../array/storage.ts';
import { areFinite } from '../check.ts';
import { dtypeOf, type Real, type RealDtype } from '../dtype.ts';
import { inRows, type Work } from '../work.ts';
import type { Place } from './place.ts';

// Exponents of 2. Between 2^-mild and 2^mild squares neither overflow nor underflow; 2^most and 2^-most are numbers of
// the type; from 2^least on a number and a unit roundoff of it are not subnormal.
const exponents = {
  float32: { mild: 60, most: 120, least: -102 },
  float64: { mild: 500, most: 1000, least: -969 },
} as const;

/**
 * The exponent of a unit in which the largest number is about 1: 0 where some number is an ordinary one, as mostly the
 * first is, for huge ones beside which others would underflow, and for those that are not finite.
 */
function exponentOf(values: Real): number {
  const { mild } = exponents[dtypeOf(values) as RealDtype];
  const [from, to] = [2 ** -mild, 2 ** mild];
  for (let at = 0; at < values.length; at++) {
    const size = Math.abs(values[at]!);
    if (size >= from && size <= to) return 0;
  }
  return exponentOfLargest(values);
}

// Like exponentOf, where some number is an ordinary one too.
function exponentOfLargest(values: Real): number {
  const { most, least } = exponents[dtypeOf(values) as RealDtype];
  let largest = 0;
  for (let at = 0; at < values.length; at++) largest = Math.max(largest, Math.abs(values[at]!));
  const exponent = Math.floor(Math.log2(largest));
  if (!Number.isFinite(exponent)) return 0;
  if (exponent < 0) return Math.max(exponent, -most);
  let smallest = largest;
  for (const value of values) if (value !== 0) smallest = Math.min(smallest, Math.abs(value));
  return Math.max(0, Math.min(exponent, most, Math.floor(Math.log2(smallest)) - least));
}

/** Numbers divided by 2^exponent: the same ones if the exponent is 0. */
export function inUnit(values: () => Real): { readonly values: () => Real; readonly exponent: number } {
  const given = values();
  const exponent = exponentOf(given);
  if (exponent === 0) return { values, exponent };
  const scaled = given.slice();
  multiply(scaled, -exponent);
  return { values: () => scaled, exponent };
}

/** The place of a matrix, divided by 2^unit. */
export function placeInUnit(place: Place): { readonly place: Place; readonly unit: number } {
  const { values, exponent } = inUnit(place.values);
  return { place: exponent === 0 ? place : { ...place, values }, unit: exponent };
}

/**
 * The rows of A (n x n) and of b, each divided by a power of two that makes its largest entry of A about 1: A x = b has
 * the same solution. Undefined if a number of b overflows: then the solution does, or some row of A times it.
 */
export function* rowsInUnits(
  a: Real,
  b: Real,
  n: number,
): Work<{ readonly rows: Real; readonly right: Real } | undefined> {
  const [rows, right] = [a.slice(), b.slice()];
  const columns = b.length / n;
  let isHeld = true;
  yield* inRows(n, n + columns, (from, to) => {
    for (let i = from; i < to; i++) {
      const row = rows.subarray(i * n, (i + 1) * n);
      const exponent = exponentOfLargest(row);
      const beside = right.subarray(i * columns, (i + 1) * columns);
      multiply(row, -exponent);
      multiply(beside, -exponent);
      isHeld &&= areFinite(beside, 0, columns);
    }
  });
  return isHeld ? { rows, right } : undefined;
}

/** Multiplies a result by 2^exponent. The host does so, because a device may take subnormal numbers for 0. */
export function timesPower(storage: Storage, exponent: number): void {
  if (exponent !== 0) multiply(storage.values as Real, exponent);
}

// In two steps, because 2^exponent may be beyond the type.
function multiply(values: Real, exponent: number): void {
  const half = Math.trunc(exponent / 2);
  const [one, other] = [2 ** half, 2 ** (exponent - half)];
  for (let at = 0; at < values.length; at++) values[at] = values[at]! * one * other;
}
