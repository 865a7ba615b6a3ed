// Runs test files, each in a process of its own, and ends with one line: N passed, N failed.
// Arguments are parts of file names; none means all files. An ending that uvu did not report counts as a failure.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

const folder = fileURLToPath(new URL('.', import.meta.url));
const wanted = process.argv.slice(2);
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter(
    (name) =>
      name.endsWith('.test.ts') && (wanted.length === 0 || wanted.some((part) => basename(name).includes(part))),
  )
  .sort();

function runFile(name: string): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--expose-gc', '--import', 'tsx', join(folder, name)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const print = (chunk: Buffer) => {
      output += chunk;
      process.stdout.write(chunk);
    };
    child.stdout.on('data', print);
    child.stderr.on('data', print);
    child.on('close', (code) => resolve({ code, output }));
  });
}

function count(output: string, label: string): number {
  const plain = stripVTControlCharacters(output);
  return [...plain.matchAll(new RegExp(`^\\s*${label}:\\s+(\\d+)`, 'gm'))].reduce(
    (sum, [, digits]) => sum + Number(digits),
    0,
  );
}

let passed = 0;
let failed = 0;
let skipped = 0;
for (const name of files) {
  console.log(`\n${name}`);
  const { code, output } = await runFile(name);
  // uvu's total leaves out what is skipped.
  const failures = count(output, 'Total') - count(output, 'Passed');
  const silent = count(output, 'Total') + count(output, 'Skipped') === 0;
  passed += count(output, 'Passed');
  skipped += count(output, 'Skipped');
  failed += failures > 0 || (code === 0 && !silent) ? failures : 1;
}
if (files.length === 0) {
  console.log(`No test file matches (${wanted.join(', ')}).`);
  failed += 1;
}
console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed === 0 ? 0 : 1;
