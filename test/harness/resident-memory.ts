import { setImmediate } from 'node:timers/promises';

/** Resident memory of this process, in MiB, after garbage collection and finalizers; needs --expose-gc. */
export async function residentMebibytes(): Promise<number> {
  for (let turn = 0; turn < 4; turn++) {
    globalThis.gc?.();
    await setImmediate();
  }
  return process.memoryUsage.rss() / 2 ** 20;
}
