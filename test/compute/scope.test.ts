import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { printedName } from '../../lib/compute/scope.ts';

test('A printed name is not a word, type or macro of Metal or C++.', () => {
  for (const name of [
    'half',
    'quad',
    'llong',
    'complex',
    'kernel',
    'assert',
    'M_PI',
    'INT_MAX',
    'FLT_EPSILON',
    'HUGE_VAL',
  ])
    assert.is(
      printedName(name, () => false),
      `v_${name}`,
    );
  for (const name of ['MAX', 'mean', 'INTERVAL', 'Mass'])
    assert.is(
      printedName(name, () => false),
      name,
    );
});

test('A printed name is not one that is already used.', () => {
  assert.is(
    printedName('x', (name) => name === 'x'),
    'x_2',
  );
  assert.is(
    printedName('2x-y', () => false),
    'v_2x_y',
  );
});

test.run();
