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
  const { name, version, license } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8'));
  const file = readdirSync(at).find((each) => /^(licen[cs]e|copying)(\.|-|$)/i.test(each));
  if (file === undefined) throw new Error(`Package (${name}) is bundled, and has no licence text in (${root}).`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(at, file), 'utf8').trim()}\n`;
}

/** Ends the process with an error where the notices are missing. */
export function requireNotices() {
  if (existsSync(target)) return;
  console.error('dist/THIRD-PARTY-NOTICES is missing: run `npm run build` before the package is packed.');
  process.exit(1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) requireNotices();
