import type { Real, RealDtype } from '../lib/dtype.ts';
import { zerosOf } from '../lib/dtype.ts';
import { normalCounter } from '../lib/stream/counter.ts';
import { fillNormalRange } from '../lib/stream/fill-normal.ts';
import type { Problem } from './contender.ts';
import { correlation, type InputName, processCorrelation } from './inputs.ts';

type Numbers = ArrayLike<number>;

/** The result that a problem's definition gives, computed in float64 by loops in this file that no contender uses. */
interface ExpectedResult {
  /** The part of a result that is checked: some of its rows, a projection of a matrix product, or all of it. */
  readonly project: (result: Numbers) => Numbers;
  /** The same part of the expected result. */
  readonly expected: () => Numbers;
}

// The most numbers of a result that are checked; checking more would take longer than the case.
const maximumChecked = 1 << 22;

/**
 * The rows to check of `count` rows of n numbers: all if they are few, otherwise evenly spaced ones, including the
 * first and the last.
 */
function rowsToCheck(count: number, n: number): number[] {
  const rows = Math.min(count, Math.max(2, Math.floor(maximumChecked / n)));
  return Array.from({ length: rows }, (_, i) => Math.round((i * (count - 1)) / Math.max(1, rows - 1)));
}

/** Checks {@link rowsToCheck}; `fill` computes one row. */
function byRows(count: number, n: number, fill: (row: Float64Array, index: number) => void): ExpectedResult {
  const rows = rowsToCheck(count, n);
  return {
    project: (result) => {
      if (result.length !== count * n || rows.length === count) return result;
      return Float64Array.from({ length: rows.length * n }, (_, i) => result[rows[Math.floor(i / n)]! * n + (i % n)]!);
    },
    expected: () => {
      const expected = new Float64Array(rows.length * n);
      for (const [i, index] of rows.entries()) fill(expected.subarray(i * n, (i + 1) * n), index);
      return expected;
    },
  };
}

/**
 * The lower Cholesky factor of the inputs' covariance, computed without factoring. The covariance is that of an
 * autoregressive process of variance 1/2 observed under noise of variance 1/2. Its Kalman filter gives the factor:
 * entry (i, j) below the diagonal is correlation^(i - j) gain_j, and entry (j, j) is scale_j.
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

/** The factor of the same process with another correlation of neighbours, of variance 1 and without noise. */
function noiseless(n: number, rho: number): ReturnType<typeof filter> {
  const scale = new Float64Array(n).fill(Math.sqrt(1 - rho ** 2));
  scale[0] = 1;
  return { scale, gain: scale };
}

/** Replaces z by 1 + L z, with the lower matrix L that `scale`, `gain` and the correlation describe. */
function drawOf(z: Float64Array, { scale, gain }: ReturnType<typeof filter>, rho: number = correlation): void {
  let state = 0;
  for (let i = 0; i < z.length; ++i) {
    const normal = z[i]!;
    z[i] = 1 + state + scale[i]! * normal;
    state = rho * (state + gain[i]! * normal);
  }
}

/** Fills `row` with row `index` of the normals of `dtype` that every suite draws with seed 42. */
function normalsInto(row: Float64Array, index: number, dtype: RealDtype): void {
  const normals = zerosOf(dtype, row.length) as Real;
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

/** Checks the whole result. */
const whole = (expected: () => Numbers): ExpectedResult => ({ project: (result) => result, expected });

interface ProblemWithInput extends Problem {
  readonly input: (name: InputName | 'from') => Real;
}

function productOf({ input }: ProblemWithInput, n: number): ExpectedResult {
  const signs = Float64Array.from({ length: n }, (_, i) => ((Math.imul(i + 1, 2654435761) >>> 16) & 1 ? 1 : -1));
  const isMatrix = (result: Numbers) => result.length === n * n;
  return {
    project: (result) => (isMatrix(result) ? times(result, signs) : result),
    expected: () => times(input('a'), times(input('b'), signs)),
  };
}

const expectedResults: Readonly<Record<string, (problem: ProblemWithInput, n: number) => ExpectedResult>> = {
  'transform-normal': ({ input }, n) =>
    byRows(1, n, (row) => {
      row.set(input('z'));
      drawOf(row, filter(n));
    }),
  'transform-normal-factored': ({ input }, n) => {
    const factor = noiseless(n, correlation);
    return byRows(1, n, (row) => {
      row.set(input('z'));
      drawOf(row, factor);
    });
  },
  'matrix-product': productOf,
  kernels: (problem, n) => {
    const [what] = problem.case.split(',');
    if (what === 'product') return productOf(problem, n);
    const a = problem.input('a');
    const length = what === 'softmax' ? n : 256;
    return whole(() =>
      Array.from({ length: a.length / length }, (_, i) => {
        const row = Array.from(a.subarray(i * length, (i + 1) * length));
        const each = what === 'softmax' ? row.map(Math.exp) : row;
        const sum = each.reduce((all, value) => all + value, 0);
        return what === 'softmax' ? each.map((value) => value / sum) : [sum];
      }).flat(),
    );
  },
  'matrix-vector': ({ input }) => whole(() => times(input('a'), input('z'))),
  sampling: ({ count, dtype }, n) => {
    const factor = filter(n);
    return byRows(count!, n, (row, index) => {
      normalsInto(row, index, dtype!);
      drawOf(row, factor);
    });
  },
  subnormal: ({ count, dtype }, n) => {
    const rho = processCorrelation(n, dtype!);
    const factor = noiseless(n, rho);
    return byRows(count!, n, (row, index) => {
      normalsInto(row, index, dtype!);
      drawOf(row, factor, rho);
    });
  },
  normals: ({ count, dtype }, n) => byRows(count!, n, (row, index) => normalsInto(row, index, dtype!)),
  cholesky: (_, n) => {
    const { scale, gain } = filter(n);
    return byRows(n, n, (row, i) => {
      for (let j = 0; j <= i; ++j) row[j] = j === i ? scale[i]! : correlation ** (i - j) * gain[j]!;
    });
  },
  // The factor is that of an autoregressive process: a row of the product, or of a solve, is a recursion.
  triangular: ({ input, case: name }, n) => {
    const { scale } = noiseless(n, correlation);
    return byRows(n, n, (row, index) => {
      const x = input('a').subarray(index * n, (index + 1) * n);
      let state = 0;
      for (let i = 0; i < n; ++i) {
        if (name === 'product') row[i] = state = correlation * state + scale[i]! * x[i]!;
        else if (name === 'forward solve') row[i] = (x[i]! - (i === 0 ? 0 : correlation * x[i - 1]!)) / scale[i]!;
        else row[i] = x[i]! / scale[i]! - (i === n - 1 ? 0 : (correlation * x[i + 1]!) / scale[i + 1]!);
      }
    });
  },
  transfer: ({ input }) => whole(() => input('a')),
  tables: ({ input }) => whole(() => input('table')),
  launch: ({ input }) => whole(() => input('from')),
  call: () => {
    const z = new Float64Array(2);
    normalsInto(z, 0, 'float32');
    return whole(() => [z[0]!, 0.5 * z[0]! + Math.sqrt(0.75) * z[1]!]);
  },
};

/** Undefined for a suite that has no definition here. */
export function expectedResultOf(problem: Problem): ExpectedResult | undefined {
  const input = (name: string) => problem.inputs()[name]!;
  return expectedResults[problem.suite]?.({ ...problem, input }, problem.dimension ?? 1);
}
