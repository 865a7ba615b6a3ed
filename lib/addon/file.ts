import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';

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

const finder = (): Finder => createRequire(import.meta.url)('node-gyp-build');

/**
 * The file at `named`. If that is '', the file that node-gyp-build finds: a build on this machine before a prebuilt
 * one, or, if `COVARIUM_PREBUILD` names a folder, the one in that folder. Throws if there is no file.
 */
export function findAddon(named: string): AddonFile {
  if (named !== '') return { path: resolve(named), origin: 'COVARIUM_ADDON' };
  const path = finder().path(packageFolder());
  const isBuiltHere = relative(packageFolder(), path).split(sep)[0] === 'build';
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

/** The folder of package.json, found from lib/ in a clone and from dist/lib/ in an installed package. */
export function packageFolder(): string {
  return dirname(createRequire(import.meta.url).resolve('covarium/package.json'));
}
