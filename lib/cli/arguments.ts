import { stat } from 'node:fs/promises';
import type { DeviceKind } from '../backend.ts';
import { describe, oneOf } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { RealDtype } from '../dtype.ts';
import { deviceKinds, gpuKind, listDevices } from '../list-devices.ts';

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
