import type { FactorOn } from './backend.ts';
import type { Word64 } from './normal-counter.ts';

/** Which normals: element i of a stream depends on seed, stream and i alone. Each is from 0 to 2^64 - 1; 0 by default. */
export interface NormalElements {
  readonly seed?: Word64 | undefined;
  readonly stream?: Word64 | undefined;
  /** Index in the stream of the first normal; {@link CommandBuffer.sample} counts rows instead. */
  readonly first?: Word64 | undefined;
}

/** c = alpha op(a) op(b) + beta c. */
export interface ProductOptions {
  readonly transposeA?: boolean | undefined;
  readonly transposeB?: boolean | undefined;
  /** 1 by default. */
  readonly alpha?: number | undefined;
  /** 0 by default, and c is then not read. */
  readonly beta?: number | undefined;
}

/** Which rows of normals, and whether the factor is that of the precision. */
export interface RowElements {
  readonly seed?: Word64 | undefined;
  readonly stream?: Word64 | undefined;
  readonly firstRow?: Word64 | undefined;
  readonly inverse?: boolean | undefined;
}

/** What is added to each log density (0 by default), and whether the factor is that of the precision. */
export interface DensityOptions {
  readonly constant?: number | undefined;
  readonly inverse?: boolean | undefined;
}

/** Where a Cholesky factor is made: where the device does it best (`auto`, the default), on the CPU, or on the GPU. */
export interface FactorOptions {
  readonly factor?: FactorOn | undefined;
}

/** Whether the factor is taken transposed. */
export interface TriangleOptions {
  readonly transposed?: boolean | undefined;
}
