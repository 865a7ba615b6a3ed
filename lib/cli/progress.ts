import { Presets, SingleBar } from 'cli-progress';

/** Tells how many rows are done. */
export interface Progress {
  /** So many more rows are done. */
  readonly advance: (rows: number) => void;
  stop(): void;
}

// Work that ends sooner needs no bar.
const delayMs = 500;

/** A bar on standard error where that is a terminal, for work that lasts; nothing elsewhere. */
export function progressBar(total: number): Progress {
  if (!process.stderr.isTTY) return { advance: () => {}, stop: () => {} };
  const format = '{bar} {percentage}% | {value} of {total} rows | {eta_formatted} left';
  const bar = new SingleBar({ format, stream: process.stderr, clearOnComplete: true }, Presets.shades_classic);
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
