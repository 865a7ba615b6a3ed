import type { Work } from './contender.ts';
import { copiedBytes } from './limits.ts';
import type { Limit } from './results.ts';

/**
 * The time that the limit allows divided by `median` (nanoseconds). Normals and flops follow one another (a CPU makes
 * both with the same ports), bytes move meanwhile. Null if no limit is known for the work.
 */
export function shareOfLimit({ flops, bytes, normals }: Work, limit: Limit | undefined, median: number): number | null {
  if (limit === undefined) return null;
  const computing = normals / limit.normalsPerSecond + flops / limit.flopsPerSecond;
  // Fewer bytes than the rate was measured with may stay in a cache, where the memory's rate is not a limit.
  const moving = bytes < copiedBytes ? 0 : bytes / limit.bytesPerSecond;
  const seconds = Math.max(computing, moving);
  return seconds === 0 ? null : (seconds * 1e9) / median;
}
