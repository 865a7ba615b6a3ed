// The pages that people read, their blocks of code, headings and links.
import { dirname, join, normalize } from 'node:path';
import { list, once, read } from '../harness/source-text.ts';

/**
 * The pages at the top and all of docs/, by path. Generated pages are left out: docs/api, made from docstrings, whose
 * blocks are signatures; and docs/example-report, made by the benchmark, whose text test/bench/report.test.ts checks.
 */
export const pages: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...list('docs').filter((path) => path.endsWith('.md') && !/^docs\/(api|example-report)\//.test(path)),
];

/** A block of code: between fences with its language, or indented by four, which here means shell commands. */
export interface Block {
  readonly page: string;
  /** Number of its first line of code, from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

export function blocksOf(page: string, text: string = read(page)): Block[] {
  const blocks: Block[] = [];
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const fence = /^ *```(.*)$/.exec(lines[at]!);
    const begin = fence === null ? at : at + 1;
    if (fence === null && !(/^ {4}\S/.test(lines[at]!) && (at === 0 || lines[at - 1] === ''))) continue;
    const isInside = (line: string) => (fence === null ? /^( {4}|$)/.test(line) : !/^ *```$/.test(line));
    at = begin;
    while (at < lines.length && isInside(lines[at]!)) at++;
    const code = lines.slice(begin, at).map((line) => (fence === null ? line.slice(4) : line));
    blocks.push({
      page,
      line: begin + 1,
      language: fence === null ? 'sh' : fence[1]!,
      text: code.join('\n').trimEnd(),
    });
    if (fence === null) at--;
  }
  return blocks;
}

/** The prose of a page, its code left out. */
function prose(text: string): string {
  return text.replace(/^ *```[\s\S]*?^ *```$/gm, '').replace(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ' '));
}

/** The targets of a page's links to other files, relative to the package's folder: `docs/metal.md#how-we-know`. */
export const linksOf: (page: string) => string[] = once((page) =>
  // `../../actions` is a page of the host that shows the repository.
  [...prose(read(page)).matchAll(/\]\(([^)\s]+)\)|\bsrc="([^"]+)"/g)]
    .map(([, to, source]) => (to ?? source)!)
    .filter((to) => !/^([a-z]+:|\.\.\/\.\.\/actions\/)/.test(to))
    .map((to) => (to.startsWith('#') ? `${page}${to}` : normalize(join(dirname(page), to)))),
);

/** What a link into a page may name: its headings as GitHub names them, and the anchors it sets itself. */
export const anchorsOf: (page: string) => Set<string> = once((page) => {
  const text = read(page);
  const anchors = new Set([...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id!));
  for (const [, heading] of text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.*)$/gm)) {
    const plain = heading!.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = plain.replace(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
    let name = slug;
    for (let again = 1; anchors.has(name); again++) name = `${slug}-${again}`;
    anchors.add(name);
  }
  return anchors;
});
