import type { Work } from '../reference/work.ts';
import { latticeVector } from './lattice-vector.ts';
import { randomRule } from './random-shifts.ts';

/** Independent random shifts of the lattice: their spread gives the error. */
export const lattices = 12;
const fewest = 7; // as a power of 2, of the points of one lattice
const mostPower = 20;
/** The fewest and the most points of an estimate. */
export const pointLimits: readonly [number, number] = [lattices << fewest, lattices << mostPower];

/** When an estimate is good enough. */
export interface Accuracy {
  readonly absoluteError: number;
  readonly relativeError: number;
  readonly maxPoints: number;
}

/** A mean over the unit cube. */
export interface Estimate {
  readonly mean: number;
  /** Three standard errors. */
  readonly error: number;
  readonly points: number;
}

/**
 * The mean of a function over the unit cube by randomly shifted lattice rules with the baker's transform (Hickernell 2002), whose points
 * are doubled until the error is within the asked accuracy or there would be more than maxPoints. Yields after each `pointsAtOnce`.
 */
export function* latticeMean(
  value: (u: Float64Array) => number,
  dimensions: number,
  seed: Uint32Array,
  { absoluteError, relativeError, maxPoints }: Accuracy,
  pointsAtOnce: number,
): Work<Estimate> {
  const rules = Array.from({ length: lattices }, (_, rule) => randomRule(seed, rule, latticeVector, dimensions));
  const sums = new Float64Array(lattices);
  const u = new Float64Array(dimensions);
  let done = 0;
  for (let power = fewest; ; power++) {
    const count = 2 ** power;
    // The points of the rule before this one are those with even numbers.
    const [begin, step] = power === fewest ? [0, 1] : [1, 2];
    for (const [rule, { shifts, generator }] of rules.entries()) {
      for (let k = begin; k < count; k += step) {
        for (let j = 0; j < dimensions; j++) {
          const x = (Math.imul(k, generator[j]!) & (count - 1)) / count + shifts[j]!;
          u[j] = Math.abs(2 * (x - Math.floor(x)) - 1);
        }
        sums[rule]! += value(u);
        if (++done % pointsAtOnce === 0) yield;
      }
    }
    const mean = sums.reduce((total, sum) => total + sum, 0) / done;
    const squares = sums.reduce((total, sum) => total + (sum / count - mean) ** 2, 0);
    const error = 3 * Math.sqrt(squares / (lattices * (lattices - 1)));
    const isGood = error <= Math.max(absoluteError, relativeError * mean);
    if (isGood || 2 * done > maxPoints || power === mostPower) return { mean, error, points: done };
  }
}
