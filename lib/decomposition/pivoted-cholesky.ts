/** A root A (n x rank) of a matrix A A', and what was left of it. */
export interface PivotedCholesky {
  /** n x rank, row-major. */
  readonly root: Float64Array<ArrayBuffer>;
  readonly rank: number;
  /**
   * What is left of the matrix once A A' is taken away is zero but for rounding where the matrix is positive
   * semidefinite: its diagonal entry that is most below zero, or its entry that is most beyond what the diagonal
   * allows, relative to the variables' own variances.
   */
  readonly worst: { readonly row: number; readonly column: number; readonly value: number };
}

/**
 * Cholesky's factor of a symmetric n x n matrix, with the variable of which most is left, relative to its own variance,
 * taken next, until no more than `tolerance` of any is left (Higham: Accuracy and Stability of Numerical Algorithms,
 * section 10.3). That the variables' units do not matter is the reason to take a variable's own variance for the
 * measure.
 */
export function pivotedCholesky(matrix: Float64Array, n: number, tolerance: number): PivotedCholesky {
  const left = Float64Array.from(matrix);
  const scale = Float64Array.from({ length: n }, (_, i) => Math.sqrt(Math.abs(matrix[i * (n + 1)]!)));
  const share = (i: number, j: number) => {
    const size = scale[i]! * scale[j]!;
    const entry = left[i * n + j]!;
    return size === 0 ? (entry === 0 ? 0 : Math.sign(entry) * Number.POSITIVE_INFINITY) : entry / size;
  };
  const columns: Float64Array[] = [];
  const taken = new Uint8Array(n);
  for (;;) {
    let pivot = -1;
    let most = tolerance;
    for (let i = 0; i < n; i++)
      if (taken[i] === 0 && share(i, i) > most) {
        pivot = i;
        most = share(i, i);
      }
    if (pivot < 0) break;
    taken[pivot] = 1;
    columns.push(eliminate(left, n, pivot, taken));
  }
  const rank = columns.length;
  const root = new Float64Array(n * rank);
  columns.forEach((column, k) => {
    for (let i = 0; i < n; i++) root[i * rank + k] = column[i]!;
  });
  let worst = { row: 0, column: 0, value: 0 };
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++) {
      if (taken[i] === 1 || taken[j] === 1) continue;
      const value = i === j ? Math.min(0, share(i, i)) : share(i, j);
      if (Math.abs(value) > Math.abs(worst.value)) worst = { row: i, column: j, value };
    }
  return { root, rank, worst };
}

// Takes the pivot's column off the matrix, and gives it; what was taken before has nothing left.
function eliminate(left: Float64Array, n: number, pivot: number, taken: Uint8Array): Float64Array {
  const column = new Float64Array(n);
  const length = Math.sqrt(left[pivot * (n + 1)]!);
  column[pivot] = length;
  const others: number[] = [];
  for (let i = 0; i < n; i++)
    if (taken[i] === 0) {
      column[i] = left[i * n + pivot]! / length;
      others.push(i);
    }
  for (const i of others) for (const j of others) left[i * n + j]! -= column[i]! * column[j]!;
  return column;
}
