import type { CompiledKernel, Encoder, FactorOn, LaunchOperand, Timings } from '../backend.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Real } from '../dtype.ts';
import { fillNormal } from '../stream/fill-normal.ts';
import type { Work } from '../work.ts';
import { choleskyBatch, logDensityBatch, sampleBatch, stretchBatch } from './batch.ts';
import { countBetween } from './between.ts';
import { cholesky } from './cholesky.ts';
import { echelon } from './echelon.ts';
import { symmetricEigen } from './eigen.ts';
import { logDensity } from './log-density.ts';
import { lq } from './lq.ts';
import { lu, luSolve } from './lu.ts';
import { addMoments, addPowers, meanAndCovariance } from './moments.ts';
import { pivotedCholesky } from './pivoted-cholesky.ts';
import { product } from './product.ts';
import type { Commit, Queue } from './queue.ts';
import {
  addRow,
  copy,
  distances,
  findBeyond,
  normalQuantiles,
  scaleColumns,
  squaredNorms,
  sum,
  transpose,
} from './rows.ts';
import { sample } from './sample.ts';
import { selectRanks } from './select-ranks.ts';

import { stretchRows } from './stretch-rows.ts';

import { svd } from './svd.ts';

import { requireFinite, requireSymmetric } from './symmetry.ts';
import {
  antitranspose,
  choleskySolve,
  multiplyColumns,
  triangularProduct,
  triangularSolve,
  zeroUpper,
} from './triangular.ts';

/**
 * The destination of an encoder's commits: the device's queue while the device is open (throws `ERR_CLOSED`
 * afterwards).
 */
export interface CommitTarget {
  readonly queue: Queue;
  /** Keeps memory that is released from now on, until the returned function is called when the commit is over. */
  hold(): () => void;
}

/** The {@link Encoder} of the reference device: each command is a function that starts its work. */
export class ReferenceEncoder implements Encoder {
  readonly #target: () => CommitTarget;
  #commands: (() => Work)[] = [];
  #begun = 0;
  #factor: 'cpu' | undefined;
  #commit: Commit | undefined;
  #inFlight = false;
  #cancelled = false;

  constructor(target: () => CommitTarget) {
    this.#target = target;
  }

  fillNormal(out: Real, counter: Uint32Array): void {
    const own = counter.slice();
    this.#record(() => fillNormal(out, own));
  }

  requireFinite(a: Real, columns: number): void {
    this.#record(() => requireFinite(a, columns));
  }

  requireSymmetric(a: Real, n: number, tolerance: number): void {
    this.#record(() => requireSymmetric(a, n, tolerance));
  }

  cholesky(a: Real, n: number, where: FactorOn): void {
    if (where === 'gpu' || where === 'mps')
      throw new CovariumError(
        'ERR_UNSUPPORTED',
        `Device (reference) has no GPU to make a factor on (factor: '${where}').`,
      );
    this.#factor = 'cpu';
    this.#record(() => cholesky(a, n));
  }

  zeroUpper(a: Real, n: number): void {
    this.#record(() => zeroUpper(a, n));
  }

  antitranspose(a: Real, n: number): void {
    this.#record(() => antitranspose(a, n));
  }

  copy(from: Real, to: Real): void {
    this.#record(() => copy(from, to));
  }

  sum(a: Real, b: Real, out: Real): void {
    this.#record(() => sum(a, b, out));
  }

  addRow(rows: Real, row: Real, scale: number): void {
    this.#record(() => addRow(rows, row, scale));
  }

  scaleColumns(rows: Real, row: Real): void {
    this.#record(() => scaleColumns(rows, row));
  }

  product(
    a: Real,
    b: Real,
    c: Real,
    m: number,
    n: number,
    k: number,
    transposeA: boolean,
    transposeB: boolean,
    alpha: number,
    beta: number,
  ): void {
    this.#record(() => product(a, b, c, m, n, k, transposeA, transposeB, alpha, beta));
  }

  multiplyColumns(columns: Real, start: Real, z: Real, out: Real, n: number): void {
    this.#record(() => multiplyColumns(columns, start, z, out, n));
  }

  triangularProduct(factor: Real, rows: Real, n: number, transposed: boolean): void {
    this.#record(() => triangularProduct(factor, rows, n, transposed));
  }

  triangularSolve(factor: Real, rows: Real, n: number, transposed: boolean): void {
    this.#record(() => triangularSolve(factor, rows, n, transposed));
  }

  choleskySolve(factor: Real, rows: Real, n: number): void {
    this.#record(() => choleskySolve(factor, rows, n));
  }

  choleskyBatch(a: Real, n: number, tolerance: number): void {
    this.#factor = 'cpu';
    this.#record(() => choleskyBatch(a, n, tolerance));
  }

  sampleBatch(factors: Real, means: Real, out: Real, n: number, counter: Uint32Array): void {
    const own = counter.slice();
    this.#record(() => sampleBatch(factors, means, out, n, own));
  }

  stretchBatch(rows: Real, locations: Float64Array, n: number, degreesOfFreedom: number, counter: Uint32Array): void {
    const own = counter.slice();
    this.#record(() => stretchBatch(rows, locations, n, degreesOfFreedom, own));
  }

  logDensityBatch(factors: Real, means: Real, rows: Real, out: Real, n: number, constants: Float64Array): void {
    this.#record(() => logDensityBatch(factors, means, rows, out, n, constants));
  }

  transpose(from: Real, to: Real, rows: number, columns: number): void {
    this.#record(() => transpose(from, to, rows, columns));
  }

  symmetricEigen(a: Real, values: Real, n: number, _vectors: boolean): void {
    this.#record(() => symmetricEigen(a, values, n));
  }

  echelon(rows: Real, pivots: Real, n: number, tolerance: number): void {
    this.#record(() => echelon(rows, pivots, n, tolerance));
  }

  lq(a: Real, q: Real, m: number, n: number): void {
    this.#record(() => lq(a, q, m, n));
  }

  svd(a: Real, u: Real, values: Real, v: Real, m: number, n: number): void {
    this.#record(() => svd(a, u, values, v, m, n));
  }

  pivotedCholesky(a: Real, order: Real, n: number, tolerance: number): void {
    this.#record(() => pivotedCholesky(a, order, n, tolerance));
  }

  lu(a: Real, pivots: Real, n: number): void {
    this.#record(() => lu(a, pivots, n));
  }

  luSolve(triangles: Real, pivots: Real, rows: Real, n: number): void {
    this.#record(() => luSolve(triangles, pivots, rows, n));
  }

  distances(values: Real): void {
    this.#record(() => distances(values));
  }

  findBeyond(values: Real, least: number, most: number, found: Uint32Array): void {
    this.#record(() => findBeyond(values, least, most, found));
  }

  normalQuantiles(values: Float64Array): void {
    this.#record(() => normalQuantiles(values));
  }

  squaredNorms(rows: Real, out: Real, n: number): void {
    this.#record(() => squaredNorms(rows, out, n));
  }

  sample(factor: Real, mean: Real, out: Real, inverse: boolean, counter: Uint32Array): void {
    const own = counter.slice();
    this.#record(() => sample(factor, mean, out, inverse, own));
  }

  stretchRows(rows: Real, location: Float64Array, n: number, degreesOfFreedom: number, counter: Uint32Array): void {
    const own = counter.slice();
    this.#record(() => stretchRows(rows, location, n, degreesOfFreedom, own));
  }

  logDensity(factor: Real, mean: Real, rows: Real, out: Real, inverse: boolean, constant: number): void {
    this.#record(() => logDensity(factor, mean, rows, out, inverse, constant));
  }

  meanAndCovariance(rows: Real, mean: Real, covariance: Real, ddof: number): void {
    this.#record(() => meanAndCovariance(rows, mean, covariance, ddof));
  }

  addMoments(...operands: Parameters<Encoder['addMoments']>): void {
    this.#record(() => addMoments(...operands));
  }

  addPowers(rows: Real, weights: Float64Array, centre: Float64Array, sums: Float64Array): void {
    this.#record(() => addPowers(rows, weights, centre, sums));
  }

  countBetween(rows: Real, limits: Real, kept: Real, counts: Uint32Array, n: number): void {
    this.#record(() => countBetween(rows, limits, kept, counts, n));
  }

  selectRanks(kept: Real, lengths: Uint32Array, ranks: Uint32Array, out: Real): void {
    this.#record(() => selectRanks(kept, lengths, ranks, out));
  }

  launch(
    kernel: string | CompiledKernel,
    operands: readonly LaunchOperand[],
    grid: readonly number[],
    threadgroup: readonly number[],
  ): void {
    this.#requireOpen();
    if (typeof kernel !== 'string' && kernel.begin !== undefined) {
      this.#record(kernel.begin(operands, grid, threadgroup));
      return;
    }
    throw new CovariumError(
      'ERR_UNSUPPORTED',
      `The reference device does not run kernels (${kernel}): open metal or cpu.`,
    );
  }

  commit(): Promise<Timings> {
    const { queue, hold } = this.#target();
    const commit = this.#take();
    this.#inFlight = true;
    return queue.add(commit, hold());
  }

  isBrief(): boolean {
    return false;
  }

  commitSync(): Timings {
    const { queue } = this.#target();
    return queue.runSync(this.#take());
  }

  reset(): void {
    if (this.#inFlight)
      throw new CovariumError('ERR_CLOSED', `Commands (${this.#commands.length}) were committed and may be in flight.`);
    this.#commands = [];
    this.#factor = undefined;
    this.#commit = undefined;
  }

  cancel(): void {
    this.#cancelled = true;
    if (this.#commit !== undefined) this.#commit.cancelled = true;
  }

  #record(command: () => Work): void {
    this.#requireOpen();
    if (this.#commands.length === 0) this.#begun = performance.now();
    this.#commands.push(command);
  }

  #take(): Commit {
    this.#requireOpen();
    const encodeMs = this.#commands.length === 0 ? 0 : performance.now() - this.#begun;
    this.#commit = { commands: this.#commands, encodeMs, factor: this.#factor, cancelled: this.#cancelled };
    return this.#commit;
  }

  #requireOpen(): void {
    this.#target();
    if (this.#commit === undefined) return;
    throw new CovariumError(
      'ERR_CLOSED',
      `Commands (${this.#commands.length}) are committed already: a command buffer commits once.`,
    );
  }
}
