import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { baseText, scaleThatFits } from '../../lib/plot/ticks.ts';

/** The labels of an axis, and what its name ends in. */
function told(low: number, high: number, side = 318) {
  const { base, ticks } = scaleThatFits(low, high, side);
  return [...ticks.map(({ text }) => text), baseText(base)];
}

test('Labels that would be long or equal count from a number that the name of the axis tells.', () => {
  assert.equal(told(-2.5, 2.5), ['\u22122', '\u22121', '0', '1', '2', '']);
  // Milliseconds and nanoseconds since 1970, within a moment.
  assert.equal(told(1.7e12 - 4, 1.7e12 + 13), ['0', '5', '10', ' \u2212 1.7e12']);
  assert.equal(told(1.7e18 - 3e6, 1.7e18 + 3e6), ['\u22122e6', '0', '2e6', ' \u2212 1.7e18']);
  assert.equal(told(-1.7e18 - 3e6, 3e6 - 1.7e18), ['\u22122e6', '0', '2e6', ' + 1.7e18']);
  // All digits of the number are told.
  assert.match(told(1732848123456789000 - 400, 1732848123456789000 + 400).at(-1)!, / \u2212 1\.73284812345678\d+e18$/);
  for (const [low, high] of [
    [1 - 4e-13, 1 + 4e-13],
    [1e6 - 3e-7, 1e6 + 3e-7],
    [123456.701, 123456.702],
    [1e200, 1.0000000000001e200],
    [5e-324, 3e-323],
    [-1e-310, 1e-310],
    [1e5, 1e9],
  ] as const)
    for (const side of [92, 318]) {
      const { base, ticks } = scaleThatFits(low, high, side);
      const texts = ticks.map(({ text }) => text);
      assert.is(new Set(texts).size, texts.length, `${low} ${texts}`);
      for (const { value, text } of ticks) {
        assert.ok(low <= value && value <= high, `${low} ${text}`);
        const number =
          base + Number(text.replaceAll('\u2212', '-').replaceAll(',', '').replace('K', 'e3').replace('M', 'e6'));
        assert.ok(Math.abs(number - value) <= (high - low) / 100, `${low} ${text} ${number}`);
      }
    }
});

test.run();
