import { test } from 'uvu';
import { type Device, type DeviceKind, listDevices, openDevice, type RealDtype } from '../../lib/index.ts';
import { isAsked } from './asked-device.ts';

/** The kinds of device that work here; the others are printed, once per test file. */
export const kindsHere: readonly DeviceKind[] = listDevices().flatMap(({ kind, available, reason }) => {
  if (!isAsked(kind)) return [];
  if (!available) console.log(`skipped  ${kind}: ${reason}`);
  return available ? [kind] : [];
});

/** True if `metal` is the software stand-in, which does not measure speed. */
export const isSoftMetal: boolean = listDevices().some(
  ({ kind, name }) => kind === 'metal' && name.startsWith('Software Metal'),
);

/** The same test on every device that works here; each is closed when its test ends. */
export function onEveryDevice(sentence: string, check: (device: Device) => void | Promise<void>): void {
  for (const kind of kindsHere)
    test(`${kind}: ${sentence}`, async () => {
      using device = openDevice(kind);
      await check(device);
    });
}

/** The same test for each type that a device has, with a tolerance for a few roundings. */
export function onEveryType(
  sentence: string,
  check: (device: Device, dtype: RealDtype, tolerance: number) => void | Promise<void>,
): void {
  onEveryDevice(sentence, async (device) => {
    for (const dtype of device.dtypes as RealDtype[]) await check(device, dtype, dtype === 'float32' ? 2e-5 : 1e-12);
  });
}
