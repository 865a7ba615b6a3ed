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
 * The names that devices have in a run: `cpu-1` is the CPU with one thread, `cpu-blas` the CPU with the products of the
 * installed BLAS, `softmetal` the software stand-in for Metal.
 */
export const deviceNames: readonly string[] = ['metal', 'cuda', 'cpu', 'cpu-1', 'cpu-blas', 'reference', 'softmetal'];

const byDefault = ['metal', 'cuda', 'cpu', 'reference'];

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
  const kind = (isSoft ? 'metal' : name.replace(/-.*/, '')) as DeviceKind;
  const report = reports.find((each) => each.kind === kind)!;
  const refusal = reasonAgainst(name, report);
  if (refusal !== '') return absent(name, refusal);
  let device: Device;
  try {
    device = name === 'cpu-blas' ? openOnBlas(report) : openDevice(kind, name === 'cpu-1' ? { threads: 1 } : {});
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
    facts: {
      ...report.facts,
      ...('threads' in report.facts ? { threads: `${device.threads}` } : {}),
      ...(name === 'cpu-blas' ? { products: device.name } : {}),
    },
    measuresSpeed: !isSoft,
  };
  return new DeviceContender(facts, device);
}

// COVARIUM_BLAS is read when a device is opened.
function openOnBlas({ facts }: DeviceReport): Device {
  const env: NodeJS.ProcessEnv & { COVARIUM_BLAS?: string | undefined } = process.env;
  const { COVARIUM_BLAS: before } = env;
  env.COVARIUM_BLAS = facts['library file'];
  try {
    return openDevice('cpu');
  } finally {
    if (before === undefined) delete env.COVARIUM_BLAS;
    else env.COVARIUM_BLAS = before;
  }
}

function reasonAgainst(name: string, { available, reason, name: about, facts }: DeviceReport): string {
  if (!available) return reason;
  if (name === 'cpu-blas' && facts['library file'] === undefined) return 'No BLAS library is installed.';
  if (name === 'cpu-blas' && facts['products'] === facts['decompositions'])
    return `The products of cpu are those of ${facts['products']} already.`;
  // test/metal/softmetal calls itself so.
  const isStandIn = about.startsWith('Software Metal');
  if (name === 'metal' && isStandIn)
    return 'It is a software stand-in, no measure of speed: --devices softmetal takes it.';
  // test/cuda/softcuda calls itself so.
  if (name === 'cuda' && about.startsWith('Soft GPU')) return 'It is a software stand-in, no measure of speed.';
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
