import * as assert from 'uvu/assert';

/** Asserts numbers to be near others: within `tolerance` times one more than their size. */
export function near(actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance: number, what = ''): void {
  assert.is(actual.length, expected.length, `${what} length`);
  Array.from(actual).forEach((value, i) => {
    const wanted = expected[i]!;
    if (!(Math.abs(value - wanted) <= tolerance * (1 + Math.abs(wanted))))
      assert.unreachable(`${what} entry (${i}) is (${value}), not (${wanted}) within (${tolerance})`);
  });
}
