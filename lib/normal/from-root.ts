import { areFinite, marked } from '../check.ts';
import { step, type Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { lowerEchelon } from '../decomposition/echelon.ts';
import type { Root } from '../decomposition/semidefinite-root.ts';
import { LowerFactor } from '../factor/lower-factor.ts';
import { type Allocate, kept } from '../factor/parts.ts';
import { RootFactor, rootNumbers } from '../factor/root-factor.ts';
import { inRows, type Work } from '../work.ts';
import { meanInput, type NormalInput } from './inputs.ts';
import { givenFactor, type NormalParameters, resultName } from './parameters.ts';
import { requireHeld } from './represented.ts';

/** The device and type of a new normal. */
type NewNormal = Pick<NormalParameters, 'device' | 'dtype'>;

/**
 * The normal of a mean (m) and the rows A (m x width, overwritten) of a root: its covariance is A A'. `tolerance` is
 * that of {@link lq}. Throws `ERR_NOT_POSITIVE_DEFINITE` if the covariance is singular and that is not allowed.
 */
export function* fromRoot(
  target: NewNormal,
  mean: Float64Array,
  rows: Float64Array<ArrayBuffer>,
  tolerance: number,
  isSingularAllowed: boolean,
): Tasks<NormalParameters> {
  const m = mean.length;
  const width = rows.length / m;
  const pivots = yield* lowerEchelon(target.device, rows, m, width, tolerance);
  return yield* fromEchelon(target, mean, rows, pivots, isSingularAllowed);
}

/** Like {@link fromRoot} for rows (overwritten) that already are an echelon, with the columns of its pivots. */
export function* fromEchelon(
  { device, dtype }: NewNormal,
  mean: Float64Array,
  rows: Float64Array,
  pivots: Float64Array,
  isSingularAllowed: boolean,
): Tasks<NormalParameters> {
  const m = mean.length;
  const width = rows.length / m;
  const pivot = pivots.indexOf(-1);
  if (pivot >= 0 && !isSingularAllowed)
    throw new CovariumError(
      'ERR_NOT_POSITIVE_DEFINITE',
      `Covariance of the result is not positive definite: the coordinates before it determine coordinate (${pivot}).`,
      { pivot },
    );
  // The columns after the last pivot of an echelon are 0.
  let rank = 0;
  for (const column of pivots) if (column >= 0) rank++;
  const root = width > rank ? yield* withoutLastColumns(rows, width, rank) : rows;
  const input = { device, dtype, n: m, mean: meanInput(device, mean, dtype, undefined, "The result's mean") };
  if (rank === m) return yield* lowerNormal(input, root, resultName);
  const numbers = yield* rootNumbers(device, root, m, rank);
  return yield* step(givenFactor(input, (allocate) => RootFactor.of(allocate, numbers, rank)));
}

/**
 * Throws `ERR_OUT_OF_RANGE` at the first mean of a result that float64 does not hold; `argument` is what made it, and
 * `coordinate` says whose mean it is.
 */
export function requireFiniteMean(argument: string, mean: Float64Array, coordinate: (i: number) => number): void {
  const at = mean.findIndex((entry) => !Number.isFinite(entry));
  if (at < 0) return;
  throw new CovariumError(
    'ERR_OUT_OF_RANGE',
    `\`${argument}\` gives coordinate (${coordinate(at)}) the mean (${mean[at]}), which float64 does not hold. Scale it.`,
  );
}

/** The first columns of rows, in place, since new memory takes longer than the numbers. */
export function* withoutLastColumns(rows: Float64Array, width: number, count: number): Work<Float64Array> {
  const m = rows.length / width;
  yield* inRows(m, width, (from, to) => {
    // A call costs as much as to copy some dozen numbers.
    if (count > 64) for (let i = from; i < to; i++) rows.copyWithin(i * count, i * width, i * width + count);
    else moveRows(rows, width, count, from, to);
  });
  return rows.subarray(0, m * count);
}

function moveRows(rows: Float64Array, width: number, count: number, from: number, to: number): void {
  for (let i = from, at = from * count; i < to; i++)
    for (let k = i * width; k < i * width + count; k++) rows[at++] = rows[k]!;
}

/**
 * The normal of a root of its covariance. For a root of full rank A = L Q, the covariance is L L', and the normal gets
 * its Cholesky factor. That factor is unique, so draws do not depend on how the normal was made. `square` is what an
 * error calls that covariance.
 */
export function* rooted(
  input: Pick<NormalInput, 'device' | 'dtype' | 'n' | 'mean'>,
  { root, rank }: Root,
  square: string,
): Tasks<NormalParameters> {
  const { device, n } = input;
  if (rank < n) {
    const numbers = yield* rootNumbers(device, root, n, rank);
    return yield* step(givenFactor(input, (allocate) => RootFactor.of(allocate, numbers, rank), square));
  }
  const lower = root.slice();
  yield* lowerEchelon(device, lower, n, n, 0);
  return yield* lowerNormal(input, lower, square);
}

type Input = Pick<NormalInput, 'device' | 'dtype' | 'n' | 'mean'>;

/** The normal of a lower factor (n x n) with zeros above its diagonal. */
function* lowerNormal(input: Input, lower: Float64Array, square: string): Tasks<NormalParameters> {
  const { n, dtype } = input;
  let isKnown = dtype === 'float64';
  if (isKnown)
    yield* inRows(n, n, (from, to) => {
      isKnown &&= areFinite(lower, from * n, to * n);
    });
  const make = (allocate: Allocate) => {
    const storage = kept({ lower }, allocate).lower;
    try {
      requireHeld(`${marked(square)} has a factor whose`, lower, storage.values, n, n + 1);
    } catch (error) {
      storage.close();
      throw error;
    }
    return new LowerFactor(storage, n);
  };
  return yield* step(givenFactor(input, make, square, isKnown));
}
