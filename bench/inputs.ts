import { type Real, type RealDtype, zerosOf } from '../lib/dtype.ts';
import { openDevice } from '../lib/index.ts';

// Correlation of neighbours, as in the talk's covariance: it falls off slowly, and stays within float32's range.
export const correlation = 0.98;

/**
 * The numbers that every contender computes from, by name, dimension and dtype: each is made once in a run, at its
 * first use.
 */
export class Inputs {
  readonly #made = new Map<string, Real>();
  // Only the last batch is kept, because each is large.
  #batchKey = '';
  #batch: Readonly<Record<string, Real>> = {};

  /** Some of `mean`, `z` and `table` (n); the others are n x n, row-major. */
  of<Name extends InputName>(names: readonly Name[], n: number, dtype: RealDtype): Readonly<Record<Name, Real>> {
    return Object.fromEntries(names.map((name) => [name, this.#input(name, n, dtype)])) as Record<Name, Real>;
  }

  /** `count` normals of the same mean and covariance, and a point for each; each in its own memory. */
  ofBatch(n: number, count: number, dtype: RealDtype): Readonly<Record<string, Real>> {
    const key = `batch ${n} ${count} ${dtype}`;
    if (this.#batchKey !== key) {
      this.#batchKey = key;
      const { mean, covariance } = this.of(['mean', 'covariance'], n, dtype) as { mean: Real; covariance: Real };
      const covariances = zerosOf(dtype, count * n * n) as Real;
      for (let b = 0; b < count; b++) covariances.set(covariance, b * n * n);
      const means = (zerosOf(dtype, count * n) as Real).fill(1);
      this.#batch = { mean, covariance, covariances, means, points: normals(count * n, 5, dtype) };
    }
    return this.#batch;
  }

  /**
   * What public functions compute from: `rows` and `probabilities` are count x n. `isHarsh` replaces both covariances
   * by those of a smooth process, with condition numbers of about 10^8 from 30 dimensions on.
   */
  ofFunctions(n: number, count: number, dtype: RealDtype, isHarsh = false): Readonly<Record<string, Real>> {
    const kept = (name: string, make: () => Real): Real => {
      const key = `${name} ${n} ${count} ${dtype}`;
      const made = this.#made.get(key) ?? make();
      this.#made.set(key, made);
      return made;
    };
    const rows = kept('rows', () => normals(count * n, 4, dtype));
    return {
      ...this.of(['mean', 'covariance', 'other', 'a'], n, dtype),
      ...(isHarsh && {
        covariance: this.#input('harsh covariance', n, dtype),
        other: this.#input('other harsh covariance', n, dtype),
      }),
      rows,
      probabilities: kept('probabilities', () => rows.map((value) => 1 / (1 + Math.exp(-1.7 * value)))),
      weights: kept('weights', () => (zerosOf(dtype, count) as Real).map((_, i) => 1 + (i % 3))),
    };
  }

  #input(name: InputName, n: number, dtype: RealDtype): Real {
    const key = `${name} ${n} ${dtype}`;
    const made = this.#made.get(key) ?? makers[name](n, dtype);
    this.#made.set(key, made);
    return made;
  }
}

const processes = ['process', 'process without subnormal entries'] as const;

export type InputName =
  | (typeof processes)[number]
  | ('harsh covariance' | 'other harsh covariance')
  | ('mean' | 'covariance' | 'other' | 'factor' | 'z' | 'a' | 'b' | 'table');

const makers: Readonly<Record<InputName, (n: number, dtype: RealDtype) => Real>> = {
  mean: (n, dtype) => (zerosOf(dtype, n) as Real).fill(1),
  covariance: (n, dtype) => {
    const powers = powersOfCorrelation(n);
    return square(n, dtype, (i, j) => (i === j ? 1 : 0.5 * powers[Math.abs(i - j)]!));
  },
  other: (n, dtype) => {
    const powers = powersOfCorrelation(n);
    return square(n, dtype, (i, j) => powers[Math.abs(i - j)]!);
  },
  'harsh covariance': (n, dtype) => square(n, dtype, smooth(1e-7)),
  'other harsh covariance': (n, dtype) => square(n, dtype, smooth(4e-7)),
  // The factor of the covariance correlation^|i - j|, which has a closed form.
  factor: (n, dtype) => {
    const powers = powersOfCorrelation(n);
    const scale = Math.sqrt(1 - correlation ** 2);
    return square(n, dtype, (i, j) => (j > i ? 0 : powers[i - j]! * (j === 0 ? 1 : scale)));
  },
  // The covariance of a Gaussian process, whose last entries are subnormal numbers.
  process: (n, dtype) => {
    const rho = processCorrelation(n, dtype);
    return square(n, dtype, (i, j) => rho ** Math.abs(i - j));
  },
  'process without subnormal entries': (n, dtype) => {
    const least = dtype === 'float32' ? 2 ** -126 : 2 ** -1022;
    return makers.process(n, dtype).map((value) => (value < least ? 0 : value));
  },
  z: (n, dtype) => normals(n, 1, dtype),
  a: (n, dtype) => normals(n * n, 2, dtype),
  b: (n, dtype) => normals(n * n, 3, dtype),
  table: (n, dtype) => normals(n, 4, dtype),
};

/** The correlation of neighbours at which the last of n entries is twice the smallest positive number of `dtype`. */
export function processCorrelation(n: number, dtype: RealDtype): number {
  return 2 ** ((dtype === 'float32' ? -148 : -1073) / Math.max(1, n - 1));
}

// No entry of it or of its factor is subnormal, which would take some peers a hundred times as long.
function smooth(ridge: number): (i: number, j: number) => number {
  return (i, j) => 1 / (1 + ((i - j) / 7) ** 2) + (i === j ? ridge : 0);
}

function powersOfCorrelation(n: number): Float64Array {
  return Float64Array.from({ length: n }, (_, lag) => correlation ** lag);
}

function square(n: number, dtype: RealDtype, entry: (i: number, j: number) => number): Real {
  const values = zerosOf(dtype, n * n) as Real;
  for (let i = 0; i < n; ++i) for (let j = 0; j < n; ++j) values[i * n + j] = entry(i, j);
  return values;
}

function normals(length: number, seed: number, dtype: RealDtype): Real {
  using device = openDevice('reference');
  using out = device.vector(length, { dtype });
  device.commandBuffer().fillNormal(out, { seed }).commitSync();
  return (out.data as Real).slice();
}
