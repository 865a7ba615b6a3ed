import { CovariumError } from '../covarium-error.ts';
import type { NormalInput } from '../distribution-input.ts';
import type { LowerFactor } from '../factor/lower-factor.ts';
import { Matrix } from '../matrix.ts';
import type { CovarianceOptions } from '../normal-options.ts';
import { fromCovariance, type NormalParameters } from '../normal-parameters.ts';
import { type Procedure, step } from '../procedure.ts';
import { Storage } from '../storage.ts';

const attempts = 5; // without, then with once, ten, a hundred and a thousand times as much

/** The normal of a covariance (`name` in messages) with as little added to its diagonal as makes it positive definite. */
export function* withJitter(options: CovarianceOptions, input: NormalInput, name: string): Procedure<NormalParameters> {
  const { n, mean, square } = input;
  let largest = 0;
  for (let i = 0; i < n; i++) largest = Math.max(largest, square[i * (n + 1)]!);
  const begin = share(options.jitter!, input.dtype) * largest;
  for (let attempt = 1; ; attempt++) {
    const amount = attempt === 1 ? 0 : begin * 10 ** (attempt - 2);
    const shifted = square.slice();
    for (let i = 0; i < n; i++) shifted[i * (n + 1)]! += amount;
    const covariance = new Matrix(new Storage(shifted), n, n);
    try {
      const parameters = yield* step(fromCovariance({ ...options, mean, covariance }));
      const { smallestPivot } = parameters.factor as LowerFactor;
      return { ...parameters, jitter: { amount, attempts: attempt, smallestPivot } };
    } catch (error) {
      if (!(error instanceof CovariumError) || error.code !== 'ERR_NOT_POSITIVE_DEFINITE') throw error;
      if (attempt < attempts && largest > 0) continue;
      const { pivot } = error;
      const message = `${name} is not positive definite, even with (${amount}) added to its diagonal: ${error.message}`;
      throw new CovariumError(error.code, message, pivot === undefined ? { cause: error } : { pivot, cause: error });
    }
  }
}

function share(jitter: boolean | number, dtype: string): number {
  const least = dtype === 'float32' ? 2 ** -22 : 2 ** -51;
  if (jitter === true) return dtype === 'float32' ? least : 2 ** -40;
  if (typeof jitter === 'number' && jitter >= least && jitter <= 1) return jitter;
  throw new CovariumError(
    'ERR_OUT_OF_RANGE',
    `Jitter is (${jitter}), not a share of the largest variance from (${least}), below which (${dtype}) has nothing, to 1.`,
  );
}
