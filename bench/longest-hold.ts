// How long work holds the JavaScript thread: its processor time between two turns of the event loop, so that other
// programs of a busy machine do not count; elapsed time where the system does not tell it.
import { closeSync, openSync, readSync } from 'node:fs';

/** How long work held the JavaScript thread. */
export interface Holds {
  readonly turns: number;
  /** The longest time between two turns of the event loop, in ms. */
  readonly longestMs: number;
  /** False if it is elapsed time, because the system does not tell the processor time of a thread. */
  readonly isProcessorTime: boolean;
}

/** Processor time of this thread, in ms; undefined where the system does not tell. Linux has it for every Node. */
function threadClock(): { now(): number; close(): void } | undefined {
  const { threadCpuUsage } = process as { threadCpuUsage?: () => { user: number; system: number } };
  if (process.platform === 'linux') {
    const file = openSync('/proc/thread-self/schedstat', 'r');
    const bytes = Buffer.alloc(64);
    const now = () => Number(bytes.toString('latin1', 0, readSync(file, bytes, 0, 64, 0)).split(' ')[0]) / 1e6;
    return { now, close: () => closeSync(file) };
  }
  if (threadCpuUsage === undefined) return undefined;
  const now = () => {
    const { user, system } = threadCpuUsage.call(process);
    return (user + system) / 1e3;
  };
  return { now, close: () => {} };
}

/**
 * The largest step in which the processor time of this thread grows, in ms: some systems count in steps of 4 ms. 0 if
 * the system does not tell.
 */
export function stepOfThreadClock(): number {
  const clock = threadClock();
  if (clock === undefined) return 0;
  let most = 0;
  for (let steps = 0, last = clock.now(); steps < 20; ) {
    const now = clock.now();
    if (now === last) continue;
    most = Math.max(most, now - last);
    last = now;
    steps++;
  }
  clock.close();
  return most;
}

/** Watches the event loop while `work` runs. */
export async function holdsOf(work: () => Promise<unknown>): Promise<Holds> {
  const ofThread = threadClock();
  const clock = ofThread ?? { now: () => performance.now(), close: () => {} };
  let turns = 0;
  let longestMs = 0;
  let isDone = false;
  let before = clock.now();
  const turn = () => {
    if (isDone) return;
    const now = clock.now();
    longestMs = Math.max(longestMs, now - before);
    // The time to read the clock does not count.
    before = clock.now();
    turns++;
    setImmediate(turn);
  };
  setImmediate(turn);
  try {
    await work();
    // The last hold, up to the end of `work`, counts too.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    isDone = true;
    clock.close();
  }
  return { turns, longestMs, isProcessorTime: ofThread !== undefined };
}
