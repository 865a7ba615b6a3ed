import { normalCounter } from '../lib/normal-counter.ts';
import { fillNormalRange } from '../lib/reference/normal-stream.ts';
import type { Problem } from './contender.ts';
import { correlation, type InputName } from './inputs.ts';

type Numbers = ArrayLike<number>;

/** What a result must be, by loops of its own in float64 that no contender has a part in. */
export interface Definition {
  /** What is looked at of a result: the rows that there is time for, a projection of a product, or all of it. */
  readonly seen: (result: Numbers) => Numbers;
  readonly right: () => Numbers;
}

// Numbers of a result that are looked at; more would take longer than the case.
const mostSeen = 1 << 22;

/** Rows, evenly spread, of `count` rows of n numbers: all that are not too many, the first and the last always. */
function rowsSeen(count: number, n: number): number[] {
  const seen = Math.min(count, Math.max(2, Math.floor(mostSeen / n)));
  return Array.from({ length: seen }, (_, i) => Math.round((i * (count - 1)) / Math.max(1, seen - 1)));
}

/** The rows that are looked at, each filled by `fill`. */
function byRows(count: number, n: number, fill: (row: Float64Array, index: number) => void): Definition {
  const rows = rowsSeen(count, n);
  return {
    seen: (result) => {
      if (result.length !== count * n || rows.length === count) return result;
      return Float64Array.from({ length: rows.length * n }, (_, i) => result[rows[Math.floor(i / n)]! * n + (i % n)]!);
    },
    right: () => {
      const right = new Float64Array(rows.length * n);
      for (const [i, index] of rows.entries()) fill(right.subarray(i * n, (i + 1) * n), index);
      return right;
    },
  };
}

/**
 * The lower Cholesky factor of the inputs' covariance, without factoring: that is the covariance of an autoregressive process of variance 1/2
 * under noise of variance 1/2, whose Kalman filter gives entry (i, j) as correlation^(i - j) gain_j below the diagonal, and scale_j on it.
 */
function filter(n: number): { readonly scale: Float64Array; readonly gain: Float64Array } {
  const [scale, gain] = [new Float64Array(n), new Float64Array(n)];
  let predicted = 0.5;
  for (let j = 0; j < n; ++j) {
    scale[j] = Math.sqrt(predicted + 0.5);
    gain[j] = predicted / scale[j]!;
    predicted = correlation ** 2 * (predicted - gain[j]! ** 2) + 0.5 * (1 - correlation ** 2);
  }
  return { scale, gain };
}

/** 1 + L z with the lower matrix L that `scale` and `gain` are of, in place of z. */
function drawOf(z: Float64Array, { scale, gain }: ReturnType<typeof filter>): void {
  let state = 0;
  for (let i = 0; i < z.length; ++i) {
    const normal = z[i]!;
    z[i] = 1 + state + scale[i]! * normal;
    state = correlation * (state + gain[i]! * normal);
  }
}

/** Row `index` of the normals that every suite draws with seed 42. */
function normalsInto(row: Float64Array, index: number): void {
  const normals = new Float32Array(row.length);
  fillNormalRange(normals, 0, row.length, normalCounter(42, 0, index * row.length));
  row.set(normals);
}

function dot(a: Numbers, begin: number, b: Numbers): number {
  let sum = 0;
  for (let i = 0; i < b.length; ++i) sum += a[begin + i]! * b[i]!;
  return sum;
}

function times(matrix: Numbers, vector: Numbers): Float64Array {
  const n = vector.length;
  return Float64Array.from({ length: n }, (_, row) => dot(matrix, row * n, vector));
}

const whole = (right: () => Numbers): Definition => ({ seen: (result) => result, right });

interface Asked extends Problem {
  readonly input: (name: InputName | 'from') => Float32Array;
}

const definitions: Readonly<Record<string, (problem: Asked, n: number) => Definition>> = {
  'transform-normal': ({ input }, n) =>
    byRows(1, n, (row) => {
      row.set(input('z'));
      drawOf(row, filter(n));
    }),
  'transform-normal-factored': ({ input }, n) => {
    // The factor of the process without noise.
    const scale = new Float64Array(n).fill(Math.sqrt(1 - correlation ** 2));
    scale[0] = 1;
    return byRows(1, n, (row) => {
      row.set(input('z'));
      drawOf(row, { scale, gain: scale });
    });
  },
  'matrix-product': ({ input }, n) => {
    const signs = Float64Array.from({ length: n }, (_, i) => ((Math.imul(i + 1, 2654435761) >>> 16) & 1 ? 1 : -1));
    const isMatrix = (result: Numbers) => result.length === n * n;
    return {
      seen: (result) => (isMatrix(result) ? times(result, signs) : result),
      right: () => times(input('a'), times(input('b'), signs)),
    };
  },
  'matrix-vector': ({ input }) => whole(() => times(input('a'), input('z'))),
  sampling: ({ count }, n) => {
    const factor = filter(n);
    return byRows(count!, n, (row, index) => {
      normalsInto(row, index);
      drawOf(row, factor);
    });
  },
  normals: ({ count }, n) => byRows(count!, n, normalsInto),
  cholesky: (_, n) => {
    const { scale, gain } = filter(n);
    return byRows(n, n, (row, i) => {
      for (let j = 0; j <= i; ++j) row[j] = j === i ? scale[i]! : correlation ** (i - j) * gain[j]!;
    });
  },
  transfer: ({ input }) => whole(() => input('a')),
  launch: ({ input }) => whole(() => input('from')),
  call: () => {
    const z = new Float64Array(2);
    normalsInto(z, 0);
    return whole(() => [z[0]!, 0.5 * z[0]! + Math.sqrt(0.75) * z[1]!]);
  },
};

export function definitionOf(problem: Problem): Definition | undefined {
  const input = (name: string) => problem.inputs()[name]!;
  return definitions[problem.suite]?.({ ...problem, input }, problem.dimension ?? 1);
}
