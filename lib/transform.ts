import type { Encoder } from './backend.ts';
import { checkOptions } from './check-options.ts';
import type { Device } from './device.ts';
import {
  isVectorInput,
  normalInput,
  type RealDtype,
  type RowsInput,
  rowsInput,
  symmetryTolerance,
} from './distribution-input.ts';
import type { Real } from './dtype.ts';
import { transformOne } from './factor/lower-factor.ts';
import { factorOn } from './factor-on.ts';
import { Matrix } from './matrix.ts';
import type { TransformOptions } from './normal-options.ts';
import type { NormalParameters } from './normal-parameters.ts';
import { requireColumns } from './operand.ts';
import type { Scratch } from './scratch.ts';
import { Storage } from './storage.ts';
import type { Task } from './task.ts';
import { Vector } from './vector.ts';

type Transforming = Task<Matrix | Vector>;

/** mean + A z for one z, or for each row z, where A is the root of the covariance. */
export function transformTask(parameters: NormalParameters, z: RowsInput): Transforming {
  const { factor, mean } = parameters;
  return transforming(parameters, factor.width, z, (encoder, input, out, scratch) =>
    factor.transform(encoder, mean.values as Real, input, out, scratch),
  );
}

/** mean + L z for one z, or for each row z, where L is the factor of a covariance: computed in the same commit, and not kept. */
export function factorAndTransformTask(options: TransformOptions): Transforming {
  checkOptions(options, ['device', 'mean', 'covariance', 'z', 'dtype', 'symmetryTolerance', 'factor']);
  const tolerance = symmetryTolerance(options);
  const where = factorOn(options.factor);
  const given = normalInput(options, 'Covariance', options.covariance);
  const { dtype, n } = given;
  return transforming(given, n, options.z, (encoder, input, out, scratch) => {
    const factor = scratch.copy(given.square, dtype);
    const mean = given.mean === undefined ? scratch.zeros(dtype, n) : scratch.copy(given.mean, dtype);
    encoder.requireSymmetric(factor, n, tolerance);
    encoder.cholesky(factor, n, where);
    if (out.length === n) return transformOne(encoder, factor, mean, input, out);
    encoder.copy(input, out);
    encoder.triangularProduct(factor, out, n, false);
    encoder.addRow(out, mean, 1);
  });
}

function transforming(
  { device, dtype, n }: { readonly device: Device; readonly dtype: RealDtype; readonly n: number },
  width: number,
  z: RowsInput,
  encode: (encoder: Encoder, input: Real, out: Real, scratch: Scratch) => void,
): Transforming {
  // A bare typed array is one vector here, so that its length doesn't decide what comes back.
  if (ArrayBuffer.isView(z)) requireColumns('Input', z.length, width, 'distribution');
  const { values, count } = rowsInput('Input', device, z, width);
  const written = Storage.forResult(device, dtype, count * n);
  const out = written.values as Real;
  return {
    device,
    encode: (encoder, scratch) => {
      const input = scratch.input(values, dtype);
      encoder.requireFinite(input, width);
      encode(encoder, input, out, scratch);
    },
    reachable: [],
    result: isVectorInput(z, width) ? new Vector(written) : new Matrix(written, count, n),
    written,
    fresh: [written],
  };
}
