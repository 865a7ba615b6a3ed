import type { Storage } from '../array/storage.ts';
import type { Encoder, Timings } from '../backend.ts';
import type { Scratch } from '../command/scratch.ts';
import { dtypeOf, type Real } from '../dtype.ts';
import type { Work } from '../work.ts';
import type { Factor } from './factor.ts';
import { type Allocate, inMemory, kept, norms } from './parts.ts';

/** Standard deviations: the root of a diagonal covariance, in 2 n numbers. */
export class DiagonalFactor implements Factor {
  readonly n: number;
  readonly #deviations: Storage;
  readonly #inverses: Storage;

  private constructor(deviations: Storage, inverses: Storage) {
    this.#deviations = deviations;
    this.#inverses = inverses;
    this.n = deviations.values.length;
  }

  /** Makes the factor of n positive numbers. */
  static of(allocate: Allocate, deviations: Float64Array): DiagonalFactor {
    const storages = kept({ deviations, inverses: deviations.map((deviation) => 1 / deviation) }, allocate);
    return new DiagonalFactor(storages.deviations, storages.inverses);
  }

  get width(): number {
    return this.n;
  }

  get rank(): number {
    return this.n;
  }

  get logDeterminant(): number {
    let sum = 0;
    for (const deviation of this.#scale) sum += Math.log(deviation);
    return 2 * sum;
  }

  get timings(): Timings | undefined {
    return this.#deviations.timings;
  }

  sample(encoder: Encoder, mean: Real, out: Real, counter: Uint32Array): void {
    encoder.fillNormal(out, counter);
    this.#place(encoder, mean, out);
  }

  transform(encoder: Encoder, mean: Real, input: Real, out: Real): void {
    encoder.copy(input, out);
    this.#place(encoder, mean, out);
  }

  logDensity(encoder: Encoder, mean: Real, rows: Real, out: Real, constant: number, scratch: Scratch): void {
    const w = scratch.output(dtypeOf(rows), rows.length);
    encoder.copy(rows, w);
    encoder.addRow(w, mean, -1);
    encoder.scaleColumns(w, this.#inverse);
    norms(encoder, w, out, this.n, constant, scratch);
  }

  solve(encoder: Encoder, rows: Real): void {
    encoder.scaleColumns(rows, this.#inverse);
    encoder.scaleColumns(rows, this.#inverse);
  }

  variances(encoder: Encoder, out: Real): void {
    encoder.copy(this.#scale, out);
    encoder.scaleColumns(out, this.#scale);
  }

  covariance(encoder: Encoder, out: Real, scratch: Scratch): void {
    this.root(encoder, out, scratch);
    encoder.scaleColumns(out, this.#scale);
  }

  root(encoder: Encoder, out: Real, scratch: Scratch): void {
    const { n } = this;
    const identity = scratch.zeros(dtypeOf(out), n * n);
    for (let i = 0; i < n; i++) identity[i * (n + 1)] = 1;
    encoder.copy(identity, out);
    encoder.scaleColumns(out, this.#scale);
  }

  /** A copy of the n standard deviations, in float64. */
  deviations(): Float64Array<ArrayBuffer> {
    return new Float64Array(this.#scale);
  }

  *exact(): Work<DiagonalFactor> {
    const copy = DiagonalFactor.of(inMemory, this.deviations());
    yield;
    return copy;
  }

  /** All storage; the timings of the first are those of the commit. */
  get storages(): readonly Storage[] {
    return [this.#deviations, this.#inverses];
  }

  close(): void {
    this.#deviations.close();
    this.#inverses.close();
  }

  // In the order of a product with a dense factor: scale, then add.
  #place(encoder: Encoder, mean: Real, rows: Real): void {
    encoder.scaleColumns(rows, this.#scale);
    encoder.addRow(rows, mean, 1);
  }

  get #scale(): Real {
    return this.#deviations.values as Real;
  }

  get #inverse(): Real {
    return this.#inverses.values as Real;
  }
}
