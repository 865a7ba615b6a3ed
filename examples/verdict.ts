import { createHash } from 'node:crypto';
import type { Values } from '../lib/index.ts';

/**
 * Says how far the results of a kernel are from plain TypeScript's, and fails the example where that is more than
 * allowed; 0 allows no other value. What is not a number is as far as can be.
 */
export function tellVerdict(
  name: string,
  actual: Values,
  expected: ArrayLike<number>,
  allowed: (i: number) => number,
): void {
  let worst = 0;
  let share = 0;
  let wrong = actual.length === expected.length ? 0 : actual.length;
  actual.forEach((value, i) => {
    const apart = Math.abs(value - expected[i]!);
    const most = allowed(i);
    if (!(apart <= most)) wrong++;
    worst = Math.max(worst, apart);
    if (most > 0) share = Math.max(share, apart / most);
  });
  const exact = `the ${actual.length} numbers of plain TypeScript, to the bit`;
  const far = `at most ${worst.toExponential(1)} apart, ${(100 * share).toFixed(1)}% of what is allowed`;
  const near = `plain TypeScript's ${actual.length} numbers within rounding: ${far}`;
  if (wrong === 0) console.log(`check    ${name}: ${worst === 0 ? exact : near}`);
  else {
    console.log(`check    ${name}: WRONG in (${wrong}) of (${actual.length}) numbers, up to (${worst}) apart`);
    process.exitCode = 1;
  }
}

/** Says how far a number is from what it must be, and fails the example where that is more than allowed. */
export function tellWithin(name: string, actual: number, expected: number, allowed: number): void {
  const apart = Math.abs(actual - expected);
  const share = `${((100 * apart) / allowed).toFixed(1)}% of what is allowed`;
  if (apart <= allowed) console.log(`check    ${name}: (${apart.toExponential(1)}) apart, ${share}`);
  else {
    console.log(`check    ${name}: WRONG, (${actual}) is (${apart}) from (${expected}), and (${allowed}) is allowed`);
    process.exitCode = 1;
  }
}

/** For results that are the same on every device. */
export function tellDigest(name: string, values: Values): void {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  console.log(`bytes    ${name}: SHA-256 ${createHash('sha256').update(bytes).digest('hex')}`);
}
