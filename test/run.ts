// Runs test files, each in a process of its own, and ends with one line: N passed, N failed.
// Arguments are parts of file names; none means all files. An ending that uvu did not report counts as a failure.
// With COVARIUM_TEST_RETRY=1 a file that fails runs a second time, which counts; that it failed once is told at the end.
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

interface Outcome {
  passed: number;
  failed: number;
  skipped: number;
  /** What the file printed, and how it ended. */
  output: string;
}

function runFile(name: string, env: NodeJS.ProcessEnv): Promise<Outcome> {
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
    child.on('close', (code, signal) => resolve(outcomeOf(output, code, signal)));
  });
}

function outcomeOf(output: string, code: number | null, signal: NodeJS.Signals | null): Outcome {
  const [total, passed, skipped] = ['Total', 'Passed', 'Skipped'].map((label) => count(output, label)) as number[];
  // uvu's total leaves out what is skipped.
  const lost = total! - passed!;
  const isSilent = total! + skipped! === 0;
  const failed = lost > 0 || (code === 0 && !isSilent) ? lost : 1;
  return { passed: passed!, failed, skipped: skipped!, output: `${output}\nexit code ${code}, signal ${signal}` };
}

/** What a sanitizer has seen once is there, though it may be seen in one run of many; so is a crash. */
function isFinding(output: string): boolean {
  return /(?:Address|Leak|Thread|UndefinedBehavior)Sanitizer|runtime error:|signal SIG(?:SEGV|ABRT|BUS|ILL|FPE|TRAP)$/.test(
    output,
  );
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

function endOf(output: string): string {
  return output.split('\n').slice(-100).join('\n');
}

let passed = 0;
let failed = 0;
let skipped = 0;
const told: string[] = [];
const { COVARIUM_TEST_DEVICES: asked, COVARIUM_TEST_RETRY } = process.env;
const retries = COVARIUM_TEST_RETRY === '1';
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
  let outcome = await runFile(name, env);
  if (outcome.failed > 0 && retries && !isFinding(outcome.output)) {
    const first = outcome;
    console.log(`\n${title}, once more`);
    outcome = await runFile(name, env);
    told.push(`--- failed${outcome.failed === 0 ? ' once, then passed' : ''}: ${title}\n${endOf(first.output)}`);
  }
  passed += outcome.passed;
  failed += outcome.failed;
  skipped += outcome.skipped;
  if (outcome.failed > 0) told.push(`--- failed: ${title}\n${endOf(outcome.output)}`);
}
if (files.length === 0) {
  console.log(`No test file matches (${wanted.join(', ')}).`);
  failed += 1;
}
// Once more at the end, where a long log is read first; .ci/run looks for this mark.
for (const each of told) console.log(`\n${each}`);
console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed === 0 ? 0 : 1;
