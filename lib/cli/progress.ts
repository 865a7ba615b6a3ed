import { Presets, SingleBar } from 'cli-progress';
import type { Observer } from '../../bench/run-benchmark.ts';

/** Reports how many rows are done. */
interface Progress {
  /** Call with the number of further rows that are done. */
  readonly advance: (rows: number) => void;
  stop(): void;
}

// Shorter work needs no bar.
const delayMs = 500;

/** A progress bar on standard error if that is a terminal and the work takes longer; otherwise nothing. */
export function progressBar(total: number): Progress {
  if (!process.stderr.isTTY) return { advance: () => {}, stop: () => {} };
  const bar = new SingleBar(
    { ...lineOf(total, process.stderr.columns ?? 80), stream: process.stderr, clearOnComplete: true },
    Presets.shades_classic,
  );
  const startMs = performance.now();
  let isShown = false;
  let done = 0;
  return {
    advance: (rows) => {
      done += rows;
      if (!isShown && performance.now() - startMs < delayMs) return;
      if (!isShown) bar.start(total, done);
      isShown = true;
      bar.update(done);
    },
    stop: () => {
      if (isShown) bar.stop();
    },
  };
}

/** A line that fits a terminal: a narrow one shows less, a wider one a longer bar. */
export function lineOf(total: number, columns: number): { readonly format: string; readonly barsize: number } {
  const rows = ` 100% | ${total} of ${total} rows | 00h00m left `.length;
  const time = ' 100% | 00h00m left '.length;
  const format = '{bar} {percentage}% | {value} of {total} rows | {eta_formatted} left';
  if (columns >= rows + 10) return { format, barsize: Math.min(40, columns - rows) };
  return { format: '{bar} {percentage}% | {eta_formatted} left', barsize: Math.max(1, Math.min(40, columns - time)) };
}

/**
 * Reports a benchmark's progress on standard error: an estimate of its time, and a bar on a terminal, otherwise a line
 * for each case.
 */
interface BenchProgress extends Observer {
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
