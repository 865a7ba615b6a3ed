import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const builder = fileURLToPath(new URL('build.mjs', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Where software Metal has been built, or why it can't be. */
export type SoftBuild = { readonly folder: string; readonly path: string } | { readonly reason: string };

/**
 * Builds what is missing or older than its sources; `options` are those of build.mjs. `path` is the covarium.node, for
 * `COVARIUM_ADDON`. Throws where the sources do not compile: only a missing compiler or library is a reason.
 */
export function softAddon(out = 'build/soft', options: readonly string[] = []): SoftBuild {
  const { status, stdout, stderr } = spawnSync(process.execPath, [builder, `--out=${out}`, ...options], {
    encoding: 'utf8',
  });
  if (status === 2) return { reason: stderr.trim() };
  if (status !== 0) throw new Error(`Software Metal does not build:\n${stdout}${stderr}`);
  const folder = `${root}${out}`;
  return { folder, path: `${folder}/covarium.node` };
}
