import { exactly } from '../exact.ts';
import type { NormalParameters } from '../normal-parameters.ts';
import type { Procedure } from '../procedure.ts';
import { hostZeros } from '../storage.ts';

/** The mean (n) and a root A (n x width) of the covariance A A', in float64 and ordinary memory, row after row. */
export interface ExactRoot {
  readonly mean: Float64Array<ArrayBuffer>;
  readonly root: Float64Array<ArrayBuffer>;
  readonly n: number;
  readonly width: number;
  /** What share of a row is rounding and no direction of its own: 0 of a regular normal, whose rows all have one, however small. */
  readonly tolerance: number;
}

/**
 * The root of a normal as its factor is kept. What is computed from it by orthogonal transformations stays positive definite where a
 * covariance, which squares the condition, might not. Throws `ERR_OUT_OF_MEMORY`.
 */
export function* exactRoot({ device, dtype, n, mean, factor }: NormalParameters): Procedure<ExactRoot> {
  const width = factor.rank;
  const root = hostZeros(n * width);
  const centre = Float64Array.from(mean.values);
  const exact = factor.exact();
  if (width > 0) yield* exactly(device, (encoder, scratch) => exact.root(encoder, root, scratch));
  const roundoff = dtype === 'float32' ? 2 ** -23 : 2 ** -52;
  return { mean: centre, root, n, width, tolerance: width === n ? 0 : 8 * n * roundoff };
}
