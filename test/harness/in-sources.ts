import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, relative, resolve } from 'node:path';

/**
 * Replaces places in the code that compile.ts has written into `folder` by places in its sources. Node does this with
 * --enable-source-maps, but then each process reads the maps of everything that it loads, and most processes print no
 * place.
 */
export function inSources(text: string, folder: string): string {
  const maps = new Map<string, SourceMap | undefined>();
  const mapOf = (path: string) => {
    if (!maps.has(path)) maps.set(path, existsSync(`${path}.map`) ? readMap(`${path}.map`) : undefined);
    return maps.get(path);
  };
  return text.replaceAll(/(?:file:\/\/)?(\/[^\s:()]+\.js):(\d+):(\d+)/g, (place, path: string, line, column) => {
    if (relative(folder, path).startsWith('..')) return place;
    const entry = mapOf(path)?.findEntry(Number(line) - 1, Number(column) - 1);
    if (entry === undefined || !('originalSource' in entry)) return place;
    return `${resolve(dirname(path), entry.originalSource)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  });
}

function readMap(path: string): SourceMap {
  return new SourceMap(JSON.parse(readFileSync(path, 'utf8')) as SourceMapPayload);
}
