import * as assert from 'uvu/assert';
import type { ErrorCode, ErrorFields } from '../lib/covarium-error.ts';

/** What a backend throws: a CovariumError, or from the addon a plain Error with the same fields. */
export type BackendError = Error & { code: ErrorCode } & ErrorFields;

/** Asserts that `work` throws, or rejects with, an Error of this code; gives the error. */
export async function fails(code: ErrorCode, work: () => unknown): Promise<BackendError> {
  let error: unknown;
  try {
    await work();
  } catch (thrown) {
    error = thrown;
  }
  assert.ok(error instanceof Error, `${code} is expected, not (${error})`);
  assert.is((error as BackendError).code, code, error.message);
  // The code of a kernel may stand behind it.
  assert.match(error.message.split('\n\n')[0]!, /^[A-Z].*\.$/s, 'a message is a sentence');
  return error as BackendError;
}
