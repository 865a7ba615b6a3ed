import type { FactorOn } from '../backend.ts';
import { oneOf } from '../check.ts';
import type { Word64 } from '../stream/counter.ts';

/**
 * Selects normals: element i of a stream depends only on seed, stream and i. Each is from 0 to 2^64 - 1; 0 by default.
 */
export interface NormalElements {
  /** The key of the generator; 0 by default. */
  readonly seed?: Word64 | undefined;
  /** Streams of one seed are independent; 0 by default. */
  readonly stream?: Word64 | undefined;
  /** Index in the stream of the first normal, 0 by default; {@link CommandBuffer.sample} counts rows instead. */
  readonly first?: Word64 | undefined;
}

/** c = alpha op(a) op(b) + beta c. */
export interface ProductOptions {
  /** True if op(a) is a transposed; false by default. */
  readonly transposeA?: boolean | undefined;
  /** True if op(b) is b transposed; false by default. */
  readonly transposeB?: boolean | undefined;
  /** 1 by default. */
  readonly alpha?: number | undefined;
  /** 0 by default; c is then not read. */
  readonly beta?: number | undefined;
}

/** Selects rows of normals, and says whether the factor is that of the precision. */
export interface RowElements {
  /** The key of the generator, from 0 to 2^64 - 1; 0 by default. */
  readonly seed?: Word64 | undefined;
  /** From 0 to 2^64 - 1; 0 by default. Streams of one seed are independent. */
  readonly stream?: Word64 | undefined;
  /** The first row of the run, whose normals are elements [firstRow n, (firstRow + 1) n); 0 by default. */
  readonly firstRow?: Word64 | undefined;
  /** True if the factor is that of the precision; false by default. */
  readonly inverse?: boolean | undefined;
}

/** The constant of a log density, and whether the factor is that of the precision. */
export interface DensityOptions {
  /** Added to each log density; 0 by default. */
  readonly constant?: number | undefined;
  /** True if the factor is that of the precision; false by default. */
  readonly inverse?: boolean | undefined;
}

/** The processor that makes a Cholesky factor. */
export interface FactorOptions {
  /** `auto` (the default) for the faster one on this device, `cpu`, `gpu`, or `mps` on `metal`. */
  readonly factor?: FactorOn | undefined;
}

/** Whether the factor is transposed. */
export interface TriangleOptions {
  /** True to use factor' instead of the factor; false by default. */
  readonly transposed?: boolean | undefined;
}

const places: readonly FactorOn[] = ['auto', 'cpu', 'gpu', 'mps'];

/** The option `factor`; `auto` by default. Throws `ERR_INVALID_ARGUMENT`. */
export function factorOn(factor: FactorOn | undefined): FactorOn {
  return factor === undefined ? 'auto' : oneOf('Factor', factor, places);
}
