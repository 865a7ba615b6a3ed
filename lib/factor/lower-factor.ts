import { Storage } from '../array/storage.ts';
import type { Encoder } from '../backend.ts';
import type { OpenBackend } from '../backend-handle.ts';
import type { Scratch } from '../command/scratch.ts';
import type { CovariumError } from '../covarium-error.ts';
import { dtypeOf, type Real } from '../dtype.ts';
import type { Work } from '../work.ts';
import { columnsLength, writeColumns } from './columns.ts';
import type { Factor } from './factor.ts';
import { TriangularFactor } from './triangular-factor.ts';

/** Draws of a few rows until the factor is laid out for them, which takes as long as some dozen of them save. */
const drawsBefore = 32;
const fewRows = 4;
/** Below it there is nothing to win; above it, no memory to spare for half a factor more. */
const [leastColumns, mostColumns] = [128, 2048];

/** The lower Cholesky factor L of a covariance L L'. */
export class LowerFactor extends TriangularFactor implements Factor {
  #draws = 0;
  #columns: Storage | undefined;

  get logDeterminant(): number {
    return 2 * this.logDiagonal;
  }

  /** The square of the smallest entry of the diagonal. */
  get smallestPivot(): number {
    let smallest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.n; i++) smallest = Math.min(smallest, this.lower[i * (this.n + 1)]! ** 2);
    return smallest;
  }

  sample(encoder: Encoder, mean: Real, out: Real, counter: Uint32Array, scratch: Scratch): void {
    const columns = this.#columnsFor(out);
    if (columns === undefined) {
      encoder.sample(this.lower, mean, out, false, counter);
      return;
    }
    const z = scratch.output(dtypeOf(out), out.length);
    encoder.fillNormal(z, counter);
    encoder.multiplyColumns(columns, mean, z, out, this.n);
  }

  transform(encoder: Encoder, mean: Real, input: Real, out: Real): void {
    if (this.timings?.factor === 'gpu' && out.length === this.n) {
      transformOne(encoder, this.lower, mean, input, out);
      return;
    }
    const columns = this.#columnsFor(out);
    if (columns === undefined) {
      encoder.copy(input, out);
      encoder.triangularProduct(this.lower, out, this.n, false);
    } else {
      encoder.multiplyColumns(columns, mean.subarray(0, 0), input, out, this.n);
    }
    encoder.addRow(out, mean, 1);
  }

  /** The factor in columns, for the rows of `out`, if they are few and so have been many before. Same bits. */
  #columnsFor(out: Real): Real | undefined {
    const { n, lower, home } = this;
    if (home?.kind !== 'cpu' || n < leastColumns || n > mostColumns || out.length > fewRows * n) return undefined;
    if (this.#columns === undefined) {
      if (this.#draws++ < drawsBefore) return undefined;
      const columns = columnsOf(lower, n, home);
      if (columns === undefined) this.#draws = 0; // until there is memory
      this.#columns = columns;
    }
    return this.#columns?.values as Real | undefined;
  }

  override close(): void {
    super.close();
    this.#columns?.close();
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

/** The factor in columns; undefined without the memory, as draws go on without them. */
function columnsOf(lower: Real, n: number, home: OpenBackend): Storage | undefined {
  try {
    const columns = Storage.inside(home, dtypeOf(lower), columnsLength(lower, n));
    writeColumns(lower, columns.values as Real, n);
    return columns;
  } catch (error) {
    if ((error as CovariumError).code !== 'ERR_OUT_OF_MEMORY') throw error;
    return undefined;
  }
}
