import * as assert from 'uvu/assert';
import { CovariumError, type ErrorCode, type ErrorFields } from '../../lib/covarium-error.ts';

/** What a backend throws: a CovariumError or, from the addon, a plain Error with the same fields. */
type BackendError = Error & { code: ErrorCode } & ErrorFields;

/**
 * Asserts that `work`, on a device below the public interface, throws or rejects with an Error of this code; returns
 * the error.
 */
export async function throwsCode(code: ErrorCode, work: () => unknown): Promise<BackendError>;
/**
 * Asserts that `work` throws or rejects with a CovariumError of this code whose message shows `value`; returns the
 * error.
 */
export async function throwsCode(code: ErrorCode, value: string, work: () => unknown): Promise<CovariumError>;
export async function throwsCode(
  code: ErrorCode,
  ...[value, work]: [() => unknown] | [string, () => unknown]
): Promise<BackendError> {
  const [shown, run] = typeof value === 'string' ? [value, work!] : [undefined, value];
  let error: unknown;
  try {
    await run();
  } catch (thrown) {
    error = thrown;
  }
  assert.instance(error, shown === undefined ? Error : CovariumError, `${code} is expected, not (${error})`);
  const { code: found, message } = error as BackendError;
  assert.is(found, code, message);
  assert.ok(message.includes(shown ?? ''), `Message shows (${shown}): ${message}`);
  // The code of a kernel may follow the sentence.
  assert.match(message.split('\n\n')[0]!, /^[^a-z].*\.$/s, 'a message is a sentence');
  return error as BackendError;
}
