import { CovariumError } from '../covarium-error.ts';
import { lowerEchelon } from '../decomposition/echelon.ts';
import { meanInput } from '../distribution-input.ts';
import { RootFactor } from '../factor/root-factor.ts';
import { Matrix } from '../matrix.ts';
import { fromCholesky, givenFactor, type NormalParameters } from '../normal-parameters.ts';
import { type Procedure, step } from '../procedure.ts';

/** Where a new normal lives. */
export type Place = Pick<NormalParameters, 'device' | 'dtype'>;

/**
 * The normal of a mean (m) and rows A (m x width, overwritten) of a root: its covariance is A A'. `tolerance` is that of {@link lq}. Throws
 * `ERR_NOT_POSITIVE_DEFINITE` where it is singular and may not be.
 */
export function* fromRoot(
  place: Place,
  mean: Float64Array,
  rows: Float64Array,
  tolerance: number,
  isSingularAllowed: boolean,
): Procedure<NormalParameters> {
  const m = mean.length;
  const width = rows.length / m;
  const pivots = lowerEchelon(rows, m, width, tolerance);
  return yield* fromEchelon(place, mean, rows, pivots, isSingularAllowed);
}

/** The same of rows that are an echelon already, with the columns of its pivots. */
export function* fromEchelon(
  { device, dtype }: Place,
  mean: Float64Array,
  rows: Float64Array,
  pivots: Int32Array,
  isSingularAllowed: boolean,
): Procedure<NormalParameters> {
  const m = mean.length;
  const width = rows.length / m;
  const pivot = pivots.indexOf(-1);
  if (pivot >= 0 && !isSingularAllowed)
    throw new CovariumError(
      'ERR_NOT_POSITIVE_DEFINITE',
      `Covariance of the result is not positive definite: the coordinates before it determine coordinate (${pivot}).`,
      { pivot },
    );
  // An echelon has nothing behind its last pivot.
  const rank = pivots.filter((column) => column >= 0).length;
  const root = new Float64Array(m * rank);
  for (let i = 0; i < m; i++) root.set(rows.subarray(i * width, i * width + rank), i * rank);
  if (rank === m) return yield* step(fromCholesky({ device, dtype, mean, factor: Matrix.from(root, { columns: m }) }));
  const input = { device, dtype, n: m, mean: meanInput(device, mean, dtype) };
  return yield* step(givenFactor(input, (here) => RootFactor.of(here, root, m, rank)));
}
