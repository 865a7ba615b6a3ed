import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));
const native = new URL('../lib/addon/native.ts', import.meta.url).href;

export interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a module's text in a process of its own, where `open(threads)` opens the cpu device of the addon. */
export function runChild(text: string, env: NodeJS.ProcessEnv = process.env): Promise<Ending> {
  const head = `import { loadAddon } from '${native}';\nconst open = (threads) => loadAddon().addon.openDevice('cpu', { threads });\n`;
  return runNode(['--expose-gc', '--import', 'tsx', '--input-type=module', '--eval', head + text], env);
}

/** Runs node; one that has not ended after two minutes is killed. */
export function runNode(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Ending> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: folder, env, timeout: 120_000, killSignal: 'SIGKILL' });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.on('close', (code, signal) => resolve({ code, signal, stdout: stdout.trim(), stderr: stderr.trim() }));
  });
}
