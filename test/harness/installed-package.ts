// The package as npm installs it: the published files with the production dependencies beside them, and no
// development dependency that it could load.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const clone = fileURLToPath(new URL('../..', import.meta.url));

/** The addon that build.mjs builds in the clone. */
export const builtAddon: string = join(clone, 'build', 'Release', 'covarium.node');

export interface Installed {
  /** With a space and a letter beyond ASCII in its path. */
  readonly folder: string;
  readonly main: string;
}

/** A copy in a new folder, without any addon. It is removed when the process ends. */
export function installPackage(): Installed {
  // Node names a module by its real path; a Mac's folder for temporary files is a link.
  const top = mkdtempSync(join(realpathSync(tmpdir()), 'covarium-installed-'));
  process.on('exit', () => rmSync(top, { recursive: true, force: true }));
  const modules = join(top, 'Über uns', 'node_modules');
  const folder = join(modules, 'covarium');
  mkdirSync(folder, { recursive: true });
  for (const name of ['dist', 'objc', 'msl', 'package.json'])
    cpSync(join(clone, name), join(folder, name), { recursive: true });
  const { dependencies } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8')) as { dependencies: object };
  for (const name of Object.keys(dependencies)) {
    // A scope is a folder.
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(clone, 'node_modules', name), join(modules, name));
  }
  return { folder, main: join(folder, 'dist', 'lib', 'cli', 'main.js') };
}

/** An environment in which nothing chooses an addon or a tool for the package, and no sanitizer is loaded. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const { COVARIUM_ADDON, COVARIUM_DEVICE, LD_PRELOAD, npm_config_node_gyp, npm_execpath, ...rest } = process.env;
  return rest;
}
