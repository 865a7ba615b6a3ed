import { test } from 'uvu';
import { type Device, openDevice } from '../../lib/index.ts';
import { kindsHere } from './every-device.ts';

/** The same test on every device that runs kernels, which is every device except reference. */
export function onKernelDevices(sentence: string, check: (device: Device) => void | Promise<void>): void {
  for (const kind of kindsHere.filter((each) => each !== 'reference'))
    test(`${kind}: ${sentence}`, async () => {
      using device = openDevice(kind);
      await check(device);
    });
}
