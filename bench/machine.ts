import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { loadavg, platform } from 'node:os';
import { join } from 'node:path';
import { packageFolder } from '../lib/addon/file.ts';
import { versions } from '../lib/versions.ts';
import type { Machine } from './results.ts';

/** What a reader must know of the machine to judge the figures. */
export function machine(): Machine {
  return {
    ...versions(),
    commit: commit(packageFolder()),
    load: platform() === 'win32' ? null : loadavg()[0]!,
    power: platform() === 'darwin' ? powerOfMac() : powerOfLinux('/sys/class/power_supply'),
    environment: environment(process.env),
  };
}

/**
 * The commit of the checkout whose root is `folder`, with `+` if tracked files differ. '' if `folder` is not such a
 * root: an installed package may lie inside another project's checkout.
 */
export function commit(folder: string): string {
  const top = output('git', ['-C', folder, 'rev-parse', '--show-toplevel']);
  if (top === '' || realpathSync(top) !== realpathSync(folder)) return '';
  const isChanged = output('git', ['-C', folder, 'status', '--porcelain', '--untracked-files=no']) !== '';
  return output('git', ['-C', folder, 'rev-parse', '--short=12', 'HEAD']) + (isChanged ? '+' : '');
}

/** The variables that change speed. Those that only locate the peers' interpreters do not. */
export function environment(all: NodeJS.ProcessEnv): Record<string, string> {
  const names = Object.keys(all).filter((name) =>
    /^(OPENBLAS|MKL|OMP|VECLIB|COVARIUM(?!_(PYTHON|R)$))_|^UV_THREADPOOL_SIZE$/.test(name),
  );
  return Object.fromEntries(names.sort().map((name) => [name, all[name]!]));
}

/** The power source that Linux reports; '' if it reports neither mains nor a battery. */
export function powerOfLinux(folder: string): string {
  const supplies = attempt(() => readdirSync(folder), []).map((name) => {
    const fact = (file: string) => attempt(() => readFileSync(join(folder, name, file), 'utf8').trim(), '');
    return { type: fact('type'), online: fact('online'), status: fact('status') };
  });
  if (supplies.some(({ type, online }) => type !== 'Battery' && online === '1')) return 'mains';
  const batteries = supplies.filter(({ type }) => type === 'Battery');
  if (batteries.some(({ status }) => status === 'Discharging')) return 'battery';
  return batteries.length > 0 ? 'mains' : '';
}

function powerOfMac(): string {
  const says = output('pmset', ['-g', 'batt']);
  if (says.includes("'AC Power'")) return 'mains';
  return says.includes("'Battery Power'") ? 'battery' : '';
}

function output(command: string, args: readonly string[]): string {
  return attempt(
    () => execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim(),
    '',
  );
}

function attempt<Result>(work: () => Result, otherwise: Result): Result {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
