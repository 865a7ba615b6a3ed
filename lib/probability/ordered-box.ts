import { CovariumError } from '../covarium-error.ts';
import type { Work } from '../work.ts';
import { cdf, density, probabilityBetween, quantile } from './standard-normal.ts';

/**
 * A box in coordinates y of independent standard normals. Row i means lower[i] <= factor[i] . y <= upper[i]; its last
 * nonzero factor is 1, that of coordinate j, and rows[j] to rows[j + 1] have the same j. There are more rows than
 * coordinates if the covariance is singular.
 */
interface OrderedBox {
  /** The rank. */
  readonly coordinates: number;
  readonly lower: Float64Array;
  readonly upper: Float64Array;
  /** `coordinates` entries for each row. */
  readonly factor: Float64Array;
  readonly rows: readonly number[];
  /** How far a coordinate moves where the probability of a later one goes from 0 to 1: of each row that has factors. */
  readonly steps: readonly number[];
}

const operationsAtOnce = 1 << 16;

/**
 * The box of normals with mean 0 and correlation `r` (m x m, row-major), its coordinates ordered by how much their
 * limits bind, the tightest first: the pivoted Cholesky factor of Genz and Bretz (J. Comput. Graph. Statist. 11, 2002,
 * section 3), which also gives the rank. Throws `ERR_NOT_POSITIVE_DEFINITE`.
 */
export function* orderedBox(lower: Float64Array, upper: Float64Array, r: Float64Array): Work<OrderedBox> {
  const m = lower.length;
  // The most that rounding may leave of a variance of 0 if all variances are 1.
  const tolerance = m * 2 ** -50;
  const factor = new Float64Array(m * m);
  const variance = new Float64Array(m).fill(1);
  const centre = new Float64Array(m);
  const open = new Set(Array.from({ length: m }, (_, row) => row));
  const order: number[][] = [];
  let operations = 0;
  for (let j = 0; open.size > 0; j++) {
    const pivot = tightest(open, (row) => {
      const deviation = Math.sqrt(variance[row]!);
      return probabilityBetween((lower[row]! - centre[row]!) / deviation, (upper[row]! - centre[row]!) / deviation);
    });
    const deviation = Math.sqrt(variance[pivot]!);
    const y = truncatedMean((lower[pivot]! - centre[pivot]!) / deviation, (upper[pivot]! - centre[pivot]!) / deviation);
    factor[pivot * m + j] = deviation;
    open.delete(pivot);
    const rows = [pivot];
    for (const row of open) {
      operations += j;
      if (operations > operationsAtOnce) {
        operations = 0;
        yield;
      }
      let rest = r[row * m + pivot]!;
      for (let k = 0; k < j; k++) rest -= factor[row * m + k]! * factor[pivot * m + k]!;
      const entry = rest / deviation;
      factor[row * m + j] = entry;
      centre[row]! += entry * y;
      variance[row]! -= entry * entry;
      if (variance[row]! > tolerance) continue;
      refuseIndefinite(variance[row]!, tolerance);
      open.delete(row);
      rows.push(row);
    }
    order.push(rows);
  }
  yield;
  return scaled(order, lower, upper, factor);
}

function tightest(rows: Iterable<number>, probability: (row: number) => number): number {
  let [best, least] = [-1, Number.POSITIVE_INFINITY];
  for (const row of rows) {
    const each = probability(row);
    if (each < least) [best, least] = [row, each];
  }
  return best;
}

// The mean of a standard normal between two limits; 0 if they are so far out that the probabilities underflow and both
// are infinite.
function truncatedMean(lower: number, upper: number): number {
  const mean = (density(lower) - density(upper)) / probabilityBetween(lower, upper);
  if (mean >= lower && mean <= upper) return mean;
  return lower > 0 ? lower : upper < 0 ? upper : 0;
}

// A matrix that is read from a file may be slightly indefinite by rounding; this one is more so.
function refuseIndefinite(variance: number, tolerance: number): void {
  if (variance < -Math.sqrt(tolerance))
    throw new CovariumError(
      'ERR_NOT_POSITIVE_DEFINITE',
      `Covariance is indefinite: a coordinate has conditional variance (${variance}), relative to its own.`,
    );
}

function scaled(
  order: readonly number[][],
  lower: Float64Array,
  upper: Float64Array,
  square: Float64Array,
): OrderedBox {
  const m = lower.length;
  const coordinates = order.length;
  const box = {
    coordinates,
    lower: new Float64Array(m),
    upper: new Float64Array(m),
    factor: new Float64Array(m * coordinates),
    rows: [0],
    steps: [] as number[],
  };
  let at = 0;
  for (const [j, rows] of order.entries()) {
    for (const row of rows) {
      const entry = square[row * m + j]!;
      box.lower[at] = (entry < 0 ? upper[row]! : lower[row]!) / entry;
      box.upper[at] = (entry < 0 ? lower[row]! : upper[row]!) / entry;
      let steepest = 0;
      for (let k = 0; k <= j; k++) {
        const share = square[row * m + k]! / entry;
        box.factor[at * coordinates + k] = share;
        if (k < j) steepest = Math.max(steepest, Math.abs(share));
      }
      if (steepest > 0) box.steps.push(1 / steepest);
      at++;
    }
    box.rows.push(at);
  }
  return box;
}
// The least probability above 0 and the largest below 1, whose quantiles are finite.
const [least, most] = [Number.MIN_VALUE, 1 - 2 ** -53];

/**
 * One value of the integrand whose mean over the unit cube is the probability of a box (Genz, J. Comput. Graph.
 * Statist. 1, 1992). Coordinate j is drawn by inversion from its conditional normal within the limits, with u[first +
 * j], and the probabilities of the limits are multiplied. The limits are multiplied by `scale`; `y` is overwritten.
 */
export function boxPoint(
  { coordinates, lower, upper, factor, rows }: OrderedBox,
  u: Float64Array,
  first: number,
  y: Float64Array,
  scale: number,
): number {
  let product = 1;
  for (let j = 0; j < coordinates; j++) {
    let [low, high] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let row = rows[j]!; row < rows[j + 1]!; row++) {
      let sum = 0;
      for (let k = 0; k < j; k++) sum += factor[row * coordinates + k]! * y[k]!;
      low = Math.max(low, scale * lower[row]! - sum);
      high = Math.min(high, scale * upper[row]! - sum);
    }
    if (!(low < high)) return 0;
    // In the lower tail a difference of probabilities keeps its digits.
    const turned = low > 0;
    const below = cdf(turned ? -high : low);
    const above = cdf(turned ? -low : high);
    const difference = above - below;
    product *= difference < 0.01 * above ? probabilityBetween(low, high) : difference;
    if (product === 0 || j === coordinates - 1) return product;
    const target = turned ? above - u[first + j]! * difference : below + u[first + j]! * difference;
    const drawn = quantile(Math.max(least, Math.min(most, target)));
    y[j] = Math.max(low, Math.min(high, turned ? -drawn : drawn));
  }
  return product;
}
