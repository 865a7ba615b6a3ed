import { test } from 'uvu';
import { isAsked } from './asked-device.ts';
import { noCpu } from './cpu-backend.ts';

/** A test that needs the native cpu device; without it the test counts as skipped, and the reason is printed. */
export function onNative(sentence: string, check: () => void | Promise<void>): void {
  if (!isAsked('cpu')) return;
  if (noCpu === '') {
    test(sentence, check);
    return;
  }
  console.log(`skipped  ${sentence} ${noCpu}`);
  test.skip(sentence);
}
