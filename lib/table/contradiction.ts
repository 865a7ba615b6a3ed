import { CovariumError } from '../covarium-error.ts';

/**
 * Bytes of a file that contradict the format or each other. The reader that catches it adds the file's name and the
 * place.
 */
export class Contradiction extends Error {}

/** A valid part of a file that our readers do not support, such as another compression or encoding. */
export class NotTaken extends Error {}

/**
 * Turns an error of a format's decoder into the error for the file: `ERR_MALFORMED_...` or `ERR_UNSUPPORTED`, with the
 * place. Other errors are returned unchanged.
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
    return new CovariumError(
      'ERR_UNSUPPORTED',
      `${format} file (${path}) is not supported: ${where}${error.message}.`,
      {
        path,
      },
    );
  return error;
}
