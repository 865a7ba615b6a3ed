import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const builder = fileURLToPath(new URL('build.mjs', import.meta.url));
const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Where software Metal has been built: `path` is the covarium.node, for `COVARIUM_ADDON`. */
interface SoftBuild {
  readonly folder: string;
  readonly path: string;
}

/**
 * Builds what is missing or older than its sources, or says why it can't; `options` are those of build.mjs. Throws if
 * the sources do not compile: only a missing compiler or library is a reason. A build of test/run.ts, named in
 * COVARIUM_TEST_STAND_IN, is current.
 */
export function softAddon(out = 'build-soft', options: readonly string[] = []): SoftBuild | { reason: string } {
  const { COVARIUM_TEST_STAND_IN: made }: NodeJS.ProcessEnv & { COVARIUM_TEST_STAND_IN?: string } = process.env;
  if (made !== undefined && join(root, out, 'covarium.node') === made) return { folder: join(root, out), path: made };
  const { status, stdout, stderr } = spawnSync(process.execPath, [builder, `--out=${out}`, ...options], {
    encoding: 'utf8',
  });
  if (status === 2) return { reason: stderr.trim() };
  if (status !== 0) throw new Error(`Software Metal does not build:\n${stdout}${stderr}`);
  return { folder: join(root, out), path: join(root, out, 'covarium.node') };
}

/**
 * The folder, build-soft-`name`, of a driver with some sources edited; its other objects are those of build-soft.
 * Throws if an edit changes nothing: then the source has changed and the test must follow.
 */
export function scratchDriver(
  name: string,
  driver: string,
  edits: Readonly<Record<string, (text: string) => string>>,
): string {
  const out = `build-soft-${name}`;
  const edited = join(root, out, 'edited');
  mkdirSync(edited, { recursive: true });
  const options = Object.entries(edits).map(([source, edit]) => {
    const text = readFileSync(join(root, source), 'utf8');
    if (edit(text) === text) throw new Error(`The edit changes nothing (${source}).`);
    const path = join(edited, source.replaceAll('/', '-'));
    writeFileSync(path, edit(text));
    return `--instead=${source}=${path}`;
  });
  const build = softAddon(out, [`--only=${driver}`, ...options]);
  if ('reason' in build) throw new Error(build.reason);
  return build.folder;
}
