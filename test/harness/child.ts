import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const folder = fileURLToPath(new URL('../..', import.meta.url));
const env: NodeJS.ProcessEnv & { COVARIUM_COMPILED_TESTS?: string } = process.env;
const { COVARIUM_COMPILED_TESTS: compiled } = env;

/**
 * Options of a node that loads our modules: none if test/run.ts has compiled them, tsx if a test is run by hand.
 */
export const nodeOptions: readonly string[] = compiled === undefined ? ['--import', import.meta.resolve('tsx')] : [];

/**
 * One of our modules for another process or thread, such as lib/index.ts: its compiled code if test/run.ts has
 * compiled it (compile.ts has the list).
 */
export function modulePath(path: string): string {
  return compiled === undefined ? join(folder, path) : join(compiled, path.replace(/\.ts$/, '.js'));
}

export function moduleUrl(path: string): string {
  return pathToFileURL(modulePath(path)).href;
}

export interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a module's text in a new process, where `open(threads)` opens the cpu device of the addon. */
export function runChild(text: string, env: NodeJS.ProcessEnv = process.env): Promise<Ending> {
  const head = `import { loadAddon } from '${moduleUrl('lib/addon/native.ts')}';\nconst open = (threads) => loadAddon().addon.openDevice('cpu', { threads });\n`;
  return runNode(['--expose-gc', ...nodeOptions, '--input-type=module', '--eval', head + text], env);
}

/** Starts node, in the repository. */
export function spawnNode(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, args, { cwd: folder, stdio: 'inherit' });
}

/** Runs node; one that has not ended after `timeout` ms (two minutes) is killed. */
export function runNode(
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  timeout = 120_000,
): Promise<Ending> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: folder, env, timeout, killSignal: 'SIGKILL' });
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
