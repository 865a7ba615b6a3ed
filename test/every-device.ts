import { test } from 'uvu';
import { type Device, type DeviceKind, listDevices, openDevice } from '../lib/index.ts';
import { isAsked } from './asked-device.ts';

/** The kinds of device that work here; the others are told, once for each test file. */
export const kindsHere: readonly DeviceKind[] = listDevices().flatMap(({ kind, available, reason }) => {
  if (!isAsked(kind)) return [];
  if (!available) console.log(`skipped  ${kind}: ${reason}`);
  return available ? [kind] : [];
});

/** The same test on every device that works here; each is closed when its test ends. */
export function onEveryDevice(sentence: string, check: (device: Device) => void | Promise<void>): void {
  for (const kind of kindsHere)
    test(`${kind}: ${sentence}`, async () => {
      using device = openDevice(kind);
      await check(device);
    });
}
