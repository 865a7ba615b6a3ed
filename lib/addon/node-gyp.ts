import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { CovariumError } from '../covarium-error.ts';

const script = 'node-gyp/bin/node-gyp.js';

/**
 * The script of node-gyp: one that is installed beside the package, the one that npm says it uses, or the one that the
 * npm on the PATH brings. Throws `ERR_TOOLCHAIN_MISSING`.
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
    'node-gyp is not found: npm brings it, and none is found by the PATH. `npx covarium build-native` says where it is, or it can be installed: npm install --global node-gyp.',
  );
}

/** Of node-gyp itself, or of the package that `path` is a file of. */
function nodeGypOf(path: string): string {
  if (path.endsWith(join('bin', 'node-gyp.js'))) return path;
  try {
    return createRequire(path).resolve(script);
  } catch {
    return '';
  }
}

/**
 * The folder with the headers of this very Node, so that node-gyp needn't download them; '' where its installation has
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
