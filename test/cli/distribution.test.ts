// Which distribution the command line draws from, and in which type.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { run } from '../harness/command-line.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-distribution-'));
const at = (name: string) => join(folder, name);
test.after(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  writeFileSync(at(name), text);
  return at(name);
}

test('Where float32 is too coarse for a mean, models and draws are float64, and one line says so.', async () => {
  const far = file('far.csv', 'a,b\n1000000001,1\n1000000002,2\n1000000004,5\n1000000000,4\n');
  const told = /^Draws are float64: float32 has steps of \(64\) at the mean \(1000000001.75\) of column \(a\).*--dtype/;
  const fitted = await run(['fit', far, '--output', at('far.json')]);
  assert.is(fitted.code, 0);
  assert.match(fitted.stderr, told);
  assert.is(JSON.parse(readFileSync(at('far.json'), 'utf8')).dtype, 'float64');
  const asked = await run(['fit', far, '--dtype', 'float32', '--output', at('asked.json')]);
  assert.equal([asked.code, asked.stderr], [0, '']);
  assert.is(JSON.parse(readFileSync(at('asked.json'), 'utf8')).dtype, 'float32');
  const [mean, covariance] = [file('far-mean.csv', '1000000000,0\n'), file('one.csv', '1,0\n0,1\n')];
  const drawn = await run(['sample', '--mean', mean, '--covariance', covariance, '--count', '5', '--output', '-']);
  assert.match(drawn.stderr, /^Draws are float64: .*column \(0\)/);
  const lines = drawn.stdout.trimEnd().split('\n');
  assert.is(new Set(lines.map((line) => line.split(',')[0])).size, 5, drawn.stdout);
});

test.run();
