import { Storage } from '../array/storage.ts';
import type { Encoder } from '../backend.ts';
import type { Scratch } from '../command/scratch.ts';
import { dtypeOf, type Real } from '../dtype.ts';
import type { Work } from '../work.ts';
import type { Factor } from './factor.ts';
import { TriangularFactor } from './triangular-factor.ts';

/**
 * The inverse of a lower triangular W of a precision W' W: the covariance is W^-1 W^-T. No inverse is formed for a
 * draw.
 */
export class InverseFactor extends TriangularFactor implements Factor {
  get logDeterminant(): number {
    return -2 * this.logDiagonal;
  }

  sample(encoder: Encoder, mean: Real, out: Real, counter: Uint32Array): void {
    encoder.sample(this.lower, mean, out, true, counter);
  }

  transform(encoder: Encoder, mean: Real, input: Real, out: Real): void {
    encoder.copy(input, out);
    encoder.triangularSolve(this.lower, out, this.n, false);
    encoder.addRow(out, mean, 1);
  }

  logDensity(encoder: Encoder, mean: Real, rows: Real, out: Real, constant: number): void {
    encoder.logDensity(this.lower, mean, rows, out, true, constant);
  }

  solve(encoder: Encoder, rows: Real): void {
    encoder.triangularProduct(this.lower, rows, this.n, false);
    encoder.triangularProduct(this.lower, rows, this.n, true);
  }

  variances(encoder: Encoder, out: Real, scratch: Scratch): void {
    const { n } = this;
    const rows = scratch.output(dtypeOf(out), n * n);
    this.root(encoder, rows, scratch);
    encoder.squaredNorms(rows, out, n);
  }

  covariance(encoder: Encoder, out: Real, scratch: Scratch): void {
    const { n } = this;
    const inverse = this.#transposedInverse(encoder, scratch);
    encoder.product(inverse, inverse, out, n, n, n, true, false, 1, 0);
  }

  root(encoder: Encoder, out: Real, scratch: Scratch): void {
    const { n } = this;
    // W^-1 is lower triangular with a positive diagonal, so it is the Cholesky factor. A product with the identity
    // transposes it.
    const inverse = this.#transposedInverse(encoder, scratch);
    encoder.product(inverse, this.#identity(scratch), out, n, n, n, true, false, 1, 0);
  }

  // W^-T: row i of the identity becomes column i of W^-1.
  #transposedInverse(encoder: Encoder, scratch: Scratch): Real {
    const rows = this.#identity(scratch);
    encoder.triangularSolve(this.lower, rows, this.n, false);
    return rows;
  }

  #identity(scratch: Scratch): Real {
    const identity = scratch.zeros(dtypeOf(this.lower), this.n ** 2);
    for (let i = 0; i < this.n; i++) identity[i * (this.n + 1)] = 1;
    return identity;
  }

  *exact(): Work<InverseFactor> {
    const copy = new InverseFactor(new Storage(new Float64Array(this.lower)), this.n);
    yield;
    return copy;
  }
}
