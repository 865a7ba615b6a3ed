import type { Problem } from '../contender.ts';
import { isRandom } from './cases.ts';

/** Of a peer's draws no more rows than these are looked at. */
export const rowsLookedAt = 4096;

// A correct peer exceeds this many standard errors about once in 10^23 runs.
const standardErrors = 10;

/**
 * What a peer's result is compared by: the result itself, or undefined for draws, whose moments are looked at here.
 * Throws where the length is wrong, a number is not finite, or the draws do not come from the normal that was asked
 * for.
 */
export function checkResult(
  problem: Problem,
  result: Float32Array | Float64Array,
): Float32Array | Float64Array | undefined {
  // The result of a function is compared, its length included.
  const asked = problem.suite === 'functions' ? result.length : lengthOf(problem);
  if (result.length !== asked)
    throw new Error(`The result has (${result.length}) numbers, where (${asked}) are asked for.`);
  const bad = result.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) throw new Error(`The result has (${result[bad]}) at index (${bad}).`);
  if (!isRandom(problem)) return result;
  if (problem.suite !== 'functions') checkMoments(problem, result);
  return undefined;
}

/** The number of numbers of a result; of draws, that of the rows that are looked at. */
function lengthOf(problem: Problem): number {
  const n = problem.dimension ?? 1;
  if (isRandom(problem)) return Math.min(problem.count ?? 1, rowsLookedAt) * n;
  if (problem.suite === 'tables') return problem.count! * n;
  if (problem.suite === 'batches') return problem.count!;
  return ['matrix-product', 'cholesky', 'triangular'].includes(problem.suite) ? n * n : n;
}

/**
 * Mean and variance of each row's sum, the second where rows are enough: they show a mean, a scale or a factor that is
 * wrong.
 */
function checkMoments(problem: Problem, draws: Float32Array | Float64Array): void {
  const n = problem.dimension ?? 1;
  const count = draws.length / n;
  const { mean, covariance } = problem.suite === 'normals' ? {} : problem.inputs();
  const sumOf = (values: Float32Array | Float64Array): number => {
    let sum = 0;
    for (const value of values) sum += value;
    return sum;
  };
  const expected = mean === undefined ? 0 : sumOf(mean);
  const variance = covariance === undefined ? n : sumOf(covariance);
  const sums = Array.from({ length: count }, (_, row) => sumOf(draws.subarray(row * n, (row + 1) * n)));
  const average = sums.reduce((sum, value) => sum + value, 0) / count;
  if (Math.abs(average - expected) > standardErrors * Math.sqrt(variance / count))
    throw new Error(`The draws' sums have mean (${average}), where (${expected}) is asked for.`);
  if (count < 1000) return;
  const spread = sums.reduce((sum, value) => sum + (value - average) ** 2, 0) / (count - 1);
  if (Math.abs(spread / variance - 1) > standardErrors * Math.sqrt(2 / count))
    throw new Error(`The draws' sums have variance (${spread}), where (${variance}) is asked for.`);
}
