// Linear algebra of random matrices on cpu and reference: residuals and orthogonality are within the bounds of
// LAPACK's test suite (some roundings times the dimension and the norm), and both devices agree as far as the
// condition number allows. A failing matrix is reported with its number; COVARIUM_TEST_ROUNDS=100 tries a hundred
// times as many.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Real } from '../../lib/dtype.ts';
import { CovariumError, type Device, Matrix, openDevice, type RealDtype } from '../../lib/index.ts';
import { kindsHere } from '../harness/every-device.ts';
import { scattered } from '../harness/naive.ts';

const { COVARIUM_TEST_ROUNDS: rounds = '1' } = process.env as NodeJS.ProcessEnv & { COVARIUM_TEST_ROUNDS?: string };
const matrices = 60 * Number(rounds);

/** A matrix of float64, row-major. */
interface Plain {
  readonly rows: number;
  readonly columns: number;
  readonly data: Float64Array;
}

const made = (rows: number, columns: number, entry: (i: number, j: number) => number): Plain => ({
  ...{ rows, columns },
  data: Float64Array.from({ length: rows * columns }, (_, at) => entry(Math.floor(at / columns), at % columns)),
});
const at = ({ columns, data }: Plain, i: number, j: number): number => data[i * columns + j]!;
const plain = ({ rows, columns, data }: Matrix): Plain => ({ rows, columns, data: new Float64Array(data as Real) });
const column = (data: ArrayLike<number>): Plain => made(data.length, 1, (i) => data[i]!);
const transposed = (a: Plain): Plain => made(a.columns, a.rows, (i, j) => at(a, j, i));
const timesScales = (a: Plain, scales: ArrayLike<number>): Plain =>
  made(a.rows, a.columns, (i, j) => at(a, i, j) * scales[j]!);
const identity = (n: number): Plain => made(n, n, (i, j) => (i === j ? 1 : 0));

function times(a: Plain, b: Plain): Plain {
  const { columns, data: right } = b;
  const data = new Float64Array(a.rows * columns);
  for (let i = 0; i < a.rows; i++)
    for (let k = 0; k < a.columns; k++) {
      const entry = at(a, i, k);
      for (let j = 0; j < columns; j++) data[i * columns + j]! += entry * right[k * columns + j]!;
    }
  return { rows: a.rows, columns, data };
}

/** The Frobenius norm, without overflow or underflow. */
const norm = ({ data }: Plain): number => {
  const largest = data.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return largest === 0 ? 0 : largest * Math.sqrt(data.reduce((sum, value) => sum + (value / largest) ** 2, 0));
};
const minus = (a: Plain, b: Plain): Plain => made(a.rows, a.columns, (i, j) => at(a, i, j) - at(b, i, j));

function isWithin(size: number, bound: number, what: string): void {
  if (!(size <= bound)) assert.unreachable(`${what}: (${size}), not within (${bound})`);
}

const isOrthonormal = (columns: Plain, bound: number, what: string): void =>
  isWithin(norm(minus(times(transposed(columns), columns), identity(columns.columns))), bound, what);

/** A matrix and a right-hand side of float32 numbers; graded, with repeated columns, or neither. */
function chosen(seed: number): { readonly a: Plain; readonly b: Plain; readonly dtype: RealDtype } {
  const choice = scattered(6, seed).map((value) => (value + 1) / 2);
  const rows = 1 + Math.floor(40 * choice[0]!);
  const columns = choice[1]! < 0.4 ? rows : 1 + Math.floor(40 * choice[2]!);
  const numbers = scattered(rows * (columns + 2), 1000 + seed);
  const steps = choice[3]! < 0.5 ? 0 : choice[3]! < 0.75 ? 0.25 : 1;
  const repeats = choice[4]! < 0.3 ? 1 + Math.floor(columns / 2) : columns;
  // Powers of two, so that the numbers are exact in float32.
  const grade = (j: number) => 2 ** -Math.round(steps * j);
  const a = made(rows, columns, (i, j) => Math.fround(numbers[i * columns + (j % repeats)]!) * grade(j));
  const b = made(rows, 2, (i, j) => Math.fround(numbers[rows * columns + i * 2 + j]!));
  return { a, b, dtype: choice[5]! < 0.5 ? 'float32' : 'float64' };
}

/** Decomposes A on a device and checks what each method promises; returns the singular values. */
function checked(device: Device, a: Plain, dtype: RealDtype, what: string): Float64Array {
  const [n, size] = [Math.max(a.rows, a.columns), norm(a)];
  const bound = 30 * n * (dtype === 'float32' ? 2 ** -23 : 2 ** -52);
  const matrix = Matrix.from(a.data, { columns: a.columns, dtype });
  const { u, s, vt } = matrix.svdSync({ device });
  const values = new Float64Array(s.data as Real);
  isOrthonormal(plain(u), bound, `${what}: u`);
  isOrthonormal(transposed(plain(vt)), bound, `${what}: vt`);
  isWithin(norm(minus(times(timesScales(plain(u), values), plain(vt)), a)), bound * size, `${what}: u s vt`);
  assert.ok(
    values.every((value, i) => value >= 0 && (i === 0 || value <= values[i - 1]!)),
    `${what}: s falls`,
  );
  const { q, r } = matrix.qrSync({ device });
  isOrthonormal(plain(q), bound, `${what}: q`);
  isWithin(norm(minus(times(plain(q), plain(r)), a)), bound * size, `${what}: q r`);
  for (let i = 0; i < r.rows; i++)
    for (let j = 0; j <= Math.min(i, r.columns - 1); j++)
      assert.ok(i === j ? r.at(i, j) >= 0 : r.at(i, j) === 0, `${what}: r (${i}, ${j}) is (${r.at(i, j)})`);
  if (a.rows !== a.columns) return values;
  const both = made(n, n, (i, j) => Math.fround(at(a, i, j) + at(a, j, i)));
  const eigen = Matrix.from(both.data, { columns: n, dtype }).eighSync({ device });
  const vectors = plain(eigen.vectors);
  isOrthonormal(vectors, bound, `${what}: eigenvectors`);
  const again = times(timesScales(vectors, eigen.values.data as Real), transposed(vectors));
  isWithin(norm(minus(again, both)), bound * norm(both), `${what}: v diag(values) v'`);
  return values;
}

/** Solutions on a device; undefined for a matrix that it finds singular. */
function solved(device: Device, a: Plain, b: Plain, dtype: RealDtype, what: string) {
  const [n, size] = [a.rows, norm(a)];
  const bound = 30 * n * (dtype === 'float32' ? 2 ** -23 : 2 ** -52);
  const matrix = Matrix.from(a.data, { columns: n, dtype });
  const det = matrix.detSync({ device });
  try {
    const x = plain(matrix.solveSync(Matrix.from(b.data, { columns: b.columns, dtype }), { device }));
    isWithin(norm(minus(times(a, x), b)), bound * (size * norm(x) + norm(b)), `${what}: solve`);
    const inverse = plain(matrix.inverseSync({ device }));
    isWithin(norm(minus(times(a, inverse), identity(n))), bound * size * norm(inverse), `${what}: inverse`);
    return { x, det };
  } catch (error) {
    if (error instanceof CovariumError && error.code === 'ERR_SINGULAR') return { x: undefined, det };
    throw error;
  }
}

/** The minimum-norm least-squares solution on a device: the residual is orthogonal to the columns of A. */
function leastSquares(device: Device, a: Plain, b: Plain, dtype: RealDtype, what: string) {
  const rcond = 1e-4;
  const bound = 30 * Math.max(a.rows, a.columns) * (dtype === 'float32' ? 2 ** -23 : 2 ** -52);
  const matrix = Matrix.from(a.data, { columns: a.columns, dtype });
  const found = matrix.lstsqSync(Matrix.from(b.data, { columns: b.columns, dtype }), { device, rcond });
  const x = plain(found.x);
  const size = norm(a);
  // The part of A' (b - A x) that is due to singular values treated as 0.
  const left = found.rank < Math.min(a.rows, a.columns) ? rcond * size * norm(b) : 0;
  const residual = times(transposed(a), minus(b, times(a, x)));
  isWithin(norm(residual), bound * size * (size * norm(x) + norm(b)) + left, `${what}: lstsq`);
  return { x, rank: found.rank };
}

const title = `${matrices} random matrices have the same parts and solutions on cpu and reference.`;
if (!['cpu', 'reference'].every((kind) => kindsHere.includes(kind as 'cpu'))) {
  console.log('skipped  random matrices: they compare cpu and reference, and one of them is not here');
  test.skip(title);
} else
  test(title, () => {
    using cpu = openDevice('cpu', { threads: 2 });
    using reference = openDevice('reference');
    let [solutions, deficient] = [0, 0];
    for (let seed = 0; seed < matrices; seed++) {
      const { a, b, dtype } = chosen(seed);
      const what = `matrix (${seed}), ${a.rows} x ${a.columns} ${dtype}`;
      const n = Math.max(a.rows, a.columns);
      const bound = 30 * n * (dtype === 'float32' ? 2 ** -23 : 2 ** -52);
      const s = checked(cpu, a, dtype, `${what}, cpu`);
      const others = checked(reference, a, dtype, `${what}, reference`);
      isWithin(norm(minus(column(s), column(others))), bound * s[0]!, `${what}: s`);
      const ours = leastSquares(cpu, a, b, dtype, `${what}, cpu`);
      const theirs = leastSquares(reference, a, b, dtype, `${what}, reference`);
      // Singular values near the limit may be treated as 0 on only one of the devices.
      const isClear = s.every((value) => !(value > 0.9e-4 * s[0]! && value < 1.1e-4 * s[0]!));
      if (isClear) {
        assert.is(ours.rank, theirs.rank, `${what}: rank`);
        const spread = s[0]! / s[ours.rank - 1]!;
        const size = norm(theirs.x) + (spread * norm(b)) / s[0]!;
        isWithin(norm(minus(ours.x, theirs.x)), bound * spread * size, `${what}: lstsq`);
        if (ours.rank < s.length) deficient += 1;
      }
      if (a.rows !== a.columns) continue;
      const here = solved(cpu, a, b, dtype, `${what}, cpu`);
      const there = solved(reference, a, b, dtype, `${what}, reference`);
      const condition = s[0]! / s.at(-1)!;
      // Beyond that, rounding decides.
      if (!(bound * condition < 0.1)) continue;
      isWithin(norm(minus(here.x!, there.x!)), bound * condition * norm(there.x!), `${what}: solve`);
      isWithin(Math.abs(here.det - there.det), bound * condition * Math.abs(there.det), `${what}: det`);
      solutions += 1;
    }
    assert.ok(solutions >= matrices / 10 && deficient >= matrices / 10, `(${solutions}), (${deficient})`);
  });

if (kindsHere.includes('cpu'))
  test('At n = 250 residuals and orthogonality are within the same bounds.', () => {
    using cpu = openDevice('cpu');
    const n = 250;
    const numbers = scattered(n * n, n).map(Math.fround);
    const a = made(n, n, (i, j) => numbers[i * n + j]!);
    const b = made(n, 2, (i, j) => i - j);
    for (const dtype of ['float32', 'float64'] as const) {
      checked(cpu, a, dtype, dtype);
      assert.ok(solved(cpu, a, b, dtype, dtype).x !== undefined, dtype);
      leastSquares(cpu, a, b, dtype, dtype);
    }
  });

test.run();
