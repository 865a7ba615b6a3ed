import { availableParallelism } from 'node:os';
import {
  CovariumError,
  type Device,
  type DeviceKind,
  type DeviceReport,
  listDevices,
  openDevice,
} from '../lib/index.ts';
import type { Contender } from './contender.ts';
import { DeviceContender } from './device-contender.ts';
import type { ContenderFacts } from './results.ts';

/**
 * The names that devices have in a run: `cpu-1` is the CPU with one thread, `softmetal` the software stand-in for
 * Metal.
 */
export const deviceNames: readonly string[] = ['metal', 'cpu', 'cpu-1', 'reference', 'softmetal'];

const byDefault = ['metal', 'cpu', 'reference'];

/**
 * The requested devices, by default all that measure speed; those that are not available are listed with the reason.
 * Throws if none is available.
 */
export function openDevices(asked: readonly string[] = byDefault): Contender[] {
  const reports = listDevices();
  const contenders = asked.map((name) => openContender(name, reports));
  if (contenders.some(({ facts }) => facts.available)) return contenders;
  const reasons = contenders.map(({ facts: { name, reason } }) => `${name}: ${reason}`).join(' ');
  throw new CovariumError('ERR_DEVICE_UNAVAILABLE', `None of the devices is available (${reasons}).`);
}

function openContender(name: string, reports: readonly DeviceReport[]): Contender {
  const isSoft = name === 'softmetal';
  const kind = (isSoft ? 'metal' : name.replace('-1', '')) as DeviceKind;
  const report = reports.find((each) => each.kind === kind)!;
  const refusal = reasonAgainst(name, report);
  if (refusal !== '') return absent(name, refusal);
  let device: Device;
  try {
    device = openDevice(kind, name === 'cpu-1' ? { threads: 1 } : {});
  } catch (error) {
    return absent(name, (error as Error).message);
  }
  const facts: ContenderFacts = {
    name,
    kind: 'device',
    available: true,
    about: device.name,
    reason: '',
    threads: device.threads,
    facts: { ...report.facts, ...('threads' in report.facts ? { threads: `${device.threads}` } : {}) },
    measuresSpeed: !isSoft,
  };
  return new DeviceContender(facts, device);
}

function reasonAgainst(name: string, { available, reason, name: about }: DeviceReport): string {
  if (!available) return reason;
  // test/metal/softmetal calls itself so.
  const isStandIn = about.startsWith('Software Metal');
  if (name === 'metal' && isStandIn)
    return 'It is a software stand-in, no measure of speed: --devices softmetal takes it.';
  if (name === 'softmetal' && !isStandIn) return 'The native addon has no software stand-in for Metal.';
  if (name === 'cpu-1' && availableParallelism() === 1) return 'There is one processor: it would be cpu again.';
  return '';
}

function absent(name: string, reason: string): Contender {
  const facts: ContenderFacts = {
    name,
    kind: 'device',
    available: false,
    about: '',
    reason,
    threads: null,
    facts: {},
    measuresSpeed: name !== 'softmetal',
  };
  return { facts, prepare: async () => undefined, close: async () => {} };
}
