import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { normalDensity } from '../../lib/plot/histogram.ts';
import { marginalMarks } from '../../lib/plot/pairs-panels.ts';

test('The density is a smooth curve, however far the rows reach.', () => {
  const draws = { values: [0, 1], rows: 2 };
  for (const [low, high] of [
    [-4, 4],
    [-5, 3000],
    [-1e6, 1e6],
  ] as const) {
    const { marks } = marginalMarks({ columns: ['a'], mean: [1], covariance: [[4]], draws }, 0, [low, high]);
    const curve = (marks[2] as unknown as { data: [number, number][] }).data;
    const top = normalDensity(1, 1, 4);
    for (const [at, [x, y]] of curve.slice(1).entries()) {
      const [before, own] = curve[at]!;
      const between = normalDensity((x + before) / 2, 1, 4);
      assert.ok(x >= before && Math.abs((y + own) / 2 - between) < 0.01 * top, `${low} to ${high}: ${before} to ${x}`);
    }
  }
});

test.run();
