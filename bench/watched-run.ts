// What one run takes in addition to time: memory, and the JavaScript thread.
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Holds, holdsOf } from './longest-hold.ts';
import type { Use } from './results.ts';

/** Runs once in this process, after a garbage collection. */
export async function watchedHere(run: () => Promise<unknown>): Promise<Use> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // V8 gives the memory of arrays back on another thread, some time later.
  for (let round = 0; round < 2; round++) {
    collect();
    await setTimeout(100);
  }
  let holds: Holds | undefined;
  const peakMemory = await peakMemoryOf('self', async () => {
    holds = await holdsOf(run);
  });
  return { peakMemory, longestHold: holds?.isProcessorTime ? holds.longestMs * 1e6 : null };
}

/**
 * The most memory that a process takes during `run` beyond what it has before, in bytes; null if the system does not
 * tell. Linux does.
 */
export async function peakMemoryOf(pid: number | 'self', run: () => Promise<unknown>): Promise<number | null> {
  let before: number | undefined;
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    before = kibibytes(pid, 'VmRSS');
  } catch {}
  await run();
  try {
    return before === undefined ? null : 1024 * Math.max(0, kibibytes(pid, 'VmHWM') - before);
  } catch {
    return null;
  }
}

function kibibytes(pid: number | 'self', field: string): number {
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'latin1'))![1]);
}
