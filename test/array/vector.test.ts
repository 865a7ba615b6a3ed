import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Vector } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { throwsCode } from '../harness/throws-code.ts';

test('A typed array of the requested type is wrapped, an array is copied as float32.', () => {
  const values = new Float64Array([0.1, 2]);
  assert.is(Vector.from(values).data, values);
  assert.equal(Vector.from([0.1, 2]).toArray(), [Math.fround(0.1), 2]);
  assert.equal(Vector.from(values, { dtype: 'float32' }).toArray(), [Math.fround(0.1), 2]);
  assert.is(Vector.from([]).length, 0);
});

test('A vector made from a vector is a copy.', () => {
  const first = Vector.from([1, 2]);
  const second = Vector.from(first);
  first.data[0] = 5;
  assert.is(second.get(0), 1);
});

test('Bad entries, options and indices are refused.', async () => {
  await throwsCode('ERR_INVALID_ARGUMENT', '`values` entry (1)', () => Vector.from([1, null as unknown as number]));
  await throwsCode('ERR_INVALID_ARGUMENT', '(12)', () => Vector.from(12 as unknown as number[]));
  await throwsCode('ERR_UNKNOWN_OPTION', '(type)', () => Vector.from([1], { type: 'float32' } as object));
  await throwsCode('ERR_OUT_OF_RANGE', '(2)', () => Vector.from([1, 2]).get(2));
});

test('A closed vector refuses its numbers, and may be closed again.', async () => {
  const vector = Vector.from([1]);
  vector.close();
  vector[Symbol.dispose]();
  await throwsCode('ERR_CLOSED', '(1', () => vector.data);
});

onEveryDevice('a vector of the device has zeros, of the requested type.', (device) => {
  using vector = device.vector(9, { dtype: 'int32' });
  assert.ok(vector.data instanceof Int32Array);
  assert.equal(vector.toArray(), Array(9).fill(0));
  assert.is(device.vector(0).length, 0);
});

test.run();
