import type { Encoder } from './backend.ts';
import type { Real } from './dtype.ts';
import { Matrix } from './matrix.ts';
import type { NormalParameters } from './normal-parameters.ts';
import type { Scratch } from './scratch.ts';
import { Storage } from './storage.ts';
import type { Task } from './task.ts';

/** The covariance: L L', or W^-1 W^-T of an inverse factor W. */
export function covarianceTask(parameters: NormalParameters): Task<Matrix> {
  return squareTask(parameters, (encoder, out, scratch) => encodeCovariance(encoder, parameters, out, scratch));
}

/** The lower Cholesky factor of the covariance; that of an inverse factor is computed afresh. */
export function factorTask(parameters: NormalParameters): Task<Matrix> {
  return squareTask(parameters, (encoder, out, scratch) => {
    if (!parameters.inverse) {
      encoder.copy(parameters.factor.values as Real, out);
      return;
    }
    encodeCovariance(encoder, parameters, out, scratch);
    encoder.cholesky(out, parameters.n, 'auto');
  });
}

function encodeCovariance(
  encoder: Encoder,
  { factor, dtype, n, inverse }: NormalParameters,
  out: Real,
  scratch: Scratch,
): void {
  const values = factor.values as Real;
  if (!inverse) {
    encoder.product(values, values, out, n, n, n, false, true, 1, 0);
    return;
  }
  // Row i of the identity becomes column i of W^-1, so that it becomes R = W^-T and the covariance is R' R.
  const identity = scratch.zeros(dtype, n * n);
  for (let i = 0; i < n; i++) identity[i * (n + 1)] = 1;
  encoder.triangularSolve(values, identity, n, false);
  encoder.product(identity, identity, out, n, n, n, true, false, 1, 0);
}

function squareTask(
  { device, dtype, n }: NormalParameters,
  encode: (encoder: Encoder, out: Real, scratch: Scratch) => void,
): Task<Matrix> {
  const written = Storage.forResult(device, dtype, n * n);
  const out = written.values as Real;
  return {
    device,
    encode: (encoder, scratch) => encode(encoder, out, scratch),
    reachable: [],
    result: new Matrix(written, n, n),
    written,
    fresh: [written],
  };
}
