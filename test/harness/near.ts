import * as assert from 'uvu/assert';

/**
 * Asserts that numbers are near the expected ones: within `tolerance` relative to the expected number or to 1,
 * whichever is larger, or within the value of a function of the index.
 */
export function near(
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
  tolerance: number | ((at: number) => number),
  what = '',
): void {
  assert.is(actual.length, expected.length, `${what} length`);
  Array.from(actual).forEach((value, i) => {
    const wanted = expected[i]!;
    const allowed = typeof tolerance === 'number' ? tolerance * Math.max(1, Math.abs(wanted)) : tolerance(i);
    if (!Object.is(value, wanted) && !(Math.abs(value - wanted) <= allowed))
      assert.unreachable(`${what} entry (${i}) is (${value}), not (${wanted}) within (${allowed})`);
  });
}
