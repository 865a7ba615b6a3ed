import { Storage } from '../array/storage.ts';
import type { Encoder } from '../backend.ts';
import type { Real } from '../dtype.ts';
import type { Work } from '../work.ts';
import type { Factor } from './factor.ts';
import { TriangularFactor } from './triangular-factor.ts';

/** The lower Cholesky factor L of a covariance L L'. */
export class LowerFactor extends TriangularFactor implements Factor {
  get logDeterminant(): number {
    return 2 * this.logDiagonal;
  }

  /** The square of the smallest entry of the diagonal. */
  get smallestPivot(): number {
    let smallest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.n; i++) smallest = Math.min(smallest, this.lower[i * (this.n + 1)]! ** 2);
    return smallest;
  }

  sample(encoder: Encoder, mean: Real, out: Real, counter: Uint32Array): void {
    encoder.sample(this.lower, mean, out, false, counter);
  }

  transform(encoder: Encoder, mean: Real, input: Real, out: Real): void {
    if (this.timings?.factor === 'gpu' && out.length === this.n) {
      transformOne(encoder, this.lower, mean, input, out);
    } else {
      encoder.copy(input, out);
      encoder.triangularProduct(this.lower, out, this.n, false);
      encoder.addRow(out, mean, 1);
    }
  }

  logDensity(encoder: Encoder, mean: Real, rows: Real, out: Real, constant: number): void {
    encoder.logDensity(this.lower, mean, rows, out, false, constant);
  }

  solve(encoder: Encoder, rows: Real): void {
    encoder.choleskySolve(this.lower, rows, this.n);
  }

  variances(encoder: Encoder, out: Real): void {
    encoder.squaredNorms(this.lower, out, this.n);
  }

  covariance(encoder: Encoder, out: Real): void {
    const { n } = this;
    encoder.product(this.lower, this.lower, out, n, n, n, false, true, 1, 0);
  }

  root(encoder: Encoder, out: Real): void {
    encoder.copy(this.lower, out);
  }

  *exact(): Work<LowerFactor> {
    const copy = new LowerFactor(new Storage(new Float64Array(this.lower)), this.n);
    yield;
    return copy;
  }
}

/**
 * mean + L z for one z. Row z times L' is L times column z; Metal has separate commands for one vector, because the
 * commands for rows would run a triangle on one thread.
 */
export function transformOne(encoder: Encoder, lower: Real, mean: Real, z: Real, out: Real): void {
  const n = z.length;
  encoder.product(z, lower, out, 1, n, n, false, true, 1, 0);
  encoder.sum(out, mean, out);
}
