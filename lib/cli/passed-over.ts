import type { DeviceKind } from '../backend.ts';
import { printable } from '../covarium-error.ts';
import { listDevices } from '../list-devices.ts';

// There is no Metal elsewhere to be missed.
const best: DeviceKind = process.platform === 'darwin' ? 'metal' : 'cpu';

/** Says on one line of standard error why the device that was taken is not the best one, where none was asked for. */
export function tellPassedOver(taken: DeviceKind, asked: DeviceKind | undefined): void {
  const { COVARIUM_DEVICE = '' } = process.env;
  if (taken === best || asked !== undefined || !['', 'auto'].includes(COVARIUM_DEVICE)) return;
  const devices = listDevices();
  const passed = devices
    .slice(devices.findIndex(({ kind }) => kind === best))
    .filter(({ kind, available }) => kind !== taken && !available)
    .map(({ kind, reason }) => `${kind} is passed over: ${reason}`);
  if (passed.length === 0) return;
  const line = `Device (${taken}) is used; ${passed.join(' ')}`;
  process.stderr.write(`${printable(line).replaceAll('\n', ' ')}\n`);
}
