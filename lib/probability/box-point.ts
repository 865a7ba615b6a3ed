import type { OrderedBox } from './ordered-box.ts';
import { between, cdf, quantile } from './standard-normal.ts';

// The largest probability below 1, and the least above 0: their quantiles are finite.
const [least, most] = [Number.MIN_VALUE, 1 - 2 ** -53];

/**
 * One value of the integrand whose mean over the unit cube is the probability of a box (Genz, J. Comput. Graph. Statist. 1, 1992):
 * coordinate j is drawn by inversion from its conditional normal within the limits, by u[first + j], and the probabilities of those
 * limits are multiplied. The limits are taken times `scale`; `y` is overwritten.
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
    // In the lower tail, where a difference of probabilities keeps its digits.
    const turned = low > 0;
    const below = cdf(turned ? -high : low);
    const above = cdf(turned ? -low : high);
    const difference = above - below;
    product *= difference < 0.01 * above ? between(low, high) : difference;
    if (product === 0 || j === coordinates - 1) return product;
    const target = turned ? above - u[first + j]! * difference : below + u[first + j]! * difference;
    const drawn = quantile(Math.max(least, Math.min(most, target)));
    y[j] = Math.max(low, Math.min(high, turned ? -drawn : drawn));
  }
  return product;
}
