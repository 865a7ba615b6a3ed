import colors from 'picocolors';
import { type AddonReport, reportAddon } from '../addon/report.ts';
import { printable } from '../covarium-error.ts';
import { standardOutput } from '../file/output.ts';
import { type DeviceReport, listDevices } from '../list-devices.ts';
import { versions } from '../versions.ts';

/**
 * `covarium devices`: lists the devices, and says which one was chosen and why; people paste this text into bug
 * reports.
 */
export async function devices(options: { readonly json?: boolean }): Promise<void> {
  const found = listDevices();
  const about = versions();
  const addon = reportAddon();
  const text = options.json
    ? printable(`${JSON.stringify({ ...about, addon, devices: found }, null, 2)}\n`)
    : report(about, addon, found);
  await standardOutput().write(Buffer.from(text));
}

function report(about: ReturnType<typeof versions>, addon: AddonReport, found: readonly DeviceReport[]): string {
  const lines = [
    `covarium ${about.covarium}, Node ${about.node}, ${about.system}`,
    `${about.processor}, ${about.processors} processors, ${about.memoryGiB} GiB`,
    ...addonLines(addon),
    '',
    ...found.flatMap(deviceLines),
    '',
    choice(found),
  ];
  return `${lines.join('\n')}\n`;
}

function deviceLines({ kind, available, name, reason, facts, warnings, chosen }: DeviceReport): string[] {
  const head = `${chosen ? '*' : ' '} ${kind.padEnd(10)}`;
  if (!available) return [`${head}${colors.dim(`not available: ${printable(reason)}`)}`];
  return [
    `${chosen ? colors.bold(head) : head}${printable(name)}`,
    ...Object.entries(facts).map(([fact, value]) => `    ${fact}: ${printable(value)}`),
    ...warnings.map(warningLine),
  ];
}

// If no addon is loaded, the devices say why.
function addonLines({ path, origin, version, reason, warnings }: AddonReport): string[] {
  const what = version === '' ? origin : `${origin}, of covarium ${version}`;
  return [
    ...(path === ''
      ? ['native addon: none']
      : [`native addon: ${printable(path)} (${reason === '' ? what : `${origin}, not loaded`})`]),
    ...warnings.map(warningLine),
  ];
}

const warningLine = (warning: string): string => `    ${colors.yellow('warning:')} ${printable(warning)}`;

function choice(found: readonly DeviceReport[]): string {
  const { COVARIUM_DEVICE, COVARIUM_GPU } = process.env;
  const chosen = found.find((device) => device.chosen);
  const asks = COVARIUM_DEVICE && COVARIUM_DEVICE !== 'auto' ? 'COVARIUM_DEVICE' : COVARIUM_GPU ? 'COVARIUM_GPU' : '';
  if (chosen === undefined)
    return `None is chosen: ${asks} asks for (${printable(process.env[asks] ?? '')}), which is not available.`;
  if (asks !== '') return `Chosen: ${chosen.kind}, because ${asks} asks for it.`;
  const passed = found.slice(0, found.indexOf(chosen)).map(({ kind }) => kind);
  return `Chosen: ${chosen.kind}, ${passed.length === 0 ? 'the first choice' : `because ${passed.join(' and ')} ${passed.length === 1 ? 'is' : 'are'} not available`}.`;
}
