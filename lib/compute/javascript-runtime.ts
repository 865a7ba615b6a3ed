import { CovariumError } from '../covarium-error.ts';
import { i32, u32 } from './descriptor.ts';

// What printed JavaScript calls, so that it computes what the printed Metal does.

const halves = new Uint32Array(2);
const double = new Float64Array(halves.buffer);
// The low half of a number's 64 bits.
const [low] = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? [0] : [1];

/**
 * a b + c of float32, rounded once. The product is exact in float64. The sum is made odd where it is not exact (Boldo
 * and Melquiond, 2008): then its rounding to float32 is that of the exact sum.
 */
function fma(a: number, b: number, c: number): number {
  const product = a * b;
  const sum = product + c;
  const part = sum - product;
  const rest = product - (sum - part) + (c - part);
  double[0] = sum;
  if (rest !== 0 && Number.isFinite(rest) && (halves[low!]! & 1) === 0) {
    const isLarger = rest > 0 === sum > 0;
    if (isLarger) halves[low!]! |= 1;
    else {
      // The next number towards 0 is odd.
      const high = 1 - low!;
      if (halves[low!] === 0) halves[high]! -= 1;
      halves[low!]! -= 1;
    }
  }
  return Math.fround(double[0]!);
}

type Counters = Int32Array | Uint32Array;

function changing(change: (before: number, value: number) => number): unknown {
  return (numbers: Counters, index: number, value: number): number => {
    const before = numbers[index]!;
    numbers[index] = change(before, value);
    return before;
  };
}

/** What printed JavaScript takes by name. */
export const runtime: { readonly [name: string]: unknown } = {
  fma,
  toInt: (value: number): number => i32(value),
  toUint: (value: number): number => u32(value),
  inside(numbers: ArrayLike<number>, index: number, name: string, path: string, line: number): number {
    if (index >= 0 && index < numbers.length) return index;
    throw new CovariumError(
      'ERR_KERNEL_CHECK',
      `A thread uses element (${index}) of array (${name}), which has (${numbers.length}), at (${path}:${line}).`,
      { path, line },
    );
  },
  atomicAdd: changing((before, value) => before + value),
  atomicSub: changing((before, value) => before - value),
  atomicMin: changing(Math.min),
  atomicMax: changing(Math.max),
  atomicAnd: changing((before, value) => before & value),
  atomicOr: changing((before, value) => before | value),
  atomicXor: changing((before, value) => before ^ value),
  atomicExchange: changing((_, value) => value),
};
