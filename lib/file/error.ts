import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { CovariumError } from '../covarium-error.ts';

/** The refusal of a file that can't be read, from the system's error. */
export function cannotRead(path: string, error: unknown): CovariumError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT')
    return new CovariumError('ERR_FILE_NOT_FOUND', `File (${path}) does not exist.`, { path, cause: error });
  return new CovariumError('ERR_FILE_UNREADABLE', `File (${path}) can't be read (${code ?? message}).`, {
    path,
    cause: error,
  });
}

/** The refusal of a file that can't be written, from the system's error. */
export function cannotWrite(path: string, error: unknown): CovariumError {
  if (error instanceof CovariumError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new CovariumError('ERR_DISK_FULL', `Disk is full: file (${path}) can't be written (${code}).`, {
      path,
      cause: error,
    });
  // A temporary file beside it may be gone too, by somebody else's hand.
  const why = code === 'ENOENT' && !existsSync(dirname(path)) ? 'its folder does not exist' : (code ?? message);
  return new CovariumError('ERR_FILE_UNWRITABLE', `File (${path}) can't be written (${why}).`, { path, cause: error });
}
