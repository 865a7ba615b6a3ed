import type { Work } from './contender.ts';
import { copiedBytes } from './limits.ts';
import type { Limit } from './results.ts';

/**
 * The time that the limit allows divided by `median` (nanoseconds). Normals and flops follow one another (a CPU makes
 * both with the same ports), bytes move meanwhile. Null where the work is none that a limit is known for.
 */
export function shareOfLimit({ flops, bytes, normals }: Work, limit: Limit | undefined, median: number): number | null {
  if (limit === undefined) return null;
  const computing = normals / limit.normalsPerSecond + flops / limit.flopsPerSecond;
  // Less than what the rate was measured with may stay in a cache, where copying through memory is no limit.
  const moving = bytes < copiedBytes ? 0 : bytes / limit.bytesPerSecond;
  const seconds = Math.max(computing, moving);
  return seconds === 0 ? null : (seconds * 1e9) / median;
}
