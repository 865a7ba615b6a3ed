// Inputs for the peers of the benchmark in tests.
import { Matrix, MultivariateNormal, openDevice, type Real, type RealDtype } from '../../lib/index.ts';

const device = openDevice('reference');

function normals(length: number, seed: number, dtype: RealDtype): Real {
  using out = device.vector(length, { dtype });
  device.commandBuffer().fillNormal(out, { seed }).commitSync();
  return (out.data as Real).slice();
}

export const tableRows = 40;
export const batchSize = 2000;

const made = new Map<string, Readonly<Record<string, Real>>>();

/** The same inputs for every caller. */
export function inputsOf(n: number, dtype: RealDtype): Readonly<Record<string, Real>> {
  const inputs = made.get(`${n} ${dtype}`) ?? makeInputs(n, dtype);
  made.set(`${n} ${dtype}`, inputs);
  return inputs;
}

/** Without a symmetry that would hide a transposed factor: variances grow, correlations alternate. */
function makeInputs(n: number, dtype: RealDtype): Readonly<Record<string, Real>> {
  const zeros = (length: number) => (dtype === 'float32' ? new Float32Array(length) : new Float64Array(length));
  const from = (length: number, entry: (i: number) => number): Real => zeros(length).map((_, i) => entry(i));
  const covariance = from(n * n, (i) => {
    const [row, column] = [Math.floor(i / n), i % n];
    return (1 + row) * (1 + column) * (-0.7) ** Math.abs(row - column);
  });
  const mean = from(n, (i) => i - 1);
  using normal = MultivariateNormal.fromCovarianceSync({
    device,
    dtype,
    covariance: Matrix.from(covariance, { columns: n }),
  });
  const factor = (normal.factorSync().data as Real).slice();
  const repeated = (values: Real) => {
    const all = zeros(batchSize * values.length);
    for (let b = 0; b < batchSize; b++) all.set(values, b * values.length);
    return all;
  };
  return {
    mean,
    covariance,
    factor,
    z: normals(n, 1, dtype),
    a: normals(n * n, 2, dtype),
    b: normals(n * n, 3, dtype),
    table: normals(n * tableRows, 4, dtype),
    means: repeated(mean),
    covariances: repeated(covariance),
    points: normals(batchSize * n, 5, dtype),
  };
}
