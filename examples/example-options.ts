import { parseArgs } from 'node:util';
import { CovariumError, type Device, listDevices, openDevice } from '../lib/index.ts';

/** The device that the command line asks for with --device, or the best that works here; it says which. */
export function askedDevice(kind: string | undefined): Device {
  const kinds = listDevices().map((report) => report.kind);
  const asked = kinds.find((known) => known === kind);
  if (kind !== undefined && asked === undefined)
    throw new CovariumError('ERR_INVALID_ARGUMENT', `--device is ('${kind}'). Pass one of (${kinds.join(', ')}).`);
  const device = openDevice(asked);
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
  const option = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      device: option,
      check: { type: 'boolean' },
      ...Object.fromEntries(Object.keys(defaults).map((name) => [name, option])),
    },
  });
  const given: { readonly [name: string]: string | boolean | undefined } = values;
  const numbers: Record<Name, number> = { ...defaults };
  for (const name in defaults) {
    const value = Number(given[name] ?? defaults[name]);
    if (!Number.isSafeInteger(value) || value < 1)
      throw new CovariumError(
        'ERR_OUT_OF_RANGE',
        `Option (--${name}) is (${given[name]}), not a whole number from 1 on.`,
      );
    numbers[name] = value;
  }
  return { device: values.device, check: values.check ?? false, ...numbers };
}
