import { parseArgs } from 'node:util';
import { CovariumError, type Device, type DeviceKind, openDevice } from '../lib/index.ts';

/** The device that the command line asks for with --device, or the best that works here; it says which. */
export function askedDevice(kind: string | undefined): Device {
  const device = openDevice(kind as DeviceKind | undefined);
  const threads = device.threads === 1 ? '1 thread' : `${device.threads} threads`;
  console.log(`device   ${device.kind}: ${device.name}, ${threads}`);
  return device;
}

/**
 * What an example is asked for: --device, --check for check mode, and whole numbers with their defaults. Throws where
 * the command line has anything else.
 */
export function exampleOptions<Name extends string>(
  defaults: Readonly<Record<Name, number>>,
): { readonly device: string | undefined; readonly check: boolean } & Readonly<Record<Name, number>> {
  const names = Object.keys(defaults) as Name[];
  const option = { type: 'string' } as const;
  const { values } = parseArgs({
    options: { device: option, check: { type: 'boolean' }, ...Object.fromEntries(names.map((name) => [name, option])) },
  });
  const { device, check = false, ...rest } = values as { device?: string; check?: boolean };
  const given = rest as { readonly [name: string]: string | undefined };
  const numbers = names.map((name): [Name, number] => {
    const value = Number(given[name] ?? defaults[name]);
    if (Number.isSafeInteger(value) && value >= 1) return [name, value];
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `Option (--${name}) is (${given[name]}), not a whole number from 1 on.`,
    );
  });
  return { device, check, ...(Object.fromEntries(numbers) as Record<Name, number>) };
}
