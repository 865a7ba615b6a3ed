// node --import tsx test/harness/pages.ts covarium-1.2.3.tgz
//
// Installs the tarball in an empty folder, and runs there the program of README and of each page as a user pastes it,
// without flags. Types of TypeScript are removed first. The last line sums up: N passed, N failed.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { blocksOf, pages } from '../repo/markdown.ts';

const [tarball] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'covarium-pages-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', resolve(tarball!)];
execFileSync('npm', install, { cwd: folder, stdio: 'pipe' });

/** The blocks of one language are one program, or one file. */
const text = (page: string, language: string) =>
  blocksOf(page)
    .filter((block) => block.language === language)
    .map((block) => `${block.text}\n`)
    .join('');

let [passed, failed] = [0, 0];
for (const page of pages) {
  const program = text(page, 'ts');
  if (!/\bfrom 'covarium'/.test(program)) continue;
  const room = join(folder, page.replaceAll(/[/.]/g, '-'));
  mkdirSync(room);
  // The tutorial's own data.
  if (page === 'docs/tutorial.md') writeFileSync(join(room, 'trees.csv'), text(page, 'text'));
  const isTyped = page === 'docs/typescript-kernels.md';
  const target = ts.ScriptTarget.ES2022;
  const plain = isTyped ? ts.transpile(program, { target, module: ts.ModuleKind.ESNext }) : program;
  writeFileSync(join(room, 'page.js'), plain);
  const { status, stderr } = spawnSync(process.execPath, ['page.js'], { cwd: room, encoding: 'utf8' });
  if (status === 0) passed += 1;
  else failed += 1;
  if (status !== 0) console.log(`--- failed: ${page} (${status})\n${stderr}`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 5 ? 0 : 1;
