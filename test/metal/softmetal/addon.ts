import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const builder = fileURLToPath(new URL('build.mjs', import.meta.url));
const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Where software Metal has been built: `path` is the covarium.node, for `COVARIUM_ADDON`. */
export interface SoftBuild {
  readonly folder: string;
  readonly path: string;
}

/**
 * Builds what is missing or older than its sources, or says why it can't; `options` are those of build.mjs. Throws
 * where the sources do not compile: only a missing compiler or library is a reason.
 */
export function softAddon(out = 'build-soft', options: readonly string[] = []): SoftBuild | { reason: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [builder, `--out=${out}`, ...options], {
    encoding: 'utf8',
  });
  if (status === 2) return { reason: stderr.trim() };
  if (status !== 0) throw new Error(`Software Metal does not build:\n${stdout}${stderr}`);
  return { folder: join(root, out), path: join(root, out, 'covarium.node') };
}

/**
 * A build of its own, in build-soft-`name`, with some sources edited; what is not edited comes from build-soft, which
 * must be there. Throws where an edit changes nothing: the test has lost its place in the source.
 */
export function scratchAddon(name: string, edits: Readonly<Record<string, (text: string) => string>>): SoftBuild {
  const out = `build-soft-${name}`;
  const edited = join(root, out, 'edited');
  if (!existsSync(edited))
    cpSync(join(root, 'build-soft'), join(root, out), { recursive: true, preserveTimestamps: true });
  mkdirSync(edited, { recursive: true });
  const options = Object.entries(edits).map(([source, edit]) => {
    const text = readFileSync(join(root, source), 'utf8');
    if (edit(text) === text) throw new Error(`The edit changes nothing (${source}).`);
    const path = join(edited, source.replaceAll('/', '-'));
    writeFileSync(path, edit(text));
    return `--instead=${source}=${path}`;
  });
  const build = softAddon(out, options);
  if ('reason' in build) throw new Error(build.reason);
  return build;
}
