// Runs a program with a time limit. It is ended together with what it started, and nothing waits for a process that
// cannot end, for example because a driver does not answer.
import { spawn } from 'node:child_process';

/** The status of a program that is stopped, as timeout(1) has it. */
export const hangs = 124;

/**
 * The status with which the program ends, or `hangs` after `seconds`; `write` gets what it prints and how it ended.
 * `stopping` holds a function that ends it early, because its process group gets no Ctrl-C from the terminal.
 */
export function limitedRun(command, args, { cwd, seconds, write, stopping = new Set() }) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const stop = () => {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    };
    stopping.add(stop);
    const end = (how, status) => {
      clearTimeout(timer);
      stopping.delete(stop);
      write(`\n${how}\n`);
      resolve(status);
    };
    const timer = setTimeout(() => {
      stop();
      for (const each of [child.stdout, child.stderr]) each.destroy();
      child.removeAllListeners('close');
      child.unref();
      end(`does not end within ${seconds} seconds, and is stopped`, hangs);
    }, seconds * 1000);
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => write(chunk.toString()));
    child.on('error', (error) => write(`${error.message}\n`));
    child.on('close', (code) => end(`ends with ${code}`, code ?? 1));
  });
}
