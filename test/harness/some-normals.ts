// Normals for the tests of their methods, and tolerances for the results.
import { readFileSync } from 'node:fs';
import type { Device, RealDtype } from '../../lib/index.ts';
import fc from './properties.ts';

/** Answers to 60 digits, by test/answers/normal-questions.py. */
// biome-ignore lint/suspicious/noExplicitAny: answers are data of several shapes, each known to its test.
export const answers: any = JSON.parse(
  readFileSync(new URL('../answers/normal-questions.json', import.meta.url), 'utf8'),
);

/** A normal, the condition, and the conditional normal. */
export interface Conditional {
  readonly name: string;
  readonly mean: number[];
  readonly factor: number[][];
  readonly given: number[];
  readonly values: number[];
  readonly conditionalMean: number[];
  readonly covariance: number[];
  readonly factorOfCovariance: number[];
}

export const conditionals: readonly Conditional[] = answers.conditionals;

/** The rounding error of each type, relative to the result's scale. */
export const eps = (dtype: RealDtype): number => (dtype === 'float32' ? 2 ** -23 : 2 ** -52);

export const realDtypes = (device: Device): RealDtype[] => device.dtypes as RealDtype[];

export const identity = (n: number): number[][] =>
  Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => Number(i === j)));

interface SomeNormal {
  readonly mean: number[];
  readonly factor: number[][];
  readonly given: number[];
  readonly at: number[];
  readonly scales: number[];
}

const real = (limit: number) => fc.double({ min: -limit, max: limit, noNaN: true });
const arrays = (length: number, limit: number) => fc.array(real(limit), { minLength: length, maxLength: length });
/** Normals whose scales span 10^12, some of their coordinates, and a point within a few standard deviations. */
export const normals: fc.Arbitrary<SomeNormal> = fc
  .integer({ min: 2, max: 6 })
  .chain((n) =>
    fc.record({
      mean: arrays(n, 10),
      sizes: arrays(n, 6),
      below: arrays(n * n, 1),
      order: fc.shuffledSubarray(
        Array.from({ length: n }, (_, i) => i),
        { minLength: n, maxLength: n },
      ),
      count: fc.integer({ min: 1, max: n - 1 }),
      x: arrays(n, 3),
    }),
  )
  .map(({ mean, sizes, below, order, count, x }) => {
    const n = mean.length;
    const scales = sizes.map((size) => 10 ** size);
    const factor = scales.map((scale, i) =>
      scales.map((_, j) => scale * (i === j ? 1 : i > j ? below[i * n + j]! : 0)),
    );
    // A point within a few standard deviations.
    const centre = mean.map((value, i) => value * scales[i]!);
    const at = factor.map((row, i) => centre[i]! + row.reduce((sum, entry, j) => sum + entry * x[j]!, 0));
    return { mean: centre, factor, given: order.slice(0, count), at, scales };
  });
