// The linear algebra of a matrix, as NumPy's users know it. Results that have more than one form are compared by what
// all forms share: values, and the matrix put together again.
import type { Real } from '../../lib/dtype.ts';
import { type Matrix, Vector } from '../../lib/index.ts';
import { ofOptions, ofRows, type PublicFunction, type Result, type Setting, square } from './public-function.ts';

type Numbers = Matrix | Vector;

/** A matrix of n x n, from one of the inputs, and what is computed from it. */
function ofMatrix(
  matrixOf: (setting: Setting) => Matrix,
  sync: (matrix: Matrix, setting: Setting) => Result,
  awaited: (matrix: Matrix, setting: Setting) => Promise<Result>,
): PublicFunction {
  return {
    of: (setting) => {
      const matrix = matrixOf(setting);
      return { sync: () => sync(matrix, setting), awaited: () => awaited(matrix, setting) };
    },
  };
}

const on = ({ device }: Setting) => ({ device });
const symmetric = ({ n, inputs }: Setting): Matrix => square(inputs.covariance, n);
const general = ({ n, inputs }: Setting): Matrix => square(inputs.a, n);
/** `general`, scaled so that its determinant is neither too large nor too small for float32. */
const scaled = ({ n, inputs }: Setting): Matrix => {
  const scale = Math.fround(Math.sqrt(Math.E / n));
  return square(
    inputs.a.map((value) => value * scale),
    n,
  );
};

const joined = (...all: readonly Numbers[]): Real => Float64Array.from(all.flatMap(({ data }) => [...(data as Real)]));

/** A B, where column k of A is multiplied by number k of `scales`. */
function timesScaled(a: Matrix, scales: Vector, b: Matrix, { device }: Setting): Matrix {
  const [data, numbers] = [a.data as Real, scales.data as Real];
  const left = square(
    data.map((value, at) => value * numbers[at % a.columns]!),
    a.columns,
  );
  return left.multiplySync(b, { device });
}

type Eigen = ReturnType<Matrix['eighSync']>;
const eigen = ({ values, vectors }: Eigen, setting: Setting): Result => ({
  parts: [values, vectors],
  numbers: () => joined(values, timesScaled(vectors, values, vectors.transposeSync(on(setting)), setting)),
});

type SingularValues = ReturnType<Matrix['svdSync']>;
const singular = ({ u, s, vt }: SingularValues, setting: Setting): Result => ({
  parts: [u, s, vt],
  numbers: () => joined(s, timesScaled(u, s, vt, setting)),
});

type Qr = ReturnType<Matrix['qrSync']>;
// Since the diagonal of r is not negative, both are unique.
const triangular = ({ q, r }: Qr): Result => ({ parts: [q, r], numbers: () => joined(q, r) });

type LeastSquares = ReturnType<typeof Matrix.prototype.lstsqSync<Vector>>;
const least = ({ x, s }: LeastSquares): Result => ({ parts: [x, s], numbers: () => joined(x, s) });

type SignAndLogarithm = ReturnType<Matrix['slogdetSync']>;
const logDeterminant = ({ sign, logAbsDet }: SignAndLogarithm): Result => ({
  parts: [],
  numbers: () => Float64Array.of(sign, logAbsDet),
});

/** By the name of the case. */
export const matrixFunctions: Readonly<Record<string, PublicFunction>> = {
  eigh: ofMatrix(
    symmetric,
    (a, setting) => eigen(a.eighSync(on(setting)), setting),
    async (a, setting) => eigen(await a.eigh(on(setting)), setting),
  ),
  svd: ofMatrix(
    general,
    (a, setting) => singular(a.svdSync(on(setting)), setting),
    async (a, setting) => singular(await a.svd(on(setting)), setting),
  ),
  qr: ofMatrix(
    general,
    (a, setting) => triangular(a.qrSync(on(setting))),
    async (a, setting) => triangular(await a.qr(on(setting))),
  ),
  solve: ofOptions(
    (setting) => ({ a: general(setting), b: Vector.from(setting.inputs.mean) }),
    ({ a, b }, setting) => a.solveSync(b, on(setting)),
    ({ a, b }, setting) => a.solve(b, on(setting)),
  ),
  inverse: ofMatrix(
    general,
    (a, setting) => a.inverseSync(on(setting)),
    (a, setting) => a.inverse(on(setting)),
  ),
  det: ofMatrix(
    scaled,
    (a, setting) => a.detSync(on(setting)),
    (a, setting) => a.det(on(setting)),
  ),
  slogdet: ofMatrix(
    general,
    (a, setting) => logDeterminant(a.slogdetSync(on(setting))),
    async (a, setting) => logDeterminant(await a.slogdet(on(setting))),
  ),
  multiply: ofMatrix(
    general,
    (a, setting) => a.multiplySync(a, on(setting)),
    (a, setting) => a.multiply(a, on(setting)),
  ),
  lstsq: {
    ...ofOptions(
      ({ n, inputs }) => ({ rows: square(inputs.rows, n), b: Vector.from(inputs.weights) }),
      ({ rows, b }, setting) => least(rows.lstsqSync(b, on(setting))),
      async ({ rows, b }, setting) => least(await rows.lstsq(b, on(setting))),
    ),
    leastRows: (n) => 2 * n,
    // Twice as many rows as columns at any count: singular values of more take NumPy and us seconds.
    mostRows: 0,
  },
  'Matrix covariance': {
    ...ofRows(
      (setting, rows) => rows.covarianceSync(on(setting)),
      (setting, rows) => rows.covariance(on(setting)),
    ),
    leastRows: (n) => 2 * n,
  },
};
