import { lstatSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../file/folder.ts';
import { partialPath } from '../file/temporary-name.ts';
import { cacheFolder } from './cache-folder.ts';

// A GPU's self-test compiles every kernel and runs it, which is most of what opening takes. What it has found good
// stays good while the GPU, the system and the addon are the same.

/** How many are kept, the latest last. */
const mostKept = 20;
const mostBytes = 16_384;

/** The GPUs, each with its system, that this addon has found good in earlier processes. */
export function passedGpus(addonPath: string): readonly string[] {
  try {
    const suffix = nameOf(addonPath, '');
    return namesIn(fileOfNames()).flatMap((name) => (name.endsWith(suffix) ? name.slice(0, -suffix.length) : []));
  } catch {
    return []; // a user without a home
  }
}

/** Keeps that it has, for processes to come. Where that can't be written, they test the GPU again. */
export function keepPassed(addonPath: string, gpu: string): void {
  try {
    const path = fileOfNames();
    const name = nameOf(addonPath, gpu);
    const names = [...namesIn(path).filter((each) => each !== name), name].slice(-mostKept);
    makeFolder(dirname(path), 0o700);
    write(path, JSON.stringify(names));
  } catch {}
}

const fileOfNames = (): string => join(cacheFolder(), 'passed-gpus.json');

// Another addon is another program.
function nameOf(addonPath: string, gpu: string): string {
  const { size, mtimeMs } = statSync(addonPath);
  return `${gpu}; addon of ${size} bytes, changed at ${Math.round(mtimeMs)} ms`;
}

// A file is believed if it belongs to this user and no other can write it.
function namesIn(path: string): readonly string[] {
  const file = lstatSync(path, { throwIfNoEntry: false });
  if (file === undefined || !file.isFile() || file.size > mostBytes) return [];
  if (file.uid !== process.getuid?.() || (file.mode & 0o022) !== 0) return [];
  try {
    const names: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return Array.isArray(names) ? names.filter((each) => typeof each === 'string') : [];
  } catch {
    return []; // damaged, and written anew
  }
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
