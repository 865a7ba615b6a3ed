import type { Problem } from '../contender.ts';
import { isRandom } from './cases.ts';

/** The most rows of a peer's draws that are checked. */
export const rowsLookedAt = 4096;

// A correct peer exceeds this many standard errors about once in 10^23 runs.
const standardErrors = 10;

/**
 * What is compared of a peer's result: the result itself, or undefined for draws, whose moments are checked here.
 * Throws if the length is wrong, a number is not finite, or the draws do not come from the requested normal.
 */
export function checkResult(
  problem: Problem,
  result: Float32Array | Float64Array,
): Float32Array | Float64Array | undefined {
  // A function's result is compared later, including its length.
  const asked = problem.suite === 'functions' ? result.length : lengthOf(problem);
  if (result.length !== asked)
    throw new Error(`The result has (${result.length}) numbers, where (${asked}) are asked for.`);
  const bad = result.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) throw new Error(`The result has (${result[bad]}) at index (${bad}).`);
  if (!isRandom(problem)) return result;
  if (problem.suite !== 'functions') checkMoments(problem, result);
  return undefined;
}

/** How many numbers a result has; for draws, how many the checked rows have. */
function lengthOf(problem: Problem): number {
  const n = problem.dimension ?? 1;
  if (isRandom(problem)) return Math.min(problem.count ?? 1, rowsLookedAt) * n;
  if (problem.suite === 'tables') return problem.count! * n;
  if (problem.suite === 'batches') return problem.count!;
  return ['matrix-product', 'cholesky', 'triangular'].includes(problem.suite) ? n * n : n;
}

/**
 * Checks the mean of the rows' sums and, if there are enough rows, their variance: they show a wrong mean, scale or
 * factor.
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
