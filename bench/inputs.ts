import { openDevice } from '../lib/index.ts';

// Correlation of neighbours, as in the talk's covariance: it falls off slowly, and never below what float32 holds.
export const correlation = 0.98;

/**
 * The numbers that every contender computes from, by name and dimension: each is made once in a run, at its first use.
 */
export class Inputs {
  readonly #made = new Map<string, Float32Array>();

  /** Some of `mean`, `z` and `table` (n), `covariance`, `factor`, `a` and `b` (n x n, row-major). */
  of(names: readonly InputName[], n: number): Readonly<Record<string, Float32Array>> {
    return Object.fromEntries(names.map((name) => [name, this.#input(name, n)]));
  }

  #input(name: InputName, n: number): Float32Array {
    const key = `${name} ${n}`;
    const made = this.#made.get(key) ?? makers[name](n);
    this.#made.set(key, made);
    return made;
  }
}

export type InputName = 'mean' | 'covariance' | 'factor' | 'z' | 'a' | 'b' | 'table';

const makers: Readonly<Record<InputName, (n: number) => Float32Array>> = {
  mean: (n) => new Float32Array(n).fill(1),
  covariance: (n) => {
    const powers = powersOfCorrelation(n);
    return square(n, (i, j) => (i === j ? 1 : 0.5 * powers[Math.abs(i - j)]!));
  },
  // The factor of the covariance correlation^|i - j|, which has a closed form.
  factor: (n) => {
    const powers = powersOfCorrelation(n);
    const scale = Math.sqrt(1 - correlation ** 2);
    return square(n, (i, j) => (j > i ? 0 : powers[i - j]! * (j === 0 ? 1 : scale)));
  },
  z: (n) => normals(n, 1),
  a: (n) => normals(n * n, 2),
  b: (n) => normals(n * n, 3),
  table: (n) => normals(n, 4),
};

function powersOfCorrelation(n: number): Float64Array {
  return Float64Array.from({ length: n }, (_, lag) => correlation ** lag);
}

function square(n: number, entry: (i: number, j: number) => number): Float32Array {
  const values = new Float32Array(n * n);
  for (let i = 0; i < n; ++i) for (let j = 0; j < n; ++j) values[i * n + j] = entry(i, j);
  return values;
}

function normals(length: number, seed: number): Float32Array {
  using device = openDevice('reference');
  using out = device.vector(length);
  device.commandBuffer().fillNormal(out, { seed }).commitSync();
  return (out.data as Float32Array).slice();
}
