import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { nodeRequire } from '../node-require.ts';
import { type AddonOrigin, packageFolder, prebuiltAddon } from './file.ts';
import { loadAddon } from './native.ts';

/** The file that was loaded as the addon, for bug reports. */
export interface AddonReport {
  /** '' if no file was found. */
  readonly path: string;
  readonly origin: AddonOrigin | 'none';
  /** The version of the sources that it was built from; '' if it is not loaded or does not say. */
  readonly version: string;
  /** Why it is not loaded; '' if it is. */
  readonly reason: string;
  readonly warnings: readonly string[];
}

/**
 * The addon that is loaded, with warnings if it is not the package's own, is of another version, or is older than its
 * sources.
 */
export function reportAddon(): AddonReport {
  const { addon, reason, file } = loadAddon();
  if (file === undefined) return { path: '', origin: 'none', version: '', reason, warnings: [] };
  const { path, origin } = file;
  const warnings: string[] = [];
  const prebuilt = prebuiltAddon();
  if (origin === 'built here' && prebuilt !== '')
    warnings.push(`A build on this machine (${path}) is used instead of the prebuilt addon (${prebuilt}).`);
  const { version } = nodeRequire()('covarium/package.json') as { version: string };
  const built = addon?.version ?? '';
  if (addon !== undefined && built !== version)
    warnings.push(`The addon is of covarium (${built || 'an older version'}), but the package is (${version}).`);
  if (origin === 'built here' && isOlderThanSources(path))
    warnings.push(`The addon (${path}) is older than its sources: build it again.`);
  return { path, origin, version: built, reason, warnings };
}

function isOlderThanSources(path: string): boolean {
  const built = statSync(path).mtimeMs;
  return ['objc', 'msl'].some((name) => {
    const folder = join(packageFolder(), name);
    if (!existsSync(folder)) return false;
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).some(
      (each) => statSync(join(folder, each)).mtimeMs > built,
    );
  });
}
