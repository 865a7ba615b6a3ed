import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Calls of the C library that can fail, in the order of faults.c. */
const calls = ['any', 'open', 'write', 'fsync', 'rename', 'link', 'fchmod', 'close', 'unlink', 'read'] as const;

/** What happens at a call, in the order of faults.c. */
const actions = ['none', 'fails', 'halves', 'kills'] as const;

/** The fault at the n-th call of a kind that concerns a file whose path has `FAULT_PATH` in it. */
export interface Fault {
  readonly call: (typeof calls)[number];
  readonly action: (typeof actions)[number];
  /** A system error's name, if the call fails. */
  readonly error?: keyof typeof constants.errno;
  /** Counts from 1. */
  readonly at: number;
}

/** Bytes of a fault, as the library reads them from its control file. */
export function faultBytes({ call, action, error, at }: Fault): Uint8Array {
  const words = [calls.indexOf(call), actions.indexOf(action), error === undefined ? 0 : constants.errno[error], at, 0];
  return new Uint8Array(Int32Array.from(words).buffer);
}

/** The offset in the control file that says whether the fault occurred. */
export const firedAt = 16;

interface FaultLibrary {
  /** Why faults can't be injected here; '' if they can. */
  readonly reason: string;
  /** The environment of a process that has faults where a file's path contains `match`. */
  env(match: string): NodeJS.ProcessEnv;
  readonly control: string;
}

/** Compiles faults.c; the library is removed when this process ends. */
export function faultLibrary(): FaultLibrary {
  const folder = mkdtempSync(join(tmpdir(), 'covarium-faults-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const [library, control] = [join(folder, 'faults.so'), join(folder, 'control')];
  writeFileSync(control, new Uint8Array(64));
  const env = (match: string) => ({
    ...process.env,
    LD_PRELOAD: library,
    FAULT_CONTROL: control,
    FAULT_PATH: match,
    // io_uring would bypass the C library's calls.
    UV_USE_IO_URING: '0',
  });
  if (process.platform !== 'linux') return { reason: 'faults are injected on Linux only', env, control };
  const { LD_PRELOAD: preloaded = '' } = process.env;
  if (preloaded !== '') return { reason: `another library is preloaded (${preloaded})`, env, control };
  const source = fileURLToPath(new URL('faults.c', import.meta.url));
  const cc = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-w', '-o', library, source, '-ldl'], { encoding: 'utf8' });
  const reason = cc.status === 0 ? '' : `cc fails (${cc.error?.message ?? cc.stderr.trim().split('\n')[0]})`;
  return { reason, env, control };
}
