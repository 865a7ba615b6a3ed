import { existsSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type AddonOrigin, packageFolder, prebuiltAddon } from './file.ts';
import { loadAddon } from './native.ts';

/** Which file was loaded as the addon, for bug reports. */
export interface AddonReport {
  /** '' where no file was found. */
  readonly path: string;
  readonly origin: AddonOrigin | 'none';
  /** Of the sources that it was built from; '' where it is not loaded or doesn't say. */
  readonly version: string;
  /** Why it is not loaded; '' where it is. */
  readonly reason: string;
  readonly warnings: readonly string[];
}

/**
 * The addon that is loaded, and what is odd about it: not the one that the package brings, of another version, older
 * than its sources.
 */
export function reportAddon(): AddonReport {
  const { addon, reason, file } = loadAddon();
  if (file === undefined) return { path: '', origin: 'none', version: '', reason, warnings: [] };
  const { path, origin } = file;
  const warnings: string[] = [];
  const prebuilt = prebuiltAddon();
  if (origin === 'built here' && prebuilt !== '')
    warnings.push(`A build on this machine (${path}) is taken in place of the prebuilt addon (${prebuilt}).`);
  const { version } = createRequire(import.meta.url)('covarium/package.json') as { version: string };
  const built = addon?.version ?? '';
  if (addon !== undefined && built !== version)
    warnings.push(`The addon is of covarium (${built || 'an older version'}), and the package is (${version}).`);
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
