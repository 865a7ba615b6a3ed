// Runs test files, each in a process of its own, and ends with one line: N passed, N failed.
// Arguments are parts of file names; none means all files. An ending that uvu did not report counts as a failure.
//
// Where there is no Mac, those that are about every device run a second time, on the Metal device over its software stand-in
// (test/softmetal): the same text, another addon.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { platform } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { sanitized } from './sanitized.ts';
import { softAddon } from './softmetal/addon.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const wanted = process.argv.slice(2);
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter(
    (name) =>
      name.endsWith('.test.ts') && (wanted.length === 0 || wanted.some((part) => basename(name).includes(part))),
  )
  .sort();

interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
  output: string;
}

function runFile(name: string, env: NodeJS.ProcessEnv): Promise<Ending> {
  return new Promise((resolve) => {
    const before = hasProperties(name) ? ['--import', new URL('property-seed.ts', import.meta.url).href] : [];
    const child = spawn(process.execPath, ['--expose-gc', '--import', 'tsx', ...before, join(folder, name)], {
      // The programs colour their text where CI or FORCE_COLOR asks for it; the tests compare it without.
      env: { ...env, NO_COLOR: '1', FORCE_COLOR: undefined },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const print = (chunk: Buffer) => {
      output += chunk;
      process.stdout.write(chunk);
    };
    child.stdout.on('data', print);
    child.stderr.on('data', print);
    child.on('close', (code, signal) => resolve({ code, signal, output }));
  });
}

function count(output: string, label: string): number {
  const plain = stripVTControlCharacters(output);
  return [...plain.matchAll(new RegExp(`^\\s*${label}:\\s+(\\d+)`, 'gm'))].reduce(
    (sum, [, digits]) => sum + Number(digits),
    0,
  );
}

function isAboutDevices(name: string): boolean {
  return /from '\.\/(?:every-(?:device|backend)|kernel-devices)\.ts'|onCpuAndMetal\(/.test(
    readFileSync(join(folder, name), 'utf8'),
  );
}

function hasProperties(name: string): boolean {
  return /from 'fast-check'/.test(readFileSync(join(folder, name), 'utf8'));
}

/** Such a test says so itself: the sanitizers would watch Node, or a browser, and nothing of ours. */
function hasNothingNative(name: string): boolean {
  const itDoes = /^\/\/ Nothing native runs here\.$/m.test(readFileSync(join(folder, name), 'utf8'));
  if (itDoes) console.log(`left to the run without sanitizers, since nothing native runs there: ${name}`);
  return itDoes;
}

/** The addon with the stand-in: none on a Mac, nor where an addon is chosen already (test/sanitize.mjs). */
function standIn(): { path: string; reason: string } {
  const { COVARIUM_ADDON: chosen } = process.env;
  if (platform() === 'darwin' || chosen !== undefined) return { path: '', reason: '' };
  const built = softAddon();
  return 'reason' in built ? { path: '', reason: built.reason } : { path: built.path, reason: '' };
}

let passed = 0;
let failed = 0;
let skipped = 0;
const failures: { title: string; output: string }[] = [];
const { COVARIUM_TEST_DEVICES: asked } = process.env;
const stand = standIn();
if (stand.reason !== '') console.log(`skipped  metal: ${stand.reason}`);
const runs = files.flatMap((name) => {
  // Where only the Metal device is asked for (test/sanitize.mjs), the rest has nothing to say.
  if (asked === 'metal' && !isAboutDevices(name) && !/^metal/.test(name)) return [];
  if (sanitized && hasNothingNative(name)) return [];
  const once = { title: name, name, env: process.env };
  if (stand.path === '' || !isAboutDevices(name)) return [once];
  once.env = { ...process.env, COVARIUM_TEST_DEVICES: 'cpu,reference' };
  const env = { ...process.env, COVARIUM_ADDON: stand.path, COVARIUM_TEST_DEVICES: 'metal' };
  return [once, { title: `${name} (metal, over its software stand-in)`, name, env }];
});
for (const { title, name, env } of runs) {
  console.log(`\n${title}`);
  const { code, signal, output } = await runFile(name, env);
  // uvu's total leaves out what is skipped.
  const lost = count(output, 'Total') - count(output, 'Passed');
  const silent = count(output, 'Total') + count(output, 'Skipped') === 0;
  passed += count(output, 'Passed');
  skipped += count(output, 'Skipped');
  const failedHere = lost > 0 || (code === 0 && !silent) ? lost : 1;
  failed += failedHere;
  if (failedHere > 0) failures.push({ title, output: `${output}\nexit code ${code}, signal ${signal}` });
}
if (files.length === 0) {
  console.log(`No test file matches (${wanted.join(', ')}).`);
  failed += 1;
}
// Once more at the end, where a long log is read first; .ci/run looks for this mark.
for (const { title, output } of failures)
  console.log(`\n--- failed: ${title}\n${output.split('\n').slice(-100).join('\n')}`);
console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed === 0 ? 0 : 1;
