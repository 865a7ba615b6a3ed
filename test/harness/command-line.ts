import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import * as assert from 'uvu/assert';
import { modulePath, nodeOptions } from './child.ts';

/** The `covarium` command, from its sources. */
export const main: string = modulePath('lib/cli/main.ts');

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A separate process, for tests that use standard input, interrupt the command, or need another environment. */
export function start(command: string[], env: NodeJS.ProcessEnv = {}): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [...nodeOptions, main, ...command], { env: { ...process.env, ...env } });
}

export async function outcomeOf(child: ChildProcessWithoutNullStreams): Promise<Outcome> {
  const code = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  return { code: await code, stdout, stderr };
}

export function runProcess(command: string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  return outcomeOf(start(command, env));
}

let before: Promise<unknown> = Promise.resolve();

/**
 * Runs the command by a call in this process, and returns what a process would print and its exit code. One at a
 * time, since calls share the output and exit code of this process. A separate process takes most of its time to
 * start.
 */
export function run(command: string[]): Promise<Outcome> {
  const outcome = before.then(() => call(command));
  before = outcome.catch(() => {});
  return outcome;
}

class Exit extends Error {}

async function call(words: string[]): Promise<Outcome> {
  const { stdout, stderr, exit, exitCode } = process;
  const streams = [stdout, stderr].map((stream) => {
    const written: Uint8Array[] = [];
    return { stream, write: stream.write, isTTY: stream.isTTY, written };
  });
  // The code that commander exits with. The error that stops it then is ours, so what is printed about it is left
  // out.
  let left: number | undefined;
  for (const each of streams) {
    each.stream.isTTY = false;
    each.stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
      if (left === undefined) each.written.push(Buffer.from(chunk as string));
      const done = rest.at(-1);
      if (typeof done === 'function') process.nextTick(done);
      return true;
    };
  }
  process.exit = (code) => {
    left ??= Number(code ?? 0);
    throw new Exit();
  };
  process.exitCode = undefined;
  try {
    // Imported late, because it decides about colours when it is loaded.
    process.env['NO_COLOR'] ??= '1';
    const { command } = await import('../../lib/cli/commands.ts');
    await command(words);
    const code = left ?? Number(process.exitCode ?? 0);
    const [out, told] = streams.map(({ written }) => Buffer.concat(written).toString());
    return { code, stdout: out!, stderr: told! };
  } finally {
    for (const { stream, write, isTTY } of streams) Object.assign(stream, { write, isTTY });
    Object.assign(process, { exit, exitCode });
  }
}

/** Standard output of a command that ends well and says nothing on standard error. */
export async function succeeds(...command: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(command);
  assert.equal([code, stderr], [0, '']);
  return stdout;
}

export async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  try {
    for await (const chunk of stream) text += chunk;
  } catch {
    // A stream that a test destroys ends early.
  }
  return text;
}
