import type { Problem } from '../contender.ts';

/**
 * The cases of each suite that a peer may compute. Cases that only our devices have (the factor by the GPU) are left
 * out.
 */
export const peerCases: Readonly<Record<string, readonly string[]>> = {
  'transform-normal': ['one draw'],
  'transform-normal-factored': ['one draw'],
  'matrix-product': ['square'],
  'matrix-vector': ['square'],
  sampling: ['factor kept', 'factor included'],
  normals: ['fill'],
  cholesky: ['factor'],
  triangular: ['forward solve', 'backward solve', 'product'],
  batches: ['make', 'one draw each', 'log densities'],
  tables: ['CSV', 'NPY', 'Arrow', 'Parquet'].flatMap((format) => [`read ${format}`, `write ${format}`]),
};

export function isForPeers({ suite, case: name }: Problem): boolean {
  return suite === 'functions' || (peerCases[suite]?.includes(name) ?? false);
}

/** True if the result is random: a peer's random numbers are checked, but can't be compared with ours. */
export function isRandom({ suite, case: name }: Problem): boolean {
  return suite === 'sampling' || suite === 'normals' || name === 'Student-t sample' || name === 'one draw each';
}
