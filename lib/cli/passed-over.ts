import type { DeviceKind } from '../backend.ts';
import { printable } from '../covarium-error.ts';
import { kindByDefault, listDevices } from '../list-devices.ts';

// On other platforms the lack of Metal needs no explanation.
const best: DeviceKind = process.platform === 'darwin' ? 'metal' : 'cpu';

/** Explains in one line on standard error why the device in use is not the best one, unless the caller named it. */
export function tellPassedOver(taken: DeviceKind, asked: string | undefined): void {
  if (taken === best || (asked ?? kindByDefault()) !== 'auto') return;
  const devices = listDevices();
  const passed = devices
    .slice(devices.findIndex(({ kind }) => kind === best))
    .filter(({ kind, available }) => kind !== taken && !available)
    .map(({ kind, reason }) => `${kind} is not available: ${reason}`);
  if (passed.length === 0) return;
  const line = `Device (${taken}) is used; ${passed.join(' ')}`;
  process.stderr.write(`${printable(line).replaceAll('\n', ' ')}\n`);
}
