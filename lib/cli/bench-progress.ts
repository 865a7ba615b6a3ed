import { Presets, SingleBar } from 'cli-progress';
import type { Observer } from '../../bench/run-benchmark.ts';

/** Tells on standard error how a benchmark goes on: an estimate of its time, and a bar where that is a terminal, else what begins. */
export interface BenchProgress extends Observer {
  stop(): void;
}

export function benchProgress(): BenchProgress {
  let bar: SingleBar | undefined;
  const { stderr } = process;
  const stop = () => {
    bar?.stop();
    bar = undefined;
  };
  return {
    estimate: (what, milliseconds) => {
      stop();
      stderr.write(`${what} takes about ${duration(milliseconds)}.\n`);
    },
    begin: (what, amount) => {
      stop();
      if (!stderr.isTTY) {
        stderr.write(`${what}.\n`);
        return;
      }
      const format = `${what} {bar} {percentage}% | {eta_formatted} left | {now}`;
      bar = new SingleBar({ format, stream: stderr, clearOnComplete: true }, Presets.shades_classic);
      bar.start(amount, 0, { now: '' });
    },
    advance: (amount, now) => bar?.increment(amount, { now }),
    stop,
  };
}

function duration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
