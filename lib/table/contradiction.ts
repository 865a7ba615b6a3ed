import { CovariumError } from '../covarium-error.ts';

/**
 * Bytes of a file that contradict the format, or each other. The reader that catches it adds the file's name and the
 * place.
 */
export class Contradiction extends Error {}

/** A part of a file that is right, and that no reader of ours takes: another compression, another encoding. */
export class NotTaken extends Error {}

/**
 * What the decoder of a format finds in a file, as the refusal of the file: `ERR_MALFORMED_...` or `ERR_UNSUPPORTED`,
 * with the place. Another error stays as it is.
 */
export function refusal(format: 'Arrow' | 'Parquet', path: string, error: unknown, place?: string): unknown {
  const where = place === undefined ? '' : `${place}: `;
  if (error instanceof Contradiction)
    return new CovariumError(
      format === 'Arrow' ? 'ERR_MALFORMED_ARROW' : 'ERR_MALFORMED_PARQUET',
      `${format} file (${path}) is malformed: ${where}${error.message}.`,
      { path, cause: error.cause },
    );
  if (error instanceof NotTaken)
    return new CovariumError('ERR_UNSUPPORTED', `${format} file (${path}) is not read: ${where}${error.message}.`, {
      path,
    });
  return error;
}
