// The licences of the packages that dist/ contains. build.mjs calls it with what esbuild bundled; run alone, as before
// packing (prebuilds.mjs, the release workflow), it fails unless the notices exist.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const target = join(folder, 'dist/THIRD-PARTY-NOTICES');

/** Writes the notices of the packages that `inputs` (paths of an esbuild metafile) belong to, and of `others`. */
export function writeNotices(inputs, others) {
  const roots = new Set(others.map((name) => join('node_modules', name)));
  for (const input of inputs) {
    const [root] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input) ?? [];
    if (root !== undefined) roots.add(root);
  }
  const notices = [...roots].map(noticeOf).sort((a, b) => (a < b ? -1 : 1));
  const head = `This package contains code of ${notices.length} others. Their licences follow.\n`;
  writeFileSync(target, [head, ...notices].join(`\n${'-'.repeat(80)}\n\n`));
}

function noticeOf(root) {
  const at = join(folder, root);
  const { name, version, license, author } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8'));
  const file = readdirSync(at).find((each) => /^(licen[cs]e|copying)(\.|-|$)/i.test(each));
  const holder = typeof author === 'string' ? author : author?.name;
  const text = file === undefined ? standardText(license, holder) : readFileSync(join(at, file), 'utf8');
  if (text === undefined) throw new Error(`Package (${name}) is bundled, and has no licence text in (${root}).`);
  return `${name} ${version} (${license})\n\n${text.trim()}\n`;
}

// Of a package that names its licence and its author, and carries no text (boolbase).
function standardText(license, holder) {
  if (license !== 'ISC' || holder === undefined) return undefined;
  return `ISC License

Copyright (c) ${holder}

Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted,
provided that the above copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL
IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT,
INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN
ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF
THIS SOFTWARE.`;
}

/** Ends the process with an error where the notices are missing. */
export function requireNotices() {
  if (existsSync(target)) return;
  console.error('dist/THIRD-PARTY-NOTICES is missing: run `npm run build` before the package is packed.');
  process.exit(1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) requireNotices();
