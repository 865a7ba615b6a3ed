import type { MatrixInput } from '../array/matrix.ts';
import type { VectorInput } from '../array/vector.ts';
import { checkOptions } from '../check.ts';
import type { Tasks } from '../command/task.ts';
import { affine } from '../normal/affine.ts';
import { marginal } from '../normal/marginal.ts';
import type { StudentParameters } from './parameters.ts';

/** What {@link MultivariateStudentT.affine} takes: no noise, since a sum of two Student-ts is none. */
export interface StudentAffineOptions {
  /** A, m x n; its rows are independent, unless the result may be singular. */
  readonly matrix: MatrixInput;
  /** b, one entry for each of the m rows of A (m x n); zeros by default. */
  readonly offset?: VectorInput | undefined;
  /** Whether rows may depend on each other, which makes a singular scale; by default where this one is singular. */
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
