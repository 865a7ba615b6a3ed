// node .ci/limited.mjs MINUTES COMMAND ARGUMENT...
//
// Runs a command of a CI job that may wait forever for a GPU's driver. A driver that does not answer is a fault of the
// machine: the command is stopped, a warning says so, and the step succeeds with GPU_HANGS in the environment of later
// steps, which are left out. If the command ends, the step ends with its status.
import { appendFileSync } from 'node:fs';
import { hangs, limitedRun } from '../test/harness/limited-run.mjs';

const [minutes, command, ...args] = process.argv.slice(2);
const options = { cwd: process.cwd(), seconds: Number(minutes) * 60, write: (text) => process.stdout.write(text) };
const status = await limitedRun(command, args, options);
if (status === hangs) {
  const line = [command, ...args].join(' ');
  console.log(`::warning title=GPU::(${line}) does not end: nothing after it runs on this machine's GPU.`);
  appendFileSync(process.env.GITHUB_ENV, 'GPU_HANGS=true\n');
}
process.exitCode = status === hangs ? 0 : status;
