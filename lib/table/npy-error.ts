import { CovariumError } from '../covarium-error.ts';

/** The refusal of a file that is not NPY, or contradicts itself. */
export function malformedNpy(path: string, why: string): CovariumError {
  return new CovariumError('ERR_MALFORMED_NPY', `NPY file (${path}) is malformed: ${why}.`, { path });
}

/** The refusal of a file as NumPy writes it, of a kind that is not read. */
export function unsupportedNpy(path: string, why: string): CovariumError {
  return new CovariumError('ERR_UNSUPPORTED', `NPY file (${path}) is not of a kind that is read: ${why}.`, { path });
}
