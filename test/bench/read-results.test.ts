import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseResults, readResults } from '../../bench/read-results.ts';
import type { Results } from '../../bench/results.ts';
import { throwsCode } from '../harness/throws-code.ts';
import { contender, measurement, results, time } from './some-results.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-results-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Every field and entry below a value, with its path as messages write it. */
function* below(
  value: Json,
  path = '',
): Generator<{ path: string; value: Json; parent: Json[] | { [key: string]: Json }; key: string }> {
  if (typeof value !== 'object' || value === null) return;
  const isRecord = /(^|\.)(facts|environment)$/.test(path);
  for (const [key, entry] of Object.entries(value)) {
    const inRecord = isRecord ? `${path}[${JSON.stringify(key)}]` : path === '' ? key : `${path}.${key}`;
    const at = Array.isArray(value) ? `${path}[${key}]` : inRecord;
    yield { path: at, value: entry, parent: value as Json[], key };
    yield* below(entry, at);
  }
}

/** A copy, changed at a path. */
function changed(path: string, change: (parent: Record<string, unknown>, key: string) => void): unknown {
  const copy = JSON.parse(JSON.stringify(results())) as Json;
  const place = [...below(copy)].find((each) => each.path === path);
  assert.ok(place, path);
  change(place.parent as Record<string, unknown>, place.key);
  return copy;
}

/** Asserts that a value is refused, with the file and with this path at the start of the reason. */
async function refused(value: unknown, path: string, why = ''): Promise<void> {
  const error = await throwsCode('ERR_MALFORMED_RESULTS', () => parseResults(value, 'a/results.json'));
  assert.is(error.path, 'a/results.json');
  const head = `Results (a/results.json) are malformed: ${path} ${why}`;
  assert.is(error.message.slice(0, head.length), head);
}

const places = [...below(JSON.parse(JSON.stringify(results())) as Json)];

test('Valid results are returned unchanged.', () => {
  assert.equal(parseResults(JSON.stringify(results()), 'x'), results());
  assert.ok(places.length > 100, 'the tests below have something to break');
});

test('A missing field is refused, whichever it is.', async () => {
  let broken = 0;
  for (const { path } of places) {
    if (path.endsWith(']')) continue;
    await refused(
      changed(path, (parent, key) => delete parent[key]),
      path,
    );
    ++broken;
  }
  assert.ok(broken > 80);
});

test('A field or entry of another type is refused, whichever it is.', async () => {
  for (const { path, value } of places) {
    const wrong =
      typeof value === 'number' || value === null
        ? ['1', true, []]
        : [7, typeof value === 'string' && !path.endsWith('.dtype') ? null : 'x'];
    for (const other of wrong) {
      await refused(
        changed(path, (parent, key) => Object.assign(parent, { [key]: other })),
        path,
      );
    }
  }
});

test('A number that is negative, NaN, infinite, or null where that is not allowed, is refused.', async () => {
  const mayBeNull = /\.(load|threads|dtype|dimension|count|shareOfLimit)$/;
  for (const { path, value } of places) {
    if (typeof value !== 'number') continue;
    for (const wrong of [-1, NaN, Infinity, ...(mayBeNull.test(path) ? [] : [null])])
      await refused(
        changed(path, (parent, key) => Object.assign(parent, { [key]: wrong })),
        path,
      );
  }
  await refused(JSON.stringify(results({ seconds: NaN })), 'seconds', 'is not a number (null).');
  await refused(JSON.stringify(results()).replace('61.5', '1e999'), 'seconds', 'is not a number (Infinity).');
});

test('Text that is cut off anywhere, or holds NaN, is refused as not JSON.', async () => {
  const text = JSON.stringify(results());
  for (let length = 0; length < text.length; ++length) await refused(text.slice(0, length), 'The text', 'is not JSON');
  await refused(text.replace('61.5', 'NaN'), 'The text', 'is not JSON');
});

test('Foreign JSON and other versions are distinguished from broken fields.', async () => {
  for (const foreign of ['[]', '{}', 'null', '5', '"covarium-benchmark"', '{"schema":"another","version":2}'])
    await refused(foreign, 'schema', 'is not covarium-benchmark (');
  await refused(
    '{"schema":"covarium-benchmark","version":1}',
    'version',
    'is (1), and this covarium reads version (2).',
  );
  await refused('{"schema":"covarium-benchmark"}', 'version', 'is (undefined)');
});

test('Fields that contradict one another are refused.', async () => {
  const of = (fields: Parameters<typeof measurement>[0]) => results({ measurements: [measurement(fields)] });
  const timed = (fields: Parameters<typeof time>[1]) => of({ time: time(100, fields) });
  const cases: [Results, string, string][] = [
    [timed({ p25: 101 }), 'measurements[0].time.p25', 'is over the median (101, 100).'],
    [timed({ p75: 99 }), 'measurements[0].time.p75', 'is under the median (99, 100).'],
    [timed({ rounds: [] }), 'measurements[0].time.rounds', 'is empty.'],
    [timed({ runs: 4 }), 'measurements[0].time.rounds', 'is longer than there were runs (5, 4).'],
    [of({ contender: 'other' }), 'measurements[0].contender', 'is not one of the contenders (other).'],
    [
      of({ check: { against: 'other', error: 0, tolerance: 0 } }),
      'measurements[0].check.against',
      'is not one of the contenders (other).',
    ],
    [
      of({ check: { against: 'reference', error: 1, tolerance: 0.5 } }),
      'measurements[0].check.error',
      'is over its tolerance (1, 0.5), but state is (timed).',
    ],
    [of({ reason: 'None.' }), 'measurements[0].reason', 'is (None.), but state is (timed).'],
    [of({ state: 'failed' }), 'measurements[0].reason', 'is (), but state is (failed).'],
    [of({ time: null }), 'measurements[0].time', 'is null, but state is (timed).'],
    [of({ state: 'failed', reason: 'It.' }), 'measurements[0].time', 'is there, but state is (failed).'],
    [of({ state: 'wrong', reason: 'It.', time: null }), 'measurements[0].check', 'is null, but state is (wrong).'],
    [
      of({ state: 'failed', reason: 'It.', time: null, shareOfLimit: 1 }),
      'measurements[0].shareOfLimit',
      'is (1), but state is (failed).',
    ],
    [
      of({ state: 'failed', reason: 'It.', time: null, split: { encode: 1, device: 1, readBack: 1, rest: 1 } }),
      'measurements[0].split',
      'is there, but state is (failed).',
    ],
    [
      results({ measurements: [measurement({}), measurement({ dimension: 2 }), measurement({})] }),
      'measurements[2]',
      'repeats measurements[0] (matrix-product, square, float32, 1000, null, cpu).',
    ],
    [
      results({ measurements: [], contenders: [contender('cpu'), contender('cpu')] }),
      'contenders[1].name',
      'repeats contenders[0].name (cpu).',
    ],
    [
      results({ measurements: [], limits: [results().limits[0]!, results().limits[0]!] }),
      'limits[1]',
      'repeats limits[0] (cpu, float32).',
    ],
    [
      results({ measurements: [], contenders: [contender('reference')] }),
      'limits[0].contender',
      'is not one of the contenders (cpu).',
    ],
    [
      results({ contenders: [contender('cpu', { available: false })] }),
      'contenders[0].reason',
      'is (), but available is (false).',
    ],
    [
      results({ started: '2025-13-01T00:00:00Z' }),
      'started',
      'is not a date in UTC by ISO 8601 (2025-13-01T00:00:00Z).',
    ],
    [results({ started: '2025-01-01T00:00:00+01:00' }), 'started', 'is not a date'],
  ];
  for (const [value, path, why] of cases) await refused(value, path, why);
});

test('An unknown or repeated field is refused; keys that are data stay data.', async () => {
  const text = JSON.stringify(results());
  await refused(text.replace('"seconds"', '"later":{"a":1},"seconds"'), 'later', 'is not a field that is known');
  await refused(
    text.replace('"seconds"', '"seconds":1,"seconds"'),
    'The text',
    'is odd: a field occurs twice (seconds)',
  );
  const proto = JSON.stringify(results()).replace('"OPENBLAS_NUM_THREADS"', '"__proto__"');
  assert.equal(Object.entries(parseResults(proto, 'x').machine.environment), [['__proto__', '2']]);
});

test('A file is read, and a folder stands for the results.json in it.', async () => {
  const path = join(folder, 'results.json');
  await throwsCode('ERR_FILE_NOT_FOUND', () => readResults(path));
  const missing = await throwsCode('ERR_FILE_NOT_FOUND', () => readResults(folder));
  assert.match(missing.message, 'results.json');
  writeFileSync(path, JSON.stringify(results()));
  assert.equal(await readResults(path), results());
  assert.equal(await readResults(folder), results());
  writeFileSync(path, '{');
  assert.is((await throwsCode('ERR_MALFORMED_RESULTS', () => readResults(folder))).path, path);
});

test.run();
