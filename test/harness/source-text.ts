// The text of the package's own files, for the tests of the repository's structure.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as assert from 'uvu/assert';

const folder = fileURLToPath(new URL('../..', import.meta.url));

/** True if a file or folder exists. Paths are relative to the package's folder, here and below. */
export const isThere = (path: string): boolean => existsSync(join(folder, path));

export const read = (path: string): string => readFileSync(join(folder, path), 'utf8');

/** `of` with its results cached, because the repository's files do not change while it is tested. */
export function once<Found>(of: (path: string) => Found): (path: string) => Found {
  const known = new Map<string, Found>();
  return (path) => {
    if (!known.has(path)) known.set(path, of(path));
    return known.get(path)!;
  };
}

/** All files of a room; none if there is no such room. */
export function list(room: string): string[] {
  if (!isThere(room)) return [];
  return (
    readdirSync(join(folder, room), { recursive: true, withFileTypes: true, encoding: 'utf8' })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length))
      // docs/site has its own packages, and generates pages from ours.
      .filter((path) => !/(^|\/)(node_modules|\.vitepress\/(cache|dist))\//.test(path))
      .sort()
  );
}

/** The files of the rooms that hold code, of lib/, and of the native part. */
export const files: readonly string[] = ['lib', 'objc', 'msl', 'test', 'bench', 'examples'].flatMap(list);
export const lib: readonly string[] = files.filter((path) => /^lib\/.*\.ts$/.test(path));
export const sources: readonly string[] = files.filter((path) => /^(objc|msl)\//.test(path));

/** Code without comments: a comment may name what the code must not. */
export const code = (path: string): string => read(path).replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');

const anyImport = /(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g;

/** The modules that a TypeScript file imports when it runs: statements that import types only are left out. */
export function importsOf(path: string): string[] {
  return importsIn(path, withoutTypes(path), anyImport);
}

/** The modules that it imports when it is loaded, not later in a call. */
export function staticImportsOf(path: string): string[] {
  return importsIn(path, withoutTypes(path), /(?:\bfrom|\bimport)\s*'([^']+)'/g);
}

/** The modules that it names, types included. */
export const namedModulesOf: typeof importsOf = once((path) => importsIn(path, code(path), anyImport));

const withoutTypes = (path: string) => code(path).replace(/\b(?:import|export) type [^;]*;/g, '');

function importsIn(path: string, text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, name]) =>
    name!.startsWith('.') ? normalize(join(dirname(path), name!)) : name!,
  );
}

/** What a source includes with quotes (as paths, if the file exists) or with brackets. */
export function includesOf(path: string): { quoted: string[]; system: string[] } {
  const text = code(path);
  const quoted = [...text.matchAll(/^\s*#\s*(?:include|import)\s*"([^"]+)"/gm)].map(([, name]) => {
    const places = [dirname(path), 'msl', 'msl/cpu', 'objc/cpu'].map((from) => normalize(join(from, name!)));
    return places.find(isThere) ?? name!;
  });
  const system = [...text.matchAll(/^\s*#\s*(?:include|import)\s*<([^>]+)>/gm)].map(([, name]) => name!);
  return { quoted, system };
}

/** The files of lib/ that loading `path` loads. */
export function reachedFrom(
  path: string,
  seen: Set<string> = new Set(),
  imports: typeof importsOf = importsOf,
): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const name of imports(path)) if (name.startsWith('lib')) reachedFrom(name, seen, imports);
  return seen;
}

/** Fails with every path that is wrong, not only the first. */
export function none(wrong: readonly string[], law: string): void {
  assert.equal(wrong, [], law);
}
