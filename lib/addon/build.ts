import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CovariumError } from '../covarium-error.ts';
import { cannotWrite } from '../file/error.ts';
import { makeFolder } from '../file/folder.ts';
import { nodeRequire } from '../node-require.ts';
import { findNodeGyp, nodeHeaders } from './node-gyp.ts';
import { stageSources } from './stage.ts';
import { requireToolchain } from './toolchain.ts';

interface BuildOptions {
  /** The file to make; its folder is created if needed. */
  readonly output: string;
  readonly signal?: AbortSignal;
  /** Called with node-gyp's output if the build fails. */
  readonly onFailure: (text: string) => void;
}

/**
 * Builds the addon from the package's sources with this machine's compiler, tries it, and renames it into place, so
 * that a process that has an older one open keeps it. Throws `ERR_TOOLCHAIN_MISSING`, `ERR_FILE_UNWRITABLE`,
 * `ERR_BUILD_FAILED`, `ERR_ABORTED`.
 */
export async function buildAddon({ output, signal, onFailure }: BuildOptions): Promise<void> {
  requireToolchain();
  const nodeGyp = findNodeGyp();
  // Not named .node, because a half-written file must not be loaded. Created first, so that nobody waits for a build
  // whose result cannot be written.
  const unfinished = `${output}.${process.pid}.partial`;
  writing(output, () => makeFolder(dirname(output)));
  refuseFolder(output);
  writing(output, () => writeFileSync(unfinished, ''));
  let stage = '';
  try {
    stage = stageSources();
    const { status, text } = await runNodeGyp(nodeGyp, stage, signal);
    if (signal?.aborted) throw new CovariumError('ERR_ABORTED', 'The build is interrupted.', { cause: signal.reason });
    if (status !== 0) {
      onFailure(text);
      throw new CovariumError('ERR_BUILD_FAILED', `The native addon is not built: node-gyp fails (${status}).`);
    }
    const built = join(stage, 'build', 'Release', 'covarium.node');
    tryToLoad(built);
    writing(output, () => copyFileSync(built, unfinished));
    writing(output, () => renameSync(unfinished, output));
  } finally {
    rmSync(unfinished, { force: true });
    if (stage !== '') rmSync(stage, { recursive: true, force: true });
  }
}

function refuseFolder(path: string): void {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new CovariumError('ERR_FILE_UNWRITABLE', `The addon's path (${path}) is a folder. Pass the name of a file.`, {
    path,
  });
}

function writing(path: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

function runNodeGyp(
  nodeGyp: string,
  cwd: string,
  signal: AbortSignal | undefined,
): Promise<{ status: number | string; text: string }> {
  const { npm_config_nodedir: given } = process.env;
  const headers = given === undefined ? nodeHeaders() : '';
  const args = [nodeGyp, 'rebuild', '--jobs', 'max', ...(headers === '' ? [] : [`--nodedir=${headers}`])];
  return new Promise((resolve) => {
    let text = '';
    // In its own process group: make and the compilers must end with node-gyp, which a signal ends alone.
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const end = () => endGroup(child.pid);
    if (signal?.aborted) end();
    signal?.addEventListener('abort', end, { once: true });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        text += chunk;
      });
    child.on('error', (error) => {
      text += error.message;
    });
    child.on('close', (code, ended) => {
      signal?.removeEventListener('abort', end);
      resolve({ status: code ?? ended ?? 'unknown', text });
    });
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGTERM');
  } catch {
    // It has already ended.
  }
}

/** Loads it in its own process, so that a faulty addon cannot end this one. */
function tryToLoad(path: string): void {
  const { version } = nodeRequire()('covarium/package.json') as { version: string };
  const script = 'process.stdout.write(String(require(process.argv[1]).version))';
  const { stdout, stderr, status, signal } = spawnSync(process.execPath, ['-e', script, path], { encoding: 'utf8' });
  if (status === 0 && stdout === version) return;
  const why =
    stderr.split('\n').find((line) => line.includes('Error')) ?? `it ends with ${signal ?? status}, ${stdout}`;
  throw new CovariumError('ERR_BUILD_FAILED', `The native addon is built, but doesn't load (${why.trim()}).`);
}
