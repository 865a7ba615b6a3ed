import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { CovariumError } from '../covarium-error.ts';
import { nodeRequire } from '../node-require.ts';

/** The origin of an addon: the package, a build on this machine, or `COVARIUM_ADDON`. */
export type AddonOrigin = 'prebuilt' | 'built here' | 'COVARIUM_ADDON';

/** The file that is loaded as the addon. */
export interface AddonFile {
  readonly path: string;
  readonly origin: AddonOrigin;
}

/** The functions of node-gyp-build: find a file, and read the tags in a file's name. */
interface Finder {
  path(folder: string): string;
  parseTags(name: string): object | undefined;
  matchTags(runtime: string, abi: string): (tags: object | undefined) => boolean;
}

function finder(): Finder {
  try {
    // In words that tracers of files (Next.js) look for: they then take node-gyp-build and prebuilds/ along.
    return createRequire(import.meta.url)('node-gyp-build');
  } catch {
    return nodeRequire()('node-gyp-build');
  }
}

/**
 * The file at `named`. If that is '', the file that node-gyp-build finds: a build on this machine before a prebuilt
 * one, or, if `COVARIUM_PREBUILD` names a folder, the one in that folder. Throws if there is no file.
 */
export function findAddon(named: string): AddonFile {
  if (named !== '') return { path: resolve(named), origin: 'COVARIUM_ADDON' };
  const folder = packageFolder();
  const path = finder().path(folder);
  const isBuiltHere = relative(folder, path).split(sep)[0] === 'build';
  return { path, origin: isBuiltHere ? 'built here' : 'prebuilt' };
}

/** The prebuilt addon for this platform in the package, whether it is loaded or not; '' if there is none. */
export function prebuiltAddon(): string {
  const folder = join(packageFolder(), 'prebuilds', `${process.platform}-${process.arch}`);
  try {
    const { parseTags, matchTags } = finder();
    const isForHere = matchTags('node', process.versions.modules);
    const name = readdirSync(folder).find((each) => isForHere(parseTags(each)));
    return name === undefined ? '' : join(folder, name);
  } catch {
    return '';
  }
}

/**
 * The folder of package.json, found from lib/ in a clone and from dist/lib/ in an installed package. Throws
 * `ERR_UNSUPPORTED` in a bundle that left the package behind.
 */
export function packageFolder(): string {
  try {
    const path = createRequire(import.meta.url).resolve('covarium/package.json');
    if (isAbsolute(path)) return dirname(path);
  } catch {}
  // A bundler answered with an id of its own, or left the module without its URL.
  try {
    return dirname(nodeRequire().resolve('covarium/package.json'));
  } catch (cause) {
    throw leftBehind('the native addon', ', or set COVARIUM_ADDON to a copy of the addon', cause);
  }
}

/** The folder of the package's Metal headers. Throws `ERR_UNSUPPORTED` in a bundle that left them behind. */
export function headersFolder(): string {
  const refusal = () => leftBehind('the headers of kernels (msl/)', '');
  let folder: string;
  try {
    folder = join(packageFolder(), 'msl');
  } catch {
    throw refusal();
  }
  if (!existsSync(folder)) throw refusal();
  return folder;
}

function leftBehind(what: string, otherwise: string, cause?: unknown): CovariumError {
  return new CovariumError(
    'ERR_UNSUPPORTED',
    `This bundle was made without ${what} of the package covarium. Leave covarium out of the bundle (\`external\`) and install it beside the bundle${otherwise}.`,
    { cause },
  );
}
