import type { MatrixInput } from '../array/matrix.ts';
import type { VectorInput } from '../array/vector.ts';
import { checkOptions } from '../check.ts';
import type { Tasks } from '../command/task.ts';
import { affine } from '../normal/affine.ts';
import { marginal } from '../normal/marginal.ts';
import type { StudentParameters } from './parameters.ts';

/**
 * Options of {@link MultivariateStudentT.affine}. There is no noise: the sum of two Student-t variables is not
 * Student-t.
 */
export interface StudentAffineOptions {
  /** A, m x n. Its rows must be linearly independent, unless `singular` is true. */
  readonly matrix: MatrixInput;
  /** b, one entry for each of the m rows of A (m x n); zeros by default. */
  readonly offset?: VectorInput | undefined;
  /**
   * True if rows of A may be linearly dependent, which gives a singular scale; by default true if this scale is
   * singular.
   */
  readonly singular?: boolean | undefined;
}

/** The Student-t of some coordinates. */
export function* studentMarginal(
  { normal, nu }: StudentParameters,
  coordinates: readonly number[],
): Tasks<StudentParameters> {
  return { normal: yield* marginal(normal, coordinates), nu };
}

/** The Student-t of A x + b. */
export function* studentAffine(
  { normal, nu }: StudentParameters,
  options: StudentAffineOptions,
): Tasks<StudentParameters> {
  checkOptions(options, ['matrix', 'offset', 'singular']);
  return { normal: yield* affine(normal, options), nu };
}
