import { stat } from 'node:fs/promises';
import type { DeviceKind } from '../backend.ts';
import { describe, oneOf } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { RealDtype } from '../dtype.ts';
import { deviceKinds, gpuKind, listDevices } from '../list-devices.ts';
import type { Word64 } from '../stream/counter.ts';

/** A whole number of the command line below 2^53, as 1000000 or 1e6; throws `ERR_OUT_OF_RANGE`. */
export function wholeArgument(name: string, text: string): number {
  const word = parsed(text);
  if (word === undefined || word > Number.MAX_SAFE_INTEGER) throw notWhole(name, text, '2^53 - 1');
  return Number(word);
}

/** A whole number of the command line below 2^64, as 1000000 or 1e6; throws `ERR_OUT_OF_RANGE`. */
export function wordArgument(name: string, text: string): Word64 {
  const word = parsed(text);
  if (word === undefined || word >= 1n << 64n) throw notWhole(name, text, '2^64 - 1');
  return word <= Number.MAX_SAFE_INTEGER ? Number(word) : word;
}

// Undefined if it is no whole number.
function parsed(text: string): bigint | undefined {
  const [, whole, part = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e\+?(\d{1,2}))?$/i.exec(text) ?? [];
  const zeros = Number(exponent) - part.length;
  return whole === undefined || zeros < 0 ? undefined : BigInt(whole + part) * 10n ** BigInt(zeros);
}

function notWhole(name: string, text: string, most: string): CovariumError {
  return new CovariumError(
    'ERR_OUT_OF_RANGE',
    `${name} is (${describe(text)}): pass a whole number from 0 to ${most}, as 1000000 or 1e6.`,
  );
}

/**
 * Checks before the long work that outputs, by their options, are names of files; ignores those that are not given.
 * Throws `ERR_FILE_UNWRITABLE`.
 */
export async function requireFileNames(outputs: { readonly [name: string]: string | undefined }): Promise<void> {
  for (const [name, path] of Object.entries(outputs)) {
    if (path === undefined) continue;
    const isFolder = /[/\\]$/.test(path) || (await stat(path).catch(() => undefined))?.isDirectory();
    if (path === '' || isFolder)
      throw new CovariumError(
        'ERR_FILE_UNWRITABLE',
        `${name} (${path}) is ${path === '' ? 'empty' : 'a folder'}: pass the name of a file.`,
        { path },
      );
  }
}

/** An element type of the command line; throws `ERR_INVALID_ARGUMENT`. */
export function dtypeArgument(text: string): RealDtype {
  return oneOf('--dtype', text, ['float32', 'float64']);
}

/** A kind of device, `auto` or none for the best; throws `ERR_INVALID_ARGUMENT`. */
export function deviceArgument(text: string | undefined): DeviceKind | undefined {
  return text === undefined || text === ''
    ? undefined
    : (oneOf('--device', text, ['auto', ...deviceKinds]) as DeviceKind);
}

/**
 * The GPUs of `--gpus`: those that are named, separated by commas, or `all`; none without it. Throws
 * `ERR_INVALID_ARGUMENT` for an empty name, `ERR_DEVICE_UNAVAILABLE` if there is no GPU.
 */
export function gpusArgument(text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  if (text.trim() === 'all') return allGpus();
  const gpus = text.split(',').map((gpu) => gpu.trim());
  if (!gpus.includes('')) return gpus;
  throw new CovariumError(
    'ERR_INVALID_ARGUMENT',
    `--gpus is (${describe(text)}): pass \`all\`, or GPUs by index, name, UUID or PCI id, separated by commas.`,
  );
}

function allGpus(): readonly string[] {
  const { available, name, reason, facts } = listDevices().find(({ kind }) => kind === gpuKind)!;
  if (!available)
    throw new CovariumError('ERR_DEVICE_UNAVAILABLE', `Device (${gpuKind}) is not available for --gpus: ${reason}`);
  // Apple's GPUs go by name, and a Mac has one.
  return gpuKind === 'metal' ? [name] : Array.from({ length: Number(facts['GPUs']) }, (_, index) => String(index));
}
