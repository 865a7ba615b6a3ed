// The test runner reports places in the sources, not in the compiled code.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { inSources } from '../harness/in-sources.ts';

test('A failure is reported at its line of the source.', () => {
  const { COVARIUM_COMPILED_TESTS: compiled = '/nowhere' } = process.env as { COVARIUM_COMPILED_TESTS?: string };
  const { stack = '' } = new Error('planted');
  const [, place] = stack.split('\n').map((line) => inSources(line, compiled));
  assert.match(place!, /\/test\/repo\/places\.test\.ts:8:\d+\)?$/);
  const elsewhere = 'at /usr/lib/none.js:3:4, and at none.js:1:1';
  assert.is(inSources(elsewhere, compiled), elsewhere);
});

test.run();
