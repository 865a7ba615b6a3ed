// Limits for holds of the JavaScript thread in tests: no longer than a loop that is timed in the same run, and took
// 20 ms on an AMD EPYC of 2.45 GHz. Both are processor time of the thread, so that a busy machine does not count.
import * as assert from 'uvu/assert';
import { holdsOf, stepOfThreadClock } from '../../bench/longest-hold.ts';

export async function loop(): Promise<number> {
  let sum = 0;
  for (let i = 0; i < 24_000_000; i++) sum += 1e-9 * i;
  return sum;
}

/**
 * Processor time of the loop in ms (the median of several), plus one step of the clock: on a clock with steps of 4
 * ms, work as long as the loop may take one step more. Undefined if the system does not tell a thread's time.
 */
export async function allowedMs(): Promise<number | undefined> {
  const all: number[] = [];
  for (let round = 0; round < 9; round++) {
    const holds = await holdsOf(loop);
    if (!holds.isProcessorTime) {
      console.log('skipped  holds of the thread: the system does not tell the processor time of a thread');
      return undefined;
    }
    all.push(holds.longestMs);
  }
  return all.sort((a, b) => a - b)[4]! + stepOfThreadClock();
}

/** A garbage collection sometimes takes longer, so only the shortest of several tries must be within the limit. */
export async function holdsShortly(what: string, allowed: number, work: () => Promise<unknown>): Promise<void> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 6 && least > allowed; round++) least = Math.min(least, (await holdsOf(work)).longestMs);
  assert.ok(least <= allowed, `${what} holds the thread for (${least}) ms, the loop for (${allowed})`);
}
