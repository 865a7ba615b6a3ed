// Ledoit and Wolf's share about a mean that is not that of the rows.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Moments } from '../../lib/index.ts';
import { throwsCode } from '../harness/throws-code.ts';

const moments = new Moments(2);
moments.addSync([[1, 2], [3, 2], [5, 8], [-1, 0]]); // biome-ignore format: a matrix

test("Ledoit and Wolf's share about a mean far from the rows has all its digits.", () => {
  // By mpmath with 400 digits, from the definition.
  const known: [number, number][] = [
    [10, 0.3099820374647165],
    [1e3, 1.9016154784005205e-5],
    [1e6, 1.900001600015e-11],
    [1e8, 1.900000016e-15],
    [1e12, 1.9000000000016e-23],
    [1e100, 1.9e-199],
  ];
  for (const [mean, share] of known) {
    const found = moments.ledoitWolf({ mean: [mean, 0] });
    assert.ok(Math.abs(found / share - 1) < 1e-13, `${mean}: ${found}`);
  }
  // The share is tiny, but it is a share of a huge variance, so what it adds to the small variance is not tiny.
  const { data } = moments.covariance({ mean: [1e12, 0], shrinkage: 'ledoit-wolf' });
  assert.ok(Math.abs(data[3]! - 27.5) < 1e-9, `${data[3]}`);
});

test('A mean so far away that the variances about it overflow is refused, and does not give NaN.', async () => {
  for (const mean of [
    [1e155, 0],
    [1.2e154, 1.2e154],
  ]) {
    await throwsCode('ERR_OUT_OF_RANGE', '`mean`', () => moments.ledoitWolf({ mean }));
    for (const shrinkage of ['ledoit-wolf', 0.5] as const)
      await throwsCode('ERR_OUT_OF_RANGE', 'float64 does not hold', () => moments.covariance({ mean, shrinkage }));
  }
});

test.run();
