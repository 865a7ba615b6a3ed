import { createHash } from 'node:crypto';
import type { RealDtype } from '../distribution-input.ts';
import type { Matrix } from '../matrix.ts';

/** A normal or a Student-t as the command line has it. */
export interface RunModel {
  readonly names: readonly string[] | undefined;
  readonly mean: readonly number[];
  /** float64; of a Student-t the scale. */
  readonly covariance: Matrix;
  /** Of a Student-t; none of a normal. */
  readonly degreesOfFreedom?: number | undefined;
  /** Whether the covariance may be singular: then draws are made by its root from the pivoted Cholesky decomposition. */
  readonly singular?: boolean | undefined;
}

/**
 * SHA-256 of `{"covarium":1,"dtype":"float32","mean":[...],"covariance":[[...],...]}` without a space, each number as JavaScript writes it
 * (the shortest that reads back); `dtype` is the type of the draws. A Student-t has `,"degreesOfFreedom":4.2` before the last brace, and
 * a model that may be singular `,"singular":"pivoted"` behind that.
 */
export function modelHash({ mean, covariance, degreesOfFreedom, singular }: RunModel, dtype: RealDtype): string {
  const hash = createHash('sha256').update(
    `{"covarium":1,"dtype":"${dtype}","mean":${JSON.stringify(mean)},"covariance":[`,
  );
  const { rows, columns, data } = covariance;
  for (let row = 0; row < rows; row++) {
    const numbers = Array.from(data.subarray(row * columns, (row + 1) * columns));
    hash.update(`${row === 0 ? '' : ','}${JSON.stringify(numbers)}`);
  }
  const end = degreesOfFreedom === undefined ? '' : `,"degreesOfFreedom":${degreesOfFreedom}`;
  return hash.update(`]${end}${singular ? ',"singular":"pivoted"' : ''}}`).digest('hex');
}
