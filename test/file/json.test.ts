// JSON files: a repeated key and an unknown field are refused with their place. No native code runs here.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readModel } from '../../lib/cli/model.ts';
import { readPartial } from '../../lib/cli/partial-fit.ts';
import { parseJson, unknownField, whyNotJson } from '../../lib/file/json.ts';
import { Moments } from '../../lib/index.ts';
import { readRunFile } from '../../lib/run/manifest.ts';
import fc from '../harness/properties.ts';
import { throwsCode } from '../harness/throws-code.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-json-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const why = (text: string): string => {
  try {
    parseJson(text);
  } catch (error) {
    return whyNotJson(error);
  }
  return '';
};

test('A repeated key is named with its place, however it is written.', () => {
  assert.is(why('{"a":1,"b":{"a":2},"a":3}'), 'a field occurs twice (a)');
  assert.is(why('{"x":[0,{"b":1},{"b":2,"c":"}{\\"","\\u0062":3}]}'), 'a field occurs twice (x[2].b)');
  assert.is(why('[{"a":[]},{"a":{},"a":0}]'), 'a field occurs twice ([1].a)');
  assert.match(why('{"a":1'), /^it is not JSON \(/);
  assert.is(unknownField({ a: 1, b: 2 }, ['a'], 'run'), 'it has an unknown field (run.b)');
});

test('Everything that JSON.stringify writes is read back unchanged.', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value, undefined, 1);
      assert.equal(parseJson(text), JSON.parse(text));
    }),
  );
});

test('The time to read a text is proportional to its length.', () => {
  const timeOf = (count: number) => {
    const text = `{${Array.from({ length: count }, (_, i) => `"key${i}":["\\"{",{"a":1}]`).join(',')}}`;
    let best = Infinity;
    for (let run = 0; run < 5; run++) {
      const begin = process.cpuUsage();
      parseJson(text);
      // Processor time, so that a busy machine does not count.
      const { user, system } = process.cpuUsage(begin);
      best = Math.min(best, user + system);
    }
    return best;
  };
  timeOf(2000);
  const ratio = timeOf(40_000) / timeOf(4_000);
  assert.ok(ratio < 40, `ten times the text takes (${ratio.toFixed(1)}) times as long`);
});

test('Models, partial fits, moments and run files refuse fields that they do not know.', async () => {
  const model = { covarium: 1, mean: [0], covariance: [[1]] };
  await readModel(file('model.json', JSON.stringify(model)));
  const odd = file('odd.json', JSON.stringify({ ...model, Mean: [1] }));
  await throwsCode('ERR_MALFORMED_MODEL', 'unknown field (Mean)', () => readModel(odd));
  const twice = file('twice.json', '{"covarium":1,"mean":[0],"mean":[1],"covariance":[[1]]}');
  await throwsCode('ERR_MALFORMED_MODEL', 'twice (mean)', () => readModel(twice));

  const moments = JSON.parse(JSON.stringify(new Moments(1))) as object;
  await throwsCode('ERR_MALFORMED_MOMENTS', 'weights', () => Moments.fromJSON({ ...moments, weights: 2 }));
  const partial = { covariumPartial: 1, dropped: 0, moments };
  const refused = (name: string, value: object, says: string) =>
    throwsCode('ERR_MALFORMED_MOMENTS', says, () => readPartial(file(name, JSON.stringify(value))));
  await readPartial(file('partial.json', JSON.stringify(partial)));
  await refused('p1.json', { ...partial, column: [] }, 'unknown field (column)');
  await refused('p2.json', { ...partial, moments: { ...moments, mode: 1 } }, 'mode');
  const shards = { count: 2, here: [1], of: '0'.repeat(64), more: 1 };
  await refused('p3.json', { ...partial, shards }, 'unknown field (shards.more)');

  const run = {
    ...{ model: '0'.repeat(64), seed: '1', stream: '0', normalStream: 1, firstRow: '0', rows: 1, columns: 1 },
    ...{ names: null, dtype: 'float32', format: 'npy', rowsPerBlock: 64 },
  };
  const runFile = { covarium: 1, kind: 'run', run, rowsPerPart: 10 };
  await readRunFile(file('run.json', JSON.stringify(runFile)));
  for (const [changed, says] of [
    [{ ...runFile, rowsperpart: 1 }, '(rowsperpart)'],
    [{ ...runFile, run: { ...run, seeds: '2' } }, '(run.seeds)'],
  ] as const)
    await throwsCode('ERR_MALFORMED_MANIFEST', says, () => readRunFile(file('run2.json', JSON.stringify(changed))));
});

test.run();
