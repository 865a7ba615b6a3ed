import * as assert from 'uvu/assert';
import { CovariumError, type ErrorCode } from '../lib/index.ts';

/** Asserts that `work` throws, or rejects with, a CovariumError of this code whose message shows `value`; gives the error. */
export async function refuses(code: ErrorCode, value: string, work: () => unknown): Promise<CovariumError> {
  let error: unknown;
  try {
    await work();
  } catch (thrown) {
    error = thrown;
  }
  assert.ok(error instanceof CovariumError, `${code} is expected, not (${error})`);
  assert.is(error.code, code, error.message);
  assert.ok(error.message.includes(value), `Message shows (${value}): ${error.message}`);
  return error;
}
