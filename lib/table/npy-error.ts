import { CovariumError } from '../covarium-error.ts';

/** The error for a file that is not NPY or contradicts itself. */
export function malformedNpy(path: string, why: string): CovariumError {
  return new CovariumError('ERR_MALFORMED_NPY', `NPY file (${path}) is malformed: ${why}.`, { path });
}

/** The error for a valid NPY file that we do not read. */
export function unsupportedNpy(path: string, why: string): CovariumError {
  return new CovariumError('ERR_UNSUPPORTED', `NPY file (${path}) is not supported: ${why}.`, { path });
}
