import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { backendOf } from '../../lib/backend-handle.ts';
import { Device, Matrix, type RealDtype, Vector } from '../../lib/index.ts';
import { openReference } from '../../lib/reference/device.ts';
import { onEveryDevice, onEveryType } from '../harness/every-device.ts';
import { scattered } from '../harness/naive.ts';
import { throwsCode } from '../harness/throws-code.ts';

interface Case {
  readonly name: string;
  readonly a: number[][];
  readonly b: number[][];
  readonly s: number[];
  readonly lstsq: number[][];
  readonly rank: number;
  readonly q: number[][];
  readonly r: number[][];
  readonly eigenvalues?: number[];
  readonly det?: number;
  readonly solve?: number[][];
  readonly inverse?: number[][];
  /** Eigenvalues of a a'. */
  readonly gramEigenvalues?: number[];
}

/** A matrix that the test makes by the rule of linear-algebra.py. */
interface Rule {
  readonly n: number;
  readonly s: number[];
  readonly eigenvalues: number[];
}

const { cases, deficient, large, hilbert } = JSON.parse(
  readFileSync(new URL('../answers/linear-algebra.json', import.meta.url), 'utf8'),
) as {
  cases: Case[];
  deficient: Case[];
  large: Rule & { readonly seed: number; readonly sign: number; readonly logDeterminant: number };
  hilbert: Rule & { readonly rank: number };
};

const norm = (values: readonly number[]): number => Math.hypot(...values);

/** Asserts that two lists agree within `tolerance` times the norm of the second. */
function near(actual: readonly number[], wanted: readonly number[], tolerance: number, what: string): void {
  assert.is(actual.length, wanted.length, what);
  const apart = norm(actual.map((value, i) => value - wanted[i]!));
  if (!(apart <= tolerance * norm(wanted))) assert.unreachable(`${what}: apart by (${apart}) of (${norm(wanted)})`);
}

const epsOf = (dtype: RealDtype): number => (dtype === 'float32' ? 2 ** -23 : 2 ** -52);

const transposed = (a: readonly number[][]): number[][] => a[0]!.map((_, j) => a.map((row) => row[j]!));
const product = (a: readonly number[][], b: readonly number[][]): number[][] =>
  a.map((row) => b[0]!.map((_, j) => row.reduce((sum, entry, k) => sum + entry * b[k]![j]!, 0)));
/** The matrix with column k multiplied by number k of `scales`. */
const timesScales = (matrix: Matrix, scales: Vector): number[][] =>
  matrix.toArray().map((row) => row.map((entry, k) => entry * scales.at(k)));

function isOrthonormal(columns: readonly number[][], bound: number, what: string): void {
  product(transposed(columns), columns).forEach((row, i) => {
    row.forEach((entry, j) => {
      if (!(Math.abs(entry - (i === j ? 1 : 0)) <= bound)) assert.unreachable(`${what}: (${i}, ${j}) is (${entry})`);
    });
  });
}

onEveryDevice("the results equal NumPy's, awaited or not, in either type.", async (device) => {
  for (const dtype of device.dtypes as RealDtype[])
    for (const { name, a, b, s, q, r, lstsq, rank, eigenvalues, det, solve, inverse } of cases) {
      const what = `${name}, ${dtype}`;
      // Times the condition number, which is largest for the graded matrix.
      const tolerance = epsOf(dtype) * 30 * a.length * (s[0]! / s.at(-1)!);
      const [left, right] = [Matrix.from(a, { dtype }), Matrix.from(b, { dtype })];
      const flat = (matrix: Matrix) => matrix.toArray().flat();
      const svd = await left.svd({ device });
      near(svd.s.toArray(), s, tolerance, `${what}: s`);
      assert.equal(left.svdSync({ device }).s.toArray(), svd.s.toArray());
      const whole = Matrix.from(
        svd.u.toArray().map((row) => row.map((entry, k) => entry * svd.s.get(k))),
        { dtype },
      );
      near(flat(whole.multiplySync(svd.vt, { device })), a.flat(), tolerance, `${what}: u s vt`);
      const found = left.qrSync({ device });
      near(flat(found.q), q.flat(), tolerance, `${what}: q`);
      near(flat(found.r), r.flat(), tolerance, `${what}: r`);
      const least = await left.lstsq(right, { device });
      near(flat(least.x), lstsq.flat(), tolerance, `${what}: lstsq`);
      assert.is(least.rank, rank, what);
      if (eigenvalues === undefined) continue;
      const symmetric = Matrix.from(
        a.map((row, i) => row.map((entry, j) => entry + a[j]![i]!)),
        { dtype },
      );
      const { values, vectors } = await symmetric.eigh({ device });
      near(values.toArray(), eigenvalues, tolerance, `${what}: eigenvalues`);
      const scaled = Matrix.from(
        vectors.toArray().map((row) => row.map((entry, k) => entry * values.get(k))),
        { dtype },
      );
      const again = scaled.multiplySync(vectors.transposeSync({ device }), { device });
      near(flat(again), symmetric.toArray().flat(), tolerance, `${what}: eigenvectors`);
      near([await left.det({ device })], [det!], tolerance, `${what}: det`);
      near(flat(await left.solve(right, { device })), solve!.flat(), tolerance, `${what}: solve`);
      near(flat(left.inverseSync({ device })), inverse!.flat(), tolerance, `${what}: inverse`);
      const first = Vector.from(
        b.map((row) => row[0]!),
        { dtype },
      );
      const x = left.solveSync(first, { device });
      assert.instance(x, Vector);
      near(
        x.toArray(),
        solve!.map((row) => row[0]!),
        tolerance,
        `${what}: a vector`,
      );
    }
});

onEveryDevice('least squares of a matrix of low rank give the shortest solution.', async (device) => {
  const halved = Matrix.from(
    [
      [1, 2],
      [2, 4],
    ],
    { dtype: device.dtypes.at(-1) as RealDtype },
  );
  const unique = await halved.lstsq(Vector.from(halved.column(0) as Float64Array), { device, rcond: 0 });
  assert.is(unique.rank, 1, 'a 0 with rounding errors does not count');
  near(unique.x.toArray(), [0.2, 0.4], 1e-6, 'rcond of 0');
  for (const { name, a, b, lstsq, rank } of deficient) {
    const dtype = device.dtypes.at(-1) as RealDtype;
    const rcond = dtype === 'float32' ? 1e-5 : undefined;
    const found = await Matrix.from(a, { dtype }).lstsq(Matrix.from(b, { dtype }), { device, rcond });
    assert.is(found.rank, rank, name);
    near(found.x.toArray().flat(), lstsq.flat(), dtype === 'float32' ? 1e-4 : 1e-12, name);
  }
});

onEveryDevice("singular values, eigenvalues and determinant of 500 x 500 equal NumPy's.", async (device) => {
  const { n, seed, s, eigenvalues, sign, logDeterminant } = large;
  const a = Float32Array.from(scattered(n * n, seed)).map((value) => value / 8);
  for (const dtype of device.dtypes as RealDtype[]) {
    const bound = 30 * n * epsOf(dtype);
    const matrix = Matrix.from(a, { columns: n, dtype });
    const determinant = await matrix.det({ device });
    assert.is(Math.sign(determinant), sign, dtype);
    // Times the condition number.
    near([Math.log(Math.abs(determinant))], [logDeterminant], bound * (s[0]! / s.at(-1)!), `${dtype}: log |det|`);
    const found = await matrix.slogdet({ device });
    assert.is(found.sign, sign, dtype);
    near([found.logAbsDet], [Math.log(Math.abs(determinant))], 1e-14, `${dtype}: slogdet`);
    if (device.kind === 'reference' || backendOf(device).lacksDecompositions !== '') {
      console.log(`skipped  ${device.kind}, ${dtype}: s and eigenvalues of 500 x 500 take TypeScript ten seconds`);
      continue;
    }
    near((await matrix.svd({ device })).s.toArray(), s, bound, `${dtype}: s`);
    const symmetric = Matrix.from(
      Float64Array.from(a, (value, at) => value + a[(at % n) * n + Math.floor(at / n)]!),
      { columns: n, dtype },
    );
    near((await symmetric.eigh({ device })).values.toArray(), eigenvalues, bound, `${dtype}: eigenvalues`);
  }
});

onEveryDevice("an ill-conditioned matrix has NumPy's values, and its solution a small residual.", async (device) => {
  const { n, s, eigenvalues, rank } = hilbert;
  for (const dtype of device.dtypes as RealDtype[]) {
    const bound = 30 * n * epsOf(dtype);
    const a = Matrix.from(
      Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => 1 / (1 + i + j))),
      { dtype },
    );
    const b = Vector.from(a.row(0) as Float64Array);
    near(a.svdSync({ device }).s.toArray(), s, bound, `${dtype}: s`);
    near(a.eighSync({ device }).values.toArray(), eigenvalues, bound, `${dtype}: eigenvalues`);
    const x = await a.solve(b, { device });
    const residual = a.toArray().map((row, i) => row.reduce((sum, entry, j) => sum + entry * x.at(j), -b.at(i)));
    assert.ok(norm(residual) <= bound * (s[0]! * norm(x.toArray()) + norm(b.toArray())), `${dtype}: solve`);
    if (dtype === 'float64') assert.is((await a.lstsq(b, { device, rcond: 1e-12 })).rank, rank);
  }
});

onEveryDevice('a matrix of low rank is taken apart and put together again.', async (device) => {
  const zero = Array.from({ length: 4 }, () => [0, 0, 0]);
  for (const dtype of device.dtypes as RealDtype[]) {
    for (const { name, a, s } of [...deficient, { name: 'zeros', a: zero, s: [0, 0, 0] }]) {
      const what = `${name}, ${dtype}`;
      const bound = 30 * Math.max(a.length, a[0]!.length) * epsOf(dtype);
      const matrix = Matrix.from(a, { dtype });
      const svd = await matrix.svd({ device });
      near(svd.s.toArray(), s, bound, `${what}: s`);
      isOrthonormal(svd.u.toArray(), bound, `${what}: u`);
      isOrthonormal(transposed(svd.vt.toArray()), bound, `${what}: vt`);
      near(product(timesScales(svd.u, svd.s), svd.vt.toArray()).flat(), a.flat(), bound, `${what}: u s vt`);
      const { q, r } = await matrix.qr({ device });
      isOrthonormal(q.toArray(), bound, `${what}: q`);
      near(product(q.toArray(), r.toArray()).flat(), a.flat(), bound, `${what}: q r`);
    }
    for (const { name, a, gramEigenvalues } of deficient) {
      const gram = product(a, transposed(a));
      const bound = 30 * gram.length * epsOf(dtype);
      const { values, vectors } = await Matrix.from(gram, { dtype }).eigh({ device });
      near(values.toArray(), gramEigenvalues!, bound, `${name}, ${dtype}: eigenvalues`);
      isOrthonormal(vectors.toArray(), bound, `${name}, ${dtype}: eigenvectors`);
      const again = product(timesScales(vectors, values), transposed(vectors.toArray()));
      near(again.flat(), gram.flat(), bound, `${name}, ${dtype}: v diag(values) v'`);
    }
  }
});

onEveryDevice('a matrix without rows is refused, except in products.', async (device) => {
  const empty = Matrix.from(new Float32Array(0), { columns: 3 });
  const b = Matrix.from(new Float32Array(0), { columns: 2 });
  for (const call of [
    () => empty.eigh({ device }),
    () => empty.svd({ device }),
    () => empty.qr({ device }),
    () => empty.solve(b, { device }),
    () => empty.lstsq(b, { device }),
    () => empty.inverse({ device }),
    () => empty.det({ device }),
    () => empty.transpose({ device }),
    () => empty.covariance({ device }),
  ])
    await throwsCode('ERR_SHAPE', '(0)', call);
  const none = await empty.multiply(Matrix.from(new Float32Array(6), { columns: 2 }), { device });
  assert.equal([none.shape, none.data.length], [[0, 2], 0]);
  assert.is((await empty.multiply(Vector.from(new Float32Array(3)), { device })).length, 0);
});

onEveryDevice('a result stays on its device, large or small, and the next call uses it there.', async (device) => {
  for (const n of [3, device.kind === 'reference' ? 100 : 600]) {
    const a = Matrix.from(scattered(n * n, n), { columns: n, dtype: 'float32' });
    const { q, r } = await a.qr({ device });
    const again = await q.multiply(r);
    again.data.forEach((value, at) => {
      if (!(Math.abs(value - a.data[at]!) < 1e-3)) assert.unreachable(`(${at}) of ${n} is (${value})`);
    });
    for (const matrix of [q, r, again]) matrix.close();
  }
});

onEveryDevice('entries of any size have their singular values, solutions and determinant.', async (device) => {
  if (!device.dtypes.includes('float64')) return;
  const [a, b] = [
    [
      [1, 2],
      [3, 4],
    ],
    [5, 6],
  ];
  for (const unit of [1, 2 ** 530, 2 ** -540]) {
    const scaled = Matrix.from(
      a.map((row) => row.map((entry) => entry * unit)),
      { dtype: 'float64' },
    );
    const { s } = await scaled.svd({ device });
    near(
      s.toArray().map((value) => value / unit),
      [5.464985704219043, 0.365966190626258],
      1e-14,
      `${unit}: svd`,
    );
    const { x } = await scaled.lstsq(Vector.from(b, { dtype: 'float64' }), { device });
    near(
      x.toArray().map((value) => value * unit),
      [-4, 4.5],
      1e-13,
      `${unit}: lstsq`,
    );
  }
  const tiny = Matrix.from(
    [
      [1e-310, 0],
      [0, 1e-311],
    ],
    { dtype: 'float64' },
  );
  await throwsCode('ERR_OUT_OF_RANGE', '(float64)', () =>
    tiny.lstsq(Vector.from([1, 2], { dtype: 'float64' }), { device }),
  );
  const double = (rows: number[][]) => Matrix.from(rows, { dtype: 'float64' });
  const steep = double([[1e-200, 0], [1, 1e-200]]); // biome-ignore format: short
  await throwsCode('ERR_OUT_OF_RANGE', 'Inverse entry (0)', () => steep.inverse({ device }));
  await throwsCode('ERR_OUT_OF_RANGE', '`matrix` or `b`', () => steep.solve(double([[1], [1]]), { device }));
  await throwsCode('ERR_OUT_OF_RANGE', 'R entry (0) is (Infinity)', () =>
    double([[1.7e308], [1.7e308]]).qr({ device }),
  );
  const largest = double([[1.7e308, 1.7e308], [1.7e308, 1.7e308]]); // biome-ignore format: short
  await throwsCode('ERR_OUT_OF_RANGE', 'Eigenvalue (1) is (Infinity)', () => largest.eigh({ device }));
  await throwsCode('ERR_OUT_OF_RANGE', 'Singular value (0) is (Infinity)', () => largest.svd({ device }));
  // An entry of which the type holds fewer digits.
  await throwsCode('ERR_OUT_OF_RANGE', 'Inverse entry (0)', () => double([[1e-310]]).inverse({ device }));
  const wide = Matrix.from([[1e200, 1], [3e200, 2], [-2e200, 0]], { dtype: 'float64' }); // biome-ignore format: short
  const [variance, ...others] = (await wide.covariance({ device })).data;
  assert.is(variance, Infinity);
  near(
    Array.from(others, (entry, i) => entry / [2.5e200, 2.5e200, 1][i]!),
    [1, 1, 1],
    1e-14,
    'covariance',
  );
  const detOf = (...diagonal: number[]) =>
    Matrix.from(
      diagonal.map((_, i) => diagonal.map((entry, j) => (i === j ? entry : 0))),
      { dtype: 'float64' },
    ).det({ device });
  near([await detOf(1e200, 1e200, 1e-200, 1e-200), await detOf(1e-200, 1e-200, 1e200, -1e200)], [1, -1], 1e-15, 'det');
  assert.equal(
    [await detOf(1e200, 1e200), await detOf(1e-200, -1e-200), await detOf(2 ** -1074, 2 ** 1000, 2 ** 74)],
    [Infinity, -0, 1],
  );
});

onEveryType('a determinant beyond the numbers of the type has a sign and a logarithm.', async (device, dtype) => {
  const scaled = (unit: number) =>
    Matrix.from(
      Array.from({ length: 200 }, (_, i) =>
        Array.from({ length: 200 }, (_, j) => (i === j ? unit * ((i % 3) - 1.5) : 0)),
      ),
      { dtype },
    );
  // 67 entries of -3/2, 67 of -1/2 and 66 of 1/2.
  const logarithm = 67 * Math.log(3 / 2) - 133 * Math.LN2;
  for (const unit of [2 ** -20, 1, 2 ** 20]) {
    const matrix = scaled(unit);
    const { sign, logAbsDet } = await matrix.slogdet({ device });
    assert.is(sign, 1);
    near([logAbsDet], [logarithm + 200 * Math.log(unit)], 1e-14, `${unit}`);
    assert.equal(matrix.slogdetSync({ device }), { sign, logAbsDet });
  }
  const swapped = Matrix.from([[0, 1], [2, 0]], { dtype }); // biome-ignore format: a matrix
  assert.equal(swapped.slogdetSync({ device }), { sign: -1, logAbsDet: Math.LN2 });
  const singular = Matrix.from([[0, 1], [0, 1]], { dtype }); // biome-ignore format: a matrix
  assert.equal(singular.slogdetSync({ device }), { sign: 0, logAbsDet: Number.NEGATIVE_INFINITY });
});

onEveryDevice('a problem without a solution is refused, and the error names the reason.', async (device) => {
  const a = Matrix.from([
    [1, 2],
    [2, 4],
  ]);
  const b = Vector.from([1, 2]);
  await throwsCode('ERR_INVALID_ARGUMENT', '(undefined)', () => a.eigh());
  await throwsCode('ERR_UNKNOWN_OPTION', '(devise)', () => a.eigh({ devise: device } as object));
  const error = await throwsCode('ERR_SINGULAR', '(1)', () => a.solve(b, { device }));
  assert.is(error.pivot, 1);
  await throwsCode('ERR_SINGULAR', '(1)', () => a.inverse({ device }));
  assert.is(a.detSync({ device }), 0);
  await throwsCode('ERR_SHAPE', '(1)', () => Matrix.from([[1, 2]]).eigh({ device }));
  await throwsCode('ERR_SHAPE', '(3)', () => a.solve(Vector.from([1, 2, 3]), { device }));
  await throwsCode('ERR_SHAPE', '(0)', () => Matrix.from(new Float32Array(0), { columns: 2 }).svd({ device }));
  await throwsCode('ERR_INVALID_ARGUMENT', '(float64)', () =>
    // @ts-expect-error: b has another type than a.
    a.multiply(Vector.from([1, 2], { dtype: 'float64' }), { device }),
  );
  await throwsCode(
    'ERR_INVALID_ARGUMENT',
    '`b` is (array of 2). Pass a Matrix or a Vector, as Matrix.from(rows).',
    () => a.multiply([1, 2] as never, { device }),
  );
  await throwsCode('ERR_OUT_OF_RANGE', '(2)', () => a.lstsq(b, { device, rcond: 2 }));
  await throwsCode('ERR_OUT_OF_RANGE', "`rcond` is ('0')", () => a.lstsq(b, { device, rcond: '0' as never }));
  await throwsCode('ERR_UNSUPPORTED_DTYPE', '(int32)', () =>
    Matrix.from(new Int32Array(4), { columns: 2 }).det({ device }),
  );
  const bad = Matrix.from([
    [1, Number.NaN],
    [0, 1],
  ]);
  for (const call of [
    () => bad.svd({ device }),
    () => bad.qr({ device }),
    () => bad.det({ device }),
    () => bad.eigh({ device }),
  ])
    assert.is((await throwsCode('ERR_NOT_FINITE', '(0, 1)', call)).column, 1);
});

test('A device whose LAPACK lacks a routine is served in TypeScript.', async () => {
  const reference = openReference();
  const device = new Device({
    kind: 'cpu',
    name: 'BLAS without LAPACK',
    threads: 1,
    dtypes: ['float32', 'float64'],
    lacksDecompositions: 'It lacks the LAPACK routine dsyevd_.',
    triesEigenvalues: false,
    hasOwnMemory: false,
    deviceMemoryFromBytes: 0,
    allocate: (sizeBytes) => reference.allocate(sizeBytes),
    release: (memory) => reference.release(memory),
    settle: () => {},
    fetch: () => {},
    encoder: () => assert.unreachable('a command of the device itself') as never,
    compile: (source) => reference.compile(source),
    explain: () => assert.unreachable('nobody asks') as never,
    translator: () => reference.translator(),
    translate: (text, folders) => reference.translate(text, folders),
    memory: () => reference.memory(),
    close: () => reference.close(),
  });
  const { values } = await Matrix.from(
    [
      [2, 1],
      [1, 2],
    ],
    { dtype: 'float64' },
  ).eigh({ device });
  near(values.toArray(), [1, 3], 1e-15, 'eigenvalues');
  device.close();
});

test.run();
