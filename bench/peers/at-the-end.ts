import { constants } from 'node:os';

const works = new Set<() => void>();
const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'].filter((name) => name in constants.signals) as NodeJS.Signals[];

/**
 * Runs `work`, which must be synchronous, if this process ends before the returned function is called: by
 * process.exit(), by an uncaught error, or by a signal that nobody else listens to.
 */
export function atTheEnd(work: () => void): () => void {
  if (works.size === 0) listen();
  works.add(work);
  return () => {
    if (works.delete(work) && works.size === 0) forget();
  };
}

function listen(): void {
  process.on('exit', end);
  // Prepended, so that a listener added by once() is still there when `die` counts listeners.
  for (const name of signals) process.prependListener(name, die);
}

function forget(): void {
  process.off('exit', end);
  for (const name of signals) process.off(name, die);
}

function die(name: NodeJS.Signals): void {
  if (process.listenerCount(name) > 1) return;
  end();
  forget();
  process.kill(process.pid, name);
}

/** Runs the work in reverse order. */
function end(): void {
  for (const work of [...works].reverse()) {
    works.delete(work);
    work();
  }
}
