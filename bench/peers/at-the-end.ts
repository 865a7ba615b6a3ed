import { constants } from 'node:os';

const works = new Set<() => void>();
const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'].filter((name) => name in constants.signals) as NodeJS.Signals[];

/**
 * Does `work`, which must not wait, if this process ends before the answer is called: by process.exit(), by an error
 * that nobody catches, or by a signal that nobody else listens to.
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
  // Before the others, so that one that listens once is still counted.
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

/** What began last ends first. */
function end(): void {
  for (const work of [...works].reverse()) {
    works.delete(work);
    work();
  }
}
