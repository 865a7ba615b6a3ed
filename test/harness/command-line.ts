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

export function start(command: string[], env: NodeJS.ProcessEnv = {}): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [...nodeOptions, main, ...command], { env: { ...process.env, ...env } });
}

export async function outcomeOf(child: ChildProcessWithoutNullStreams): Promise<Outcome> {
  const code = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  return { code: await code, stdout, stderr };
}

export function run(command: string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  return outcomeOf(start(command, env));
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
