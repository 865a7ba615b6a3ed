import { constants } from 'node:os';
import { removeUnfinished, watchUnfinished } from '../file/unfinished.ts';

const names = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

// Work that is told to stop has this long. A benchmark finishes its current case, and reports what it has measured.
let patienceMs = 5000;

const controller = new AbortController();

/**
 * Aborted by a signal to the process while there is something to clean up; at other times a signal ends the process at
 * once.
 */
export const interruption: AbortSignal = controller.signal;

let interruptedBy: (typeof names)[number] | undefined;
let holds = 0;
let isListening = false;

/** 128 + the number of the signal that interrupted (130: Ctrl-C); undefined if none did. */
export function interruptedCode(): number | undefined {
  return interruptedBy && 128 + constants.signals[interruptedBy];
}

/** Runs work that must clean up more than files. */
export async function tidily<Result>(work: () => Promise<Result>): Promise<Result> {
  hold(true);
  patienceMs = 30_000;
  try {
    return await work();
  } finally {
    hold(false);
  }
}

/** From now on, signals are handled while files are unfinished. */
export function interruptible(): void {
  watchUnfinished(hold);
}

function hold(some: boolean): void {
  holds += some ? 1 : -1;
  // A signal that arrives just as the last file is finished is handled one turn of the event loop later.
  if (some) listen();
  else setTimeout(() => holds === 0 && ignore(), 10).unref();
}

function listen(): void {
  if (isListening) return;
  isListening = true;
  for (const name of names) process.on(name, interrupt);
}

function ignore(): void {
  isListening = false;
  for (const name of names) process.off(name, interrupt);
}

function interrupt(name: NodeJS.Signals): void {
  if (interruptedBy !== undefined) {
    endNow(name);
    return;
  }
  interruptedBy = name as (typeof names)[number];
  controller.abort(new Error(name));
  // For example a read that never returns.
  setTimeout(() => endNow(name), patienceMs).unref();
}

// process.exit() would wait for such a read too; only the signal itself does not.
function endNow(name: NodeJS.Signals): void {
  removeUnfinished();
  ignore();
  process.kill(process.pid, name);
}
