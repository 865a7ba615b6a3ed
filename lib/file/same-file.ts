import { type BigIntStats, fstat } from 'node:fs';
import { readlink, realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';
import { CovariumError } from '../covarium-error.ts';

/**
 * Throws `ERR_INVALID_ARGUMENT` if an output is also an input, under this name or another: writing it would destroy
 * what was read. An input `-` is what standard input reads. Ignores undefined paths, an output `-`, and files that do
 * not exist.
 */
export async function refuseInputs(
  outputs: readonly (string | undefined)[],
  inputs: readonly (string | undefined)[],
): Promise<void> {
  const read = await Promise.all(inputs.map(async (path) => ({ path, identity: await identityOfInput(path) })));
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

/**
 * Throws `ERR_INVALID_ARGUMENT` if two inputs, by what the caller calls them, are `-`: the second would find standard
 * input at its end.
 */
export function refuseSharedInput(inputs: { readonly [name: string]: string | undefined }): void {
  const [first, second] = Object.keys(inputs).filter((name) => inputs[name] === '-');
  if (second === undefined) return;
  throw new CovariumError(
    'ERR_INVALID_ARGUMENT',
    `${first} and ${second} are both standard input (-), which is read once: pass a file for one of them.`,
  );
}

/** Throws `ERR_INVALID_ARGUMENT` if two outputs are one file. Devices, pipes and `-` take both. */
export async function refuseSameOutput(first: string | undefined, second: string | undefined): Promise<void> {
  const placeOf = async (path: string | undefined) => {
    if (path === undefined || path === '-') return undefined;
    const status = await stat(path).catch(() => undefined);
    if (status === undefined) return resolve(await withoutLinks(path));
    return status.isFile() ? realpath(path) : undefined;
  };
  const place = await placeOf(first);
  if (place === undefined || place !== (await placeOf(second))) return;
  throw new CovariumError(
    'ERR_INVALID_ARGUMENT',
    `Output (${second}) is given twice, before as (${first}), which it would replace. Pass another name.`,
    { path: second! },
  );
}

/** Throws `ERR_INVALID_ARGUMENT` if a file is given twice, under one name or two: its rows would count twice. */
export async function refuseRepeated(paths: readonly string[]): Promise<void> {
  const known = new Map<string, string>();
  for (const path of paths) {
    const identity = (await identityOfInput(path)) ?? (path === '-' ? path : undefined);
    const before = identity === undefined ? undefined : known.get(identity);
    if (before !== undefined)
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `File (${path}) is given twice, before as (${before}): its rows would count twice. Pass it once.`,
        { path },
      );
    if (identity !== undefined) known.set(identity, path);
  }
}

// As many as Linux follows.
const mostLinks = 40;

/** The path without symbolic links, of a file that may not exist yet; the path itself if its folder does not. */
export async function withoutLinks(path: string, links: number = mostLinks): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined || links === 0) return real ?? path;
  const [folder, told] = await Promise.all([realpath(dirname(path)), readlink(path)]).catch(() => []);
  return folder === undefined || told === undefined ? path : withoutLinks(resolve(folder, told), links - 1);
}

async function identityOf(path: string | undefined): Promise<string | undefined> {
  if (path === undefined || path === '-') return undefined;
  return identityBy(stat(path, { bigint: true }));
}

async function identityOfInput(path: string | undefined): Promise<string | undefined> {
  return path === '-' ? identityBy(promisify(fstat)(0, { bigint: true })) : identityOf(path);
}

async function identityBy(asked: Promise<BigIntStats>): Promise<string | undefined> {
  const status = await asked.catch(() => undefined);
  // A terminal or a pipe may be both.
  return status?.isFile() ? `${status.dev} ${status.ino}` : undefined;
}
