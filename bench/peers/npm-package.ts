import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** An installed package: its exports and its version. */
interface NpmPackage {
  readonly exports: unknown;
  readonly version: string;
}

/**
 * Loads a package from the user's working folder, or else from covarium's. Returns a text with the reason if it
 * can't.
 */
export function npmPackage(name: string, folder: string = process.cwd()): NpmPackage | string {
  for (const require of [createRequire(join(folder, 'package.json')), createRequire(import.meta.url)]) {
    let path: string;
    try {
      path = require.resolve(name);
    } catch {
      continue;
    }
    try {
      return { exports: require(name), version: versionOf(name, path) };
    } catch (error) {
      return `${name} can't be loaded (${(error as Error).message})`;
    }
  }
  return `${name} is not installed: npm install ${name}`;
}

// Not every package exports its package.json.
function versionOf(name: string, path: string): string {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    if (!existsSync(file)) continue;
    const read = JSON.parse(readFileSync(file, 'utf8')) as { name?: string; version?: string };
    if (read.name === name) return read.version ?? '';
  }
  return '';
}
