import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { CovariumError } from '../covarium-error.ts';

const script = 'node-gyp/bin/node-gyp.js';

/**
 * The script of node-gyp: the one installed beside the package, the one that npm names in the environment, or the one
 * of the npm on the PATH. Throws `ERR_TOOLCHAIN_MISSING`.
 */
export function findNodeGyp(env: NodeJS.ProcessEnv = process.env): string {
  const { npm_config_node_gyp: told, npm_execpath: running, PATH = '' } = env;
  const commands = PATH.split(delimiter).flatMap((folder) => [join(folder, 'node-gyp'), join(folder, 'npm')]);
  for (const path of [import.meta.filename, told, running, ...commands]) {
    const found = path === undefined || !existsSync(path) ? '' : nodeGypOf(realpathSync(path));
    if (found !== '') return found;
  }
  throw new CovariumError(
    'ERR_TOOLCHAIN_MISSING',
    'node-gyp is not found, nor is an npm, which contains it, on the PATH. Run `npx covarium build-native`, which passes its place, or install it: npm install --global node-gyp.',
  );
}

/** The script of the node-gyp package at `path`, or of the one that the package around `path` depends on. */
function nodeGypOf(path: string): string {
  if (path.endsWith(join('bin', 'node-gyp.js'))) return path;
  try {
    return createRequire(path).resolve(script);
  } catch {
    return '';
  }
}

/**
 * The folder with the headers of the running Node, so that node-gyp does not download them; '' if the installation has
 * none.
 */
export function nodeHeaders(): string {
  const folder = dirname(dirname(realpathSync(process.execPath)));
  const header = join(folder, 'include/node/node_version.h');
  if (!existsSync(header)) return '';
  const text = readFileSync(header, 'utf8');
  const numbers = ['MAJOR', 'MINOR', 'PATCH'].map(
    (part) => new RegExp(`#define NODE_${part}_VERSION (\\d+)`).exec(text)?.[1],
  );
  return numbers.join('.') === process.versions.node ? folder : '';
}
