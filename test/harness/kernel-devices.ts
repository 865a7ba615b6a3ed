import { test } from 'uvu';
import { type Device, openDevice } from '../../lib/index.ts';
import { kindsHere } from './every-device.ts';

if (kindsHere.includes('cuda')) console.log('skipped  cuda: it runs no kernels of the user yet');

/** The same test on every device that runs kernels: all but the reference device and, so far, cuda. */
export function onKernelDevices(sentence: string, check: (device: Device) => void | Promise<void>): void {
  for (const kind of kindsHere.filter((each) => each !== 'reference' && each !== 'cuda'))
    test(`${kind}: ${sentence}`, async () => {
      using device = openDevice(kind);
      await check(device);
    });
}
