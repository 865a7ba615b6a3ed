import { asMatrix, finiteNumbers, realDtype, vectorInput } from '../array/inputs.ts';
import { matrixStorage } from '../array/matrix.ts';
import { requireColumns, requireLength } from '../array/operand.ts';
import { requireDevice } from '../backend-handle.ts';
import { checkOptions } from '../check.ts';
import { exactly } from '../command/float64.ts';
import type { Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { rankTolerance } from '../decomposition/semidefinite-root.ts';
import type { Values } from '../dtype.ts';
import { norm } from '../reference/svd.ts';
import { rooted } from './from-root.ts';
import { meanInput } from './inputs.ts';
import type { EigenOptions } from './options.ts';
import type { NormalParameters } from './parameters.ts';
import { requireRepresented } from './represented.ts';

/** The normal of a mean and an eigendecomposition of its covariance. `centre` is what an error calls the mean. */
export function* fromEigen(options: EigenOptions, centre = 'Mean'): Tasks<NormalParameters> {
  checkOptions(options, ['device', 'mean', 'values', 'vectors', 'dtype']);
  const device = requireDevice(options.device);
  const dtype = realDtype(device, options.dtype, options.mean, options.values, options.vectors);
  // A copy, because the caller may change their array between two commits.
  const mean =
    options.mean === undefined ? undefined : meanInput(device, options.mean, dtype, undefined, centre).slice();
  const given = vectorInput('Eigenvalues', device, options.values);
  const values = finiteNumbers('Eigenvalues', given);
  const m = values.length;
  const matrix = asMatrix(options.vectors, m, 'Eigenvectors');
  const n = matrix.rows;
  requireColumns('Eigenvectors', matrix.columns, m, 'list `values`');
  if (m > n || n === 0) throw new CovariumError('ERR_SHAPE', `\`vectors\` has (${m}) columns, but only (${n}) rows.`);
  if (mean !== undefined) requireLength(centre, mean.length, n, 'matrix of eigenvectors');
  const source = matrixStorage(matrix).valuesFor(device);
  const vectors = finiteNumbers('Eigenvectors', source, m);
  const products = new Float64Array(m * m);
  yield* exactly(device, (encoder) => encoder.product(vectors, vectors, products, m, m, n, true, false, 1, 0));
  // Vectors of a float32 decomposition may come as plain numbers, such as `toArray` or JSON give.
  const epsilonFor = (numbers: Values) => (dtype === 'float32' ? 2 ** -23 : epsilonOf(numbers));
  requireOrthonormal(products, m, 64 * n * epsilonFor(source));
  const used = usedValues(values, vectors, n, epsilonFor(given));
  const rank = used.length;
  const root = new Float64Array(n * rank);
  used.forEach((from, k) => {
    for (let i = 0; i < n; i++) root[i * rank + k] = vectors[i * m + from]! * Math.sqrt(values[from]!);
  });
  const inputs = [options.mean, options.values, options.vectors];
  const variance = (i: number) => root.subarray(i * rank, (i + 1) * rank).reduce((sum, entry) => sum + entry ** 2, 0);
  requireRepresented({ asked: options.dtype, chosen: dtype, inputs }, mean, variance, centre);
  return yield* rooted({ device, dtype, n, mean }, { root, rank }, 'The covariance of `values` and `vectors`');
}

function epsilonOf(values: Values): number {
  return values.BYTES_PER_ELEMENT === 4 ? 2 ** -23 : 2 ** -52;
}

// The indices of the eigenvalues that are more than rounding of a variance. A bound on the eigenvalues themselves would
// drop a coordinate for its unit.
function usedValues(values: Float64Array, vectors: Float64Array, n: number, epsilon: number): number[] {
  const m = values.length;
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  values.forEach((value, i) => {
    if (value < -16 * Math.max(n, 8) * epsilon * largest)
      throw new CovariumError(
        'ERR_NOT_POSITIVE_DEFINITE',
        `\`values[${i}]\` is (${value}): pass eigenvalues of at least 0.`,
        { pivot: i },
      );
  });
  const isUsed = new Uint8Array(m);
  for (let i = 0; i < n; i++) {
    // Their squares may underflow.
    const row = values.map((value, k) => Math.sqrt(Math.max(0, value)) * Math.abs(vectors[i * m + k]!));
    const least = Math.sqrt(rankTolerance(n, 'float64')) * norm(row);
    for (let k = 0; k < m; k++) if (row[k]! > least) isUsed[k] = 1;
  }
  return [...values.keys()].filter((k) => isUsed[k] === 1);
}

function requireOrthonormal(products: Float64Array, m: number, tolerance: number): void {
  for (let i = 0; i < m; i++)
    for (let j = 0; j <= i; j++) {
      const product = products[i * m + j]!;
      if (Math.abs(product - (i === j ? 1 : 0)) <= tolerance) continue;
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        i === j
          ? `\`vectors\` column (${j}) has length (${Math.sqrt(product)}), not 1: eigenvectors are orthonormal.`
          : `\`vectors\` columns (${j}) and (${i}) are not orthonormal: their product is (${product}).`,
      );
    }
}
