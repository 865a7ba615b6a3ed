import { aboutRows, type RowsInput, rowsInput } from '../array/inputs.ts';
import { Matrix } from '../array/matrix.ts';
import type { Storage } from '../array/storage.ts';
import { resultTask, type Task, type Tasks } from '../command/task.ts';
import type { Real, RealDtype, Values } from '../dtype.ts';
import type { Factor } from '../factor/factor.ts';
import { solvedInUnit } from '../normal/far-rows.ts';
import type { NormalParameters } from '../normal/parameters.ts';
import { digammaDifference, logGammaRatio } from '../probability/special-functions.ts';
import { isSlice } from '../work.ts';
import type { StudentParameters } from './parameters.ts';

// With b half the dimension (half the rank, if the scale is singular), the density at squared distance d^2 is Gamma(nu
// / 2 + b) / (Gamma(nu / 2) (pi nu)^b sqrt(det)) (1 + d^2 / nu)^-(nu / 2 + b): Kotz and Nadarajah, Multivariate t
// Distributions and Their Applications, Cambridge 2004, (1.1).

/** Logarithm of the density at the location. */
export function logDensityAtLocation({
  normal,
  nu,
}: {
  readonly normal: { readonly factor: Pick<Factor, 'logDeterminant' | 'rank'> };
  readonly nu: number;
}): number {
  const { logDeterminant, rank } = normal.factor;
  const b = rank / 2;
  // (pi nu)^-b = (nu / 2)^-b (2 pi)^-b; the first factor is part of the ratio.
  const ratio = nu === Number.POSITIVE_INFINITY ? 0 : logGammaRatio(nu / 2, b);
  return ratio - b * Math.log(2 * Math.PI) - logDeterminant / 2;
}

/**
 * The logarithm of the density at squared distance square 4^exponent, minus the logarithm at the location; nu is
 * finite.
 */
export function logDecay(
  { factor }: { readonly factor: Pick<Factor, 'rank'> },
  nu: number,
  square: number,
  exponent: number,
): number {
  const ratio = (square / nu) * 4 ** exponent;
  const logarithm = ratio < 1e300 ? Math.log1p(ratio) : Math.log(square) - Math.log(nu) + 2 * exponent * Math.LN2;
  return -(nu / 2 + factor.rank / 2) * logarithm;
}

/** Differential entropy in nats. */
export function studentEntropy(parameters: StudentParameters): number {
  const { nu, normal } = parameters;
  const b = normal.factor.rank / 2;
  const spread = nu === Number.POSITIVE_INFINITY ? b : (nu / 2 + b) * digammaDifference(nu / 2, b);
  return spread - logDensityAtLocation(parameters);
}

/**
 * The gradient of the log density at each row x: the normal's, scale^-1 (location - x), times (nu + n) / (nu + d^2) for
 * a row at Mahalanobis distance d. If the scale is singular, its rank replaces n, and the gradient lies along the
 * support.
 */
export function studentScoreTask<D extends RealDtype>(
  { normal, nu }: StudentParameters<D>,
  rows: RowsInput,
): Task<Matrix<D>> {
  const { device, dtype, n, mean, factor } = normal;
  const { values, count } = rowsInput('Input', device, rows, n);
  let apart: Real;
  const wrap = (written: Storage<D>) => new Matrix(written, count, n);
  const task = resultTask({ device, dtype }, count * n, wrap, (encoder, solution, scratch) => {
    const input = scratch.input(values, dtype);
    encoder.requireFinite(input, n);
    apart = scratch.output(dtype, count * n);
    encoder.copy(input, apart);
    encoder.addRow(apart, mean.values as Real, -1);
    encoder.copy(apart, solution);
    factor.solve(encoder, solution, scratch);
  });
  const out = task.written.values as Real;
  return {
    ...task,
    explain: (error) => aboutRows('Input', error, values, n),
    again: function* () {
      const far: number[] = [];
      for (let row = 0; row < count; row++) {
        if (isSlice(row)) yield;
        const [start, end] = [row * n, (row + 1) * n];
        let square = 0;
        for (let i = start; i < end; i++) square += apart[i]! * out[i]!;
        if (nu === Number.POSITIVE_INFINITY) for (let i = start; i < end; i++) out[i] = 0 - out[i]!;
        else if (!Number.isFinite(square)) far.push(row);
        else for (let i = start; i < end; i++) out[i] = 0 - ((nu + factor.rank) / (nu + square)) * out[i]!;
      }
      if (far.length > 0) yield* scoreFar(normal, nu, values, far, out);
    },
  };
}

// Rows so far out that the square of their distance overflows are solved again in a smaller unit, like their distances.
function* scoreFar(normal: NormalParameters, nu: number, rows: Values, far: readonly number[], out: Real): Tasks<void> {
  const { n, factor } = normal;
  const { scaled, exponents, solution } = yield* solvedInUnit(normal, rows, far);
  const solved = solution.values;
  for (const [i, row] of far.entries()) {
    let square = 0;
    for (let j = 0; j < n; j++) square += scaled[i * n + j]! * solved[i * n + j]!;
    // (nu + n) y 2^e / (nu + d^2 4^e), with y and d in units of 2^e, so that no product exceeds its factors.
    const size = 2 ** exponents[i]!;
    const whole = nu / size / size + square;
    for (let j = 0; j < n; j++) out[row * n + j] = 0 - ((nu + factor.rank) / size) * (solved[i * n + j]! / whole);
  }
  solution.close();
}
