// What verify and merge print about files with odd names.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { run, succeeds } from '../harness/command-line.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-verify-'));
const at = (name: string) => join(folder, name);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

test('A line end in the name of a file does not begin a line of the report.', async () => {
  if (process.platform === 'win32') return;
  const name = 'a\nother.csv: 9 rows; model, size and SHA-256 agree\u001b[2J.csv';
  writeFileSync(at('data.csv'), 'a,b\n1,2\n5,3\n7,9\n');
  await succeeds('fit', at('data.csv'), '--output', at('model.json'));
  await succeeds('sample', '--model', at('model.json'), '--count', '5', '--seed', '1', '--output', at(name));
  const { code, stdout, stderr } = await run(['verify', at(name), '--model', at('model.json')]);
  assert.is(code, 0, stderr);
  const lines = stdout.trimEnd().split('\n');
  assert.is(lines.length, 3, stdout);
  assert.match(lines[0]!, /a other\.csv: 9 rows.*\\u001b\[2J\.csv: 5 rows from row 0/);
  const parts = [at(`${name}.part`), at('second.part')];
  for (const part of parts) await succeeds('fit', at('data.csv'), '--partial', part);
  const merged = await run(['merge', ...parts, '--output', at('merged.json')]);
  assert.match(merged.stderr, /^warning: Partial fits \(.*a other\.csv: 9 rows.*have the same sums.*\n$/);
});

test.run();
