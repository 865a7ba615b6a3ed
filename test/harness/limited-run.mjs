// A program with a limit of time: it and what it started end together, and nobody waits for one that cannot end, as
// where a driver does not answer.
import { spawn } from 'node:child_process';

/**
 * Whether the program ends with 0 within so many seconds; `write` takes what it prints and how it ended. `stopping` has
 * the function that ends it meanwhile: its group gets no Ctrl-C of the terminal.
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
    const end = (how, isGood) => {
      clearTimeout(timer);
      stopping.delete(stop);
      write(`\n${how}\n`);
      resolve(isGood);
    };
    const timer = setTimeout(() => {
      stop();
      for (const each of [child.stdout, child.stderr]) each.destroy();
      child.removeAllListeners('close');
      child.unref();
      end(`does not end within ${seconds} seconds, and is stopped`, false);
    }, seconds * 1000);
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => write(chunk.toString()));
    child.on('error', (error) => write(`${error.message}\n`));
    child.on('close', (code) => end(`ends with ${code}`, code === 0));
  });
}
