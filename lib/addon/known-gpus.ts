import { lstatSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../file/folder.ts';
import { partialPath } from '../file/temporary-name.ts';
import { cacheFolder } from './cache-folder.ts';

// A GPU's self-test compiles every kernel and runs it, which is most of what opening takes. What it has found good
// stays good while the GPU, the system and the addon are the same; and how fast the GPU and the CPU are is kept, so
// that each run of a program makes the same choices between them, and gives the same bits. A machine that was busy
// while it was measured seems slow, so that it is measured again, and what is much faster then replaces what was
// kept.

/** A GPU with its system, and the rates that were measured; none if there was no need. */
export interface KnownGpu {
  readonly gpu: string;
  readonly rates: readonly number[];
}

/** One of an earlier process. */
export interface EarlierGpu extends KnownGpu {
  /** Whether it is time to measure it again. */
  readonly isOld: boolean;
}

// In the file.
interface KeptGpu extends KnownGpu {
  /** In ms since 1970; earlier versions did not write it. */
  readonly measured?: number;
}

/** Measuring takes some dozen milliseconds. */
const measuredEveryMs = 60_000;

/** How many are kept, the latest last. */
const mostKept = 20;
const mostBytes = 16_384;

/** The GPUs that this addon has tested or measured in earlier processes. */
export function knownGpus(addonPath: string): readonly EarlierGpu[] {
  try {
    const suffix = nameOf(addonPath, '');
    return knownIn(fileOfNames()).flatMap(({ gpu, rates, measured = 0 }) => {
      const isOld = Math.abs(Date.now() - measured) > measuredEveryMs;
      return gpu.endsWith(suffix) ? { gpu: gpu.slice(0, -suffix.length), rates, isOld } : [];
    });
  } catch {
    return []; // a user without a home
  }
}

/** Keeps it for processes to come. Where that can't be written, they test and measure the GPU again. */
export function keepKnown(addonPath: string, { gpu, rates }: KnownGpu): void {
  try {
    const path = fileOfNames();
    const name = nameOf(addonPath, gpu);
    const kept: KeptGpu = { gpu: name, rates, measured: Date.now() };
    const known = [...knownIn(path).filter((each) => each.gpu !== name), kept].slice(-mostKept);
    makeFolder(dirname(path), 0o700);
    write(path, JSON.stringify(known));
  } catch {}
}

const fileOfNames = (): string => join(cacheFolder(), 'known-gpus.json');

// Another addon is another program.
function nameOf(addonPath: string, gpu: string): string {
  const { size, mtimeMs } = statSync(addonPath);
  return `${gpu}; addon of ${size} bytes, changed at ${Math.round(mtimeMs)} ms`;
}

// A file is believed if it belongs to this user and no other can write it.
function knownIn(path: string): readonly KeptGpu[] {
  const file = lstatSync(path, { throwIfNoEntry: false });
  if (file === undefined || !file.isFile() || file.size > mostBytes) return [];
  if (file.uid !== process.getuid?.() || (file.mode & 0o022) !== 0) return [];
  try {
    const known: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return Array.isArray(known) ? known.filter(isKnown) : [];
  } catch {
    return []; // damaged, and written anew
  }
}

// The addon measures anew where the rates are not those that it gave.
function isKnown(each: Partial<KeptGpu> | null): each is KeptGpu {
  const isNumber = (rate: unknown) => typeof rate === 'number';
  return typeof each?.gpu === 'string' && Array.isArray(each.rates) && each.rates.every(isNumber);
}

function write(path: string, text: string): void {
  const draft = partialPath(path);
  try {
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600 });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
