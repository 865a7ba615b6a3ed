import type { Suite } from './suite.ts';
import { batches } from './suites/batches.ts';
import { call } from './suites/call.ts';
import { calls } from './suites/calls.ts';
import { cholesky } from './suites/cholesky.ts';
import { functions } from './suites/functions.ts';
import { kernels } from './suites/kernels.ts';
import { launch } from './suites/launch.ts';
import { matrixProduct } from './suites/matrix-product.ts';
import { matrixVector } from './suites/matrix-vector.ts';
import { normals } from './suites/normals.ts';
import { sampling } from './suites/sampling.ts';
import { subnormal } from './suites/subnormal.ts';
import { tables } from './suites/tables.ts';
import { transfer } from './suites/transfer.ts';
import { transformNormal } from './suites/transform-normal.ts';
import { transformNormalFactored } from './suites/transform-normal-factored.ts';
import { triangular } from './suites/triangular.ts';

/** Every suite, the talk's four first. */
export const suites: readonly Suite[] = [
  transformNormal,
  transformNormalFactored,
  matrixProduct,
  matrixVector,
  sampling,
  normals,
  cholesky,
  transfer,
  launch,
  kernels,
  call,
  batches,
  tables,
  functions,
  calls,
  subnormal,
  triangular,
];
