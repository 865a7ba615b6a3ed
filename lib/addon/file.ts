import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** Where an addon comes from: out of the package, from a build on this machine, or from `COVARIUM_ADDON`. */
export type AddonOrigin = 'prebuilt' | 'built here' | 'COVARIUM_ADDON';

/** The file that is loaded as the addon. */
export interface AddonFile {
  readonly path: string;
  readonly origin: AddonOrigin;
}

/** What node-gyp-build exports: how it finds a file, and how it reads the tags in a file's name. */
interface Finder {
  path(folder: string): string;
  parseTags(name: string): object | undefined;
  matchTags(runtime: string, abi: string): (tags: object | undefined) => boolean;
}

const finder = (): Finder => createRequire(import.meta.url)('node-gyp-build');

/**
 * The file at `named`, or, where that is '', what node-gyp-build takes: a build on this machine before a prebuilt one.
 * node-gyp-build looks in the folder that `COVARIUM_PREBUILD` names instead, if it is set. Throws where there is none.
 */
export function findAddon(named: string): AddonFile {
  if (named !== '') return { path: resolve(named), origin: 'COVARIUM_ADDON' };
  const path = finder().path(packageFolder());
  const isBuiltHere = relative(packageFolder(), path).split(sep)[0] === 'build';
  return { path, origin: isBuiltHere ? 'built here' : 'prebuilt' };
}

/**
 * The prebuilt addon for this platform that the package brings, whether it is the one that is loaded or not; '' where
 * it brings none.
 */
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

/** The folder of package.json: the same for lib/ in a clone and for dist/lib/ in an installed package. */
export function packageFolder(): string {
  return dirname(createRequire(import.meta.url).resolve('covarium/package.json'));
}
