import { normalCdf } from './normal-cdf.ts';
import type { Check } from './stream-statistics.ts';

/**
 * Chi-squared and Kolmogorov-Smirnov tests of draws over equally probable cells, between edges in ascending order.
 */
export function cellChecks(draws: Iterable<number>, edges: readonly number[]): Check[] {
  const table = new Float64Array(edges.length + 1);
  let count = 0;
  for (const draw of draws) {
    let low = 0;
    let high = edges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (draw < edges[middle]!) high = middle;
      else low = middle + 1;
    }
    table[low]!++;
    count++;
  }
  const expected = count / table.length;
  let sum = 0;
  let below = 0;
  let largest = 0;
  for (const [cell, found] of table.entries()) {
    sum += (found - expected) ** 2 / expected;
    below += found;
    largest = Math.max(largest, Math.abs(below / count - (cell + 1) / table.length));
  }
  // By the cube root of Wilson and Hilferty (1931); too even is as suspicious as too uneven.
  const spread = 2 / (9 * edges.length);
  const deviation = (Math.cbrt(sum / edges.length) - (1 - spread)) / Math.sqrt(spread);
  return [
    { name: `chi-squared, ${table.length} cells`, p: 2 * normalCdf(-Math.abs(deviation)) },
    { name: 'Kolmogorov-Smirnov', p: Math.min(1, 2 * Math.exp(-2 * count * largest * largest)) },
  ];
}
