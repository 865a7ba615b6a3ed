import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe } from '../check.ts';
import { CovariumError, isError } from '../covarium-error.ts';

/** The error for a file that cannot be read, made from the system's error or the stream's, which may be any value. */
export function cannotRead(path: string, error: unknown): CovariumError {
  const { code, message } = whyOf(error);
  if (code === 'ENOENT') {
    const hint = /^(https?|file):\/\//.test(path) ? ' For an address pass a URL: `new URL(address)`.' : '';
    return new CovariumError('ERR_FILE_NOT_FOUND', `File (${path}) does not exist.${hint}`, { path, cause: error });
  }
  const why = code === 'EISDIR' ? 'it is a folder' : (code ?? message);
  return new CovariumError('ERR_FILE_UNREADABLE', `File (${path}) cannot be read (${why}).`, { path, cause: error });
}

// `fetch failed` and `terminated` have the reason as their cause.
function whyOf(error: unknown): { readonly code?: string | undefined; readonly message: string } {
  if (!isError(error)) return { message: describe(error) };
  const { code, message, cause } = error as NodeJS.ErrnoException;
  if (code !== undefined || !isError(cause)) return { code, message };
  return { message: `${message}: ${(cause as NodeJS.ErrnoException).code ?? cause.message}` };
}

/** The error for a file that cannot be written, made from the system's error. */
export function cannotWrite(path: string, error: unknown): CovariumError {
  if (error instanceof CovariumError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new CovariumError('ERR_DISK_FULL', `Disk is full: file (${path}) cannot be written (${code}).`, {
      path,
      cause: error,
    });
  // The temporary file beside it may be missing too, if another program removed it.
  const isHomeless = code === 'ENOENT' && !existsSync(dirname(path));
  const words: { readonly [code: string]: string } = { EISDIR: 'it is a folder', ELOOP: 'its links form a circle' };
  const inWords = words[code ?? ''] ?? code ?? message;
  const why = isHomeless ? 'its folder does not exist' : path === '' ? 'its name is empty' : inWords;
  return new CovariumError('ERR_FILE_UNWRITABLE', `File (${path}) cannot be written (${why}).`, { path, cause: error });
}
