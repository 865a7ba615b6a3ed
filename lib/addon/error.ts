import { CovariumError, type ErrorCode, type ErrorFields } from '../covarium-error.ts';

const fieldNames = ['pivot', 'row', 'column', 'line', 'path'] as const;

/**
 * Whatever a device throws, as a CovariumError. The addon throws plain Errors with a `code` and the {@link ErrorFields}; an
 * allocation that V8 refuses is a RangeError; anything else is a defect (`ERR_INTERNAL`).
 */
export function fromNative(error: unknown): CovariumError {
  if (error instanceof CovariumError) return error;
  if (!(error instanceof Error)) return new CovariumError('ERR_INTERNAL', `A device throws (${String(error)}).`);
  const { code, ...fields } = error as Error & { code?: unknown } & ErrorFields;
  if (typeof code === 'string' && code.startsWith('ERR_')) {
    const kept: ErrorFields = {};
    for (const name of fieldNames) if (fields[name] !== undefined) Object.assign(kept, { [name]: fields[name] });
    return new CovariumError(code as ErrorCode, error.message, kept);
  }
  if (error instanceof RangeError && /alloc|invalid (array buffer|typed array) length/i.test(error.message))
    return new CovariumError('ERR_OUT_OF_MEMORY', `Memory can't be had (${error.message}).`, { cause: error });
  return new CovariumError('ERR_INTERNAL', `A device fails (${error.message}).`, { cause: error });
}
