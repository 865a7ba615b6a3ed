import { CovariumError } from '../covarium-error.ts';
import { part, type Real } from '../dtype.ts';
import { isSlice, type Work } from '../work.ts';
import { cholesky } from './cholesky.ts';
import { logDensity } from './log-density.ts';
import { sample } from './sample.ts';
import { stretchRows } from './stretch-rows.ts';
import { requireSymmetric } from './symmetry.ts';

/** The commands of an encoder for a batch of models: those for one model, one model after the other. */
export function choleskyBatch(a: Real, n: number, tolerance: number): Work {
  return modelsOf(a, n * n, function* (b, matrix) {
    try {
      yield* requireSymmetric(matrix, n, tolerance);
      yield* cholesky(matrix, n);
    } catch (error) {
      if (!(error instanceof CovariumError)) throw error;
      const { code, message, pivot, row, column } = error;
      const place = pivot === undefined ? { row: row!, column: column! } : { pivot };
      throw new CovariumError(code, message, { matrix: b, ...place });
    }
  });
}

/** Draws of each model; model b draws from stream + b. */
export function sampleBatch(factors: Real, means: Real, out: Real, n: number, counter: Uint32Array): Work {
  const length = (out.length / means.length) * n;
  return modelsOf(means, n, (b, mean) =>
    sample(part(factors, b, n * n), mean, part(out, b, length), false, inStream(counter, b)),
  );
}

/** Stretches the rows of each model from its location; model b has the radial scales of stream + b. */
export function stretchBatch(
  rows: Real,
  locations: Float64Array,
  n: number,
  degreesOfFreedom: number,
  counter: Uint32Array,
): Work {
  const length = (rows.length / locations.length) * n;
  return modelsOf(locations, n, (b, location) =>
    stretchRows(part(rows, b, length), location as Float64Array, n, degreesOfFreedom, inStream(counter, b)),
  );
}

function inStream(counter: Uint32Array, b: number): Uint32Array {
  const own = counter.slice();
  const stream = ((BigInt(own[3]!) << 32n) | BigInt(own[2]!)) + BigInt(b);
  own[2] = Number(BigInt.asUintN(32, stream));
  own[3] = Number(BigInt.asUintN(32, stream >> 32n));
  return own;
}

/** Log densities of each model, at the same rows or at its own. */
export function logDensityBatch(
  factors: Real,
  means: Real,
  rows: Real,
  out: Real,
  n: number,
  constants: Float64Array,
): Work {
  const each = (out.length / means.length) * n;
  const isShared = rows.length !== out.length * n;
  return modelsOf(means, n, (b, mean) => {
    const own = isShared ? rows : part(rows, b, each * n);
    return logDensity(part(factors, b, n * n), mean, own, part(out, b, each), false, constants[b]!);
  });
}

/** Each model in turn: small ones would take long together without a pause. */
function* modelsOf(values: Real, length: number, work: (b: number, values: Real) => Work): Work {
  for (let b = 0; b < values.length / length; b++) {
    yield* work(b, part(values, b, length));
    if (isSlice(b)) yield;
  }
}
