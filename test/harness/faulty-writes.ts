// Run by test/file/staged-output.test.ts in a process with faults.c: overwrites existing files under every fault, and
// prints each case that ends neither with the new file nor with an error and the old file.
import { createHash } from 'node:crypto';
import { openSync, readdirSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { sample } from '../../lib/cli/sample.ts';
import { openOutputFile } from '../../lib/file/output.ts';
import { CovariumError } from '../../lib/index.ts';
import { type Fault, faultBytes, firedAt } from './faults.ts';

const forever = new AbortController().signal;

/** What is written: a file, a file of draws with its manifest, or the parts of a run. */
export type Written = 'file' | 'pair' | 'parts';

const formats = ['npy', 'csv', 'arrow', 'parquet'] as const;

/** Writes output that depends on the seed; each round has another format, and other pieces and parts. */
export async function write(what: Written, folder: string, model: string, seed: number, round: number): Promise<void> {
  const format = formats[round % formats.length]!;
  const name = join(folder, `draws.${format}`);
  if (what === 'file') {
    const output = await openOutputFile(name);
    try {
      for (let piece = 0; piece < 3 + (round % 5); piece++) await output.write(Buffer.alloc(1000, seed));
      await output.finish();
    } catch (error) {
      await output.discard();
      throw error;
    }
    return;
  }
  const how = { model, count: '1000', stream: '0', firstRow: '0', device: 'reference', seed: `${seed}` };
  if (what === 'pair') await sample({ ...how, output: name }, forever);
  else await sample({ ...how, output: folder, format, rowsPerPart: ['500', '300', '700'][round % 3]! }, forever);
}

const digestOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

/** The contents of a folder: its files, and for a manifest whether it belongs to the file beside it. */
export function stateOf(folder: string): string {
  const names = readdirSync(folder).sort();
  const told = names
    .filter((name) => !name.startsWith('.'))
    .map((name) => {
      const path = join(folder, name);
      if (!/\.(npy|csv|arrow|parquet)\.json$/.test(name)) return `${name} ${digestOf(path).slice(0, 8)}`;
      const { digest } = JSON.parse(readFileSync(path, 'utf8')) as { digest: { sha256: string } };
      return `${name} of ${digest.sha256.slice(0, 8)}`;
    });
  return told.join('\n');
}

/** Names of temporary files. */
export function leftovers(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith('.'));
}

const faults: readonly Omit<Fault, 'at'>[] = [
  ...(['EIO', 'EACCES', 'EMFILE', 'ENOSPC'] as const).map(
    (error) => ({ call: 'open', action: 'fails', error }) as const,
  ),
  ...(['EIO', 'ENOSPC', 'EDQUOT', 'EINTR'] as const).map(
    (error) => ({ call: 'write', action: 'fails', error }) as const,
  ),
  { call: 'write', action: 'halves' },
  ...(['EIO', 'ENOSPC'] as const).map((error) => ({ call: 'fsync', action: 'fails', error }) as const),
  ...(['EIO', 'EACCES'] as const).map((error) => ({ call: 'rename', action: 'fails', error }) as const),
  ...(['EIO', 'EPERM', 'EMLINK'] as const).map((error) => ({ call: 'link', action: 'fails', error }) as const),
  { call: 'fchmod', action: 'fails', error: 'EPERM' },
  { call: 'close', action: 'fails', error: 'EIO' },
  { call: 'unlink', action: 'fails', error: 'EIO' },
  // There is no half read: Node's readFile() takes it as the end of a file.
  { call: 'read', action: 'fails', error: 'EIO' },
];

/** Tries each fault at each call, in repeated rounds until it was tried `runs` times. */
async function sweep(what: Written, folder: string, model: string, control: string, runs: number): Promise<void> {
  const file = openSync(control, 'r+');
  const set = (fault: Fault) => writeSync(file, faultBytes(fault), 0, 20, 0);
  const word = new Int32Array(1);
  const hasFired = () => readSync(file, word, 0, 4, firedAt) === 4 && word[0] === 1;
  const clear = () => {
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
  };
  const wholeState = async (seed: number, round: number) => {
    clear();
    await write(what, folder, model, seed, round);
    return stateOf(folder);
  };
  let tried = 0;
  for (const fault of faults)
    for (let [round, before, triedBefore] = [0, -1, tried]; before < tried && tried - triedBefore < runs; round++) {
      before = tried;
      const [old, fresh] = [await wholeState(1, round), await wholeState(2, round)];
      for (let at = 1; ; at++) {
        clear();
        // Parts of another seed are refused, not overwritten. So they begin in an empty folder.
        if (what !== 'parts') await write(what, folder, model, 1, round);
        set({ ...fault, at });
        const failure: unknown = await write(what, folder, model, 2, round).then(
          () => undefined,
          (error: unknown) => error,
        );
        const fired = hasFired();
        set({ call: 'any', action: 'none', at: 0 });
        if (!fired) break;
        tried++;
        const name = `${what}: ${fault.call} ${at} ${fault.action} ${fault.error ?? ''} round ${round}`;
        const state = stateOf(folder);
        const left = leftovers(folder);
        if (failure !== undefined && !(failure instanceof CovariumError && /^ERR_(FILE|DISK)_/.test(failure.code)))
          console.log(`${name}: ${failure instanceof Error ? failure.stack : failure}`);
        // A file that can't be removed stays; the next writer removes it.
        if (left.length > 0 && fault.call !== 'unlink') console.log(`${name} leaves ${left}`);
        if (what === 'parts') {
          await write(what, folder, model, 2, round);
          if (stateOf(folder) !== fresh) console.log(`${name} and again:\n${stateOf(folder)}`);
        } else if (state !== (failure === undefined ? fresh : old))
          console.log(`${name} (${failure instanceof Error ? failure.message : 'no error'}):\n${state}`);
      }
    }
  console.log(`tried ${tried}`);
}

const [mode, what, folder, model, control, count] = process.argv.slice(2) as [
  string,
  Written,
  string,
  string,
  string,
  string,
];
if (mode === 'sweep') await sweep(what, folder, model, control, Number(count));
if (mode === 'once') await write(what, folder, model, 2, Number(count));
