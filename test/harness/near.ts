import * as assert from 'uvu/assert';

/**
 * Asserts numbers to be near others: within `tolerance` relative to the expected number or to 1, whichever is larger,
 * or within what a function of the index allows.
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
