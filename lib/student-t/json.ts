import { checkOptions, describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { RealDtype } from '../dtype.ts';
import { type JsonOptions, jsonOptionNames, modelFromJson, normalToJson } from '../normal/json.ts';
import type { ScaleOptions } from './options.ts';
import type { StudentParameters } from './parameters.ts';

/** A Student-t as JSON. */
export interface StudentJson {
  /** Version of this format. */
  readonly covarium: 1;
  /** The type in which to sample by default. */
  readonly dtype: RealDtype;
  /** nu; `Infinity`, the normal, as a string. */
  readonly degreesOfFreedom: number | 'Infinity';
  /** n finite numbers. */
  readonly location: readonly number[];
  /** n rows of n. */
  readonly scale: readonly (readonly number[])[];
}

/** What `toJSON` of a Student-t gives. */
export function studentToJson({ normal, nu }: StudentParameters): StudentJson {
  const { covarium, dtype, mean, covariance } = normalToJson(normal);
  return {
    covarium,
    dtype,
    degreesOfFreedom: Number.isFinite(nu) ? nu : 'Infinity',
    location: mean,
    scale: covariance,
  };
}

/** The options of the Student-t that JSON is of; throws `ERR_MALFORMED_MODEL`, `ERR_UNKNOWN_OPTION`. */
export function scaleOfJson(json: unknown, options: JsonOptions): ScaleOptions {
  const model = modelFromJson(json, ['location', 'scale'], ['degreesOfFreedom'], malformed);
  checkOptions(options, jsonOptionNames);
  const { degreesOfFreedom } = json as { readonly degreesOfFreedom?: unknown };
  const nu = degreesOfFreedom === 'Infinity' ? Number.POSITIVE_INFINITY : degreesOfFreedom;
  if (!(typeof nu === 'number' && nu > 0))
    throw malformed(`its degreesOfFreedom are (${describe(degreesOfFreedom)}), not a positive number`);
  const { dtype, centre: location, spread: scale } = model;
  return {
    ...options,
    dtype: options.dtype === undefined ? dtype : options.dtype,
    degreesOfFreedom: nu,
    location,
    scale,
  };
}

function malformed(why: string): CovariumError {
  return new CovariumError('ERR_MALFORMED_MODEL', `\`json\` is not the JSON of a Student-t: ${why}.`);
}
