import type { DeviceKind } from './backend.ts';
import { checkOptions } from './check-options.ts';
import { CovariumError } from './covarium-error.ts';
import { describe } from './describe.ts';
import { Device } from './device.ts';
import { candidateOf, deviceKinds } from './list-devices.ts';
import { loadAddon } from './native.ts';
import { fromNative } from './native-error.ts';
import { openReference } from './reference/device.ts';
import { wholeNumber } from './whole-number.ts';

/** How a device is opened. */
export interface OpenOptions {
  /** Threads that share the work of one command; by default `COVARIUM_THREADS`, or else as many as the machine runs at once. */
  readonly threads?: number | undefined;
}

/**
 * Opens a device: the kind asked for, or else the one that `COVARIUM_DEVICE` names, or else the best that works ({@link listDevices}
 * says which, and why the others were passed over). Throws `ERR_DEVICE_UNAVAILABLE` with the reason, `ERR_INVALID_ARGUMENT` for an
 * unknown kind, `ERR_OUT_OF_RANGE` for a number of threads that is not a whole number from 1 to 1024.
 */
export function openDevice(kind?: DeviceKind | 'auto', options: OpenOptions = {}): Device {
  checkOptions(options, ['threads']);
  const { threads: asked } = options;
  const threads = asked === undefined ? threadsByDefault() : wholeNumber('Number of threads', asked, 1, 1024);
  const chosen = resolveKind(kind ?? kindByDefault());
  if (chosen === 'reference') return new Device(openReference());
  const { available, reason } = candidateOf(chosen);
  if (!available) throw new CovariumError('ERR_DEVICE_UNAVAILABLE', `Device (${chosen}) is not available: ${reason}`);
  try {
    return new Device(loadAddon().addon!.openDevice(chosen, { threads }));
  } catch (error) {
    throw fromNative(error);
  }
}

function resolveKind(kind: string): DeviceKind {
  // The reference device is always there.
  if (kind === 'auto' || kind === '') return deviceKinds.find((each) => candidateOf(each).available)!;
  const known = deviceKinds.find((each) => each === kind);
  if (known !== undefined) return known;
  throw new CovariumError(
    'ERR_INVALID_ARGUMENT',
    `Device (${describe(kind)}) is not one of (auto, ${deviceKinds.join(', ')}).`,
  );
}

function kindByDefault(): string {
  const { COVARIUM_DEVICE = 'auto' } = process.env;
  return COVARIUM_DEVICE;
}

// 0 leaves the number to the device: one for each processor that this process may use.
function threadsByDefault(): number {
  const { COVARIUM_THREADS = '' } = process.env;
  return COVARIUM_THREADS === '' ? 0 : wholeNumber('COVARIUM_THREADS', Number(COVARIUM_THREADS), 1, 1024);
}
