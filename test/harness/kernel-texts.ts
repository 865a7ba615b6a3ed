import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

/** The files of a folder and of those within it, by their paths in it. */
export function textsIn(folder: string): Map<string, string> {
  return new Map(filesIn(folder).map((file) => [relative(folder, file), readFileSync(file, 'utf8')]));
}

function filesIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const inner = join(folder, name);
    return statSync(inner).isDirectory() ? filesIn(inner) : [inner];
  });
}

/**
 * What the text at `path` may include, by the names that texts of its source include. An include names the end of a
 * path; if several match, the nearest is taken.
 */
export function includesOf(texts: ReadonlyMap<string, string>, path: string): { [name: string]: string } {
  const includes: { [name: string]: string } = {};
  const wanted = new Set(
    [...texts.values()].flatMap((each) =>
      [...each.matchAll(/#\s*include\s*["<]([^">]+)[">]/g)].map(([, name]) => name!),
    ),
  );
  for (const name of wanted) {
    const plain = name.replace(/^(?:\.\.?\/)+/, '');
    const match = [...texts.keys()]
      .filter((each) => `/${each}`.endsWith(`/${plain}`))
      .sort((a, b) => common(b, path) - common(a, path) || a.length - b.length)[0];
    if (match !== undefined) includes[name] = texts.get(match)!;
  }
  return includes;
}

/** The number of characters that two paths begin with. */
function common(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}
