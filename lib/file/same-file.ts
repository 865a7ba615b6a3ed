import { stat } from 'node:fs/promises';
import { CovariumError } from '../covarium-error.ts';

/**
 * Throws `ERR_INVALID_ARGUMENT` where an output is one of the inputs, by this name or another: writing it would destroy
 * what was read. Paths that are undefined, `-` for standard input and output, and files that are not there are passed
 * over.
 */
export async function refuseInputs(
  outputs: readonly (string | undefined)[],
  inputs: readonly (string | undefined)[],
): Promise<void> {
  const read = await Promise.all(inputs.map(async (path) => ({ path, identity: await identityOf(path) })));
  for (const output of outputs) {
    const identity = await identityOf(output);
    const same = identity === undefined ? undefined : read.find((input) => input.identity === identity);
    if (same !== undefined)
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Output (${output}) is also an input (${same.path}), which it would replace. Pass another name.`,
        { path: output! },
      );
  }
}

async function identityOf(path: string | undefined): Promise<string | undefined> {
  if (path === undefined || path === '-') return undefined;
  const status = await stat(path, { bigint: true }).catch(() => undefined);
  // A terminal or a pipe may well be both.
  return status?.isFile() ? `${status.dev} ${status.ino}` : undefined;
}
