import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { files } from './source-text.ts';

const top = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(top, 'build-tests/programs');
const daysKept = 7;

/** A hash of all sources that a program may include. */
const sourcesAre = createHash('sha256');
for (const path of files.filter((each) => /\.(cc|h|inc|metal)$/.test(each)))
  sourcesAre.update(`${path}\0`).update(readFileSync(join(top, path)));
const ofSources = sourcesAre.digest('hex');

/**
 * Compiles C++ sources, whose paths are relative to the package's folder, to a program. Returns the compiler's errors
 * if it fails, and nothing if the compiler is missing. A program that an earlier run made from the same text with the
 * same compiler is reused.
 */
export function program(
  compiler: string,
  flags: readonly string[],
  sources: readonly string[],
): { readonly path: string } | { readonly complaint: string | undefined } {
  const { error, stdout: version } = spawnSync(compiler, ['--version'], { encoding: 'utf8' });
  if (error !== undefined) return { complaint: undefined };
  const key = createHash('sha256').update([version, ofSources, process.arch, ...flags, ...sources].join('\0'));
  const name = basename(sources.at(-1)!, '.cc');
  const path = join(folder, `${name}-${key.digest('hex').slice(0, 16)}`);
  if (existsSync(path)) return { path };
  mkdirSync(folder, { recursive: true });
  removeOld();
  // Renamed to its final name when it is complete, because two processes may make it at once.
  const unfinished = `${path}.${process.pid}`;
  const args = [...flags, ...sources.map((each) => join(top, each)), '-o', unfinished, '-lpthread'];
  const { status, stderr } = spawnSync(compiler, args, { cwd: top, encoding: 'utf8' });
  if (status !== 0) return { complaint: stderr };
  renameSync(unfinished, path);
  return { path };
}

function removeOld(): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const { mtimeMs = Date.now() } = statSync(path, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > daysKept * 864e5) rmSync(path, { force: true });
  }
}
