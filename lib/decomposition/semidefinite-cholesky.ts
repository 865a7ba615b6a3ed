import { CovariumError } from '../covarium-error.ts';

/**
 * A lower triangular L (m x m) with L L' = A, of a symmetric A that may be singular: a column is zero where nothing is
 * left of its pivot, and then nothing may be left below it. Throws `ERR_NOT_POSITIVE_DEFINITE` for what is not positive
 * semidefinite.
 */
export function semidefiniteRoot(name: string, a: Float64Array, m: number): Float64Array {
  const tolerance = 8 * m * 2 ** -52;
  const root = new Float64Array(m * m);
  const left = (i: number, j: number) => {
    let rest = a[i * m + j]!;
    for (let k = 0; k < j; k++) rest -= root[i * m + k]! * root[j * m + k]!;
    return rest;
  };
  for (let j = 0; j < m; j++) {
    const own = a[j * (m + 1)]!;
    const pivot = left(j, j);
    const isZero = Math.abs(pivot) <= tolerance * own;
    if (pivot < 0 && !isZero) refuse(name, j, pivot);
    root[j * (m + 1)] = isZero ? 0 : Math.sqrt(pivot);
    for (let i = j + 1; i < m; i++) {
      const rest = left(i, j);
      if (!isZero) root[i * m + j] = rest / root[j * (m + 1)]!;
      // |rest|^2 is at most the product of what is left of both pivots.
      else if (Math.abs(rest) > Math.sqrt(tolerance * own * a[i * (m + 1)]!)) refuse(name, j, pivot);
    }
  }
  return root;
}

function refuse(name: string, pivot: number, value: number): never {
  throw new CovariumError(
    'ERR_NOT_POSITIVE_DEFINITE',
    `${name} is not positive semidefinite: pivot (${pivot}) is (${value}).`,
    { pivot },
  );
}
