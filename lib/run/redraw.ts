import type { Matrix } from '../array/matrix.ts';
import type { DeviceKind } from '../backend.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Device } from '../device.ts';
import type { Real } from '../dtype.ts';
import { listDevices } from '../list-devices.ts';
import type { MultivariateNormal } from '../normal/multivariate-normal.ts';
import { openQuietly } from '../open-device.ts';
import { normalCounter } from '../stream/counter.ts';
import { fillRadialScales } from '../stream/radial-scales.ts';
import type { MultivariateStudentT } from '../student-t/multivariate-student-t.ts';
import type { RunModel } from './model.ts';
import { openModel } from './model.ts';
import type { Run } from './run.ts';
import { allowedUlps, deviationsOf, epsilonOf } from './tolerance.ts';

/** The result of a comparison. */
interface Redrawn {
  /** The largest difference, in ulps of its column's scale. */
  readonly worstUlps: number;
}

/** Draws rows of runs of one model again, on one device, and their normals on others. */
export class Redraw {
  readonly #run: Run;
  readonly #normal: MultivariateNormal | MultivariateStudentT;
  readonly #others: readonly Device[];
  readonly #deviations: Float64Array;
  readonly #centre: Float64Array;
  // Number of normals of a row: the columns of the factor.
  readonly #width: number;
  /** How many ulps of its column's scale a draw may differ. */
  readonly allowedUlps: number;

  private constructor(
    run: Run,
    normal: MultivariateNormal | MultivariateStudentT,
    others: readonly Device[],
    factor: Matrix,
  ) {
    this.#run = run;
    this.#normal = normal;
    this.#others = others;
    this.#centre = new Float64Array('location' in normal ? normal.location.data : normal.mean.data);
    this.#deviations = deviationsOf(factor);
    this.#width = factor.columns;
    this.allowedUlps = allowedUlps(factor, normal.rank, run.dtype);
  }

  /**
   * Opens `kind`, or another kind than `drawnOn`; compares normals also on `drawnOn`, if this machine has it, and on
   * the reference device.
   */
  static async open(run: Run, model: RunModel, drawnOn: DeviceKind, kind: DeviceKind | undefined): Promise<Redraw> {
    const device = openQuietly(kind ?? anotherKind(drawnOn, run));
    const others: Device[] = [];
    try {
      const normal = await openModel(device, model, run.dtype);
      for (const other of new Set<DeviceKind>([drawnOn, 'reference']))
        if (other !== device.kind && has(other, run)) others.push(openQuietly(other));
      return new Redraw(run, normal, others, await normal.factor());
    } catch (error) {
      for (const each of [device, ...others]) each.close();
      throw error;
    }
  }

  get drawnOn(): DeviceKind {
    return this.#normal.device.kind;
  }

  /** The devices whose normals were compared. */
  get normalsOn(): readonly DeviceKind[] {
    return [this.#normal.device, ...this.#others].map(({ kind }) => kind);
  }

  /**
   * Compares row `row` of the file at `path` with the same row of the run. Throws `ERR_DRAWS_MISMATCH` for a normal
   * whose bits differ between devices, or a number that differs by more than {@link allowedUlps}.
   */
  async compare(path: string, row: number, values: Float64Array): Promise<Redrawn> {
    const { columns, dtype, seed, stream, firstRow } = this.#run;
    const index = BigInt(firstRow) + BigInt(row);
    await this.#compareNormals(path, row, index);
    const which = { seed: BigInt(seed), stream: BigInt(stream), firstRow: index };
    using drawn = await this.#normal.sample(1, which);
    const stretch = this.#stretch(index);
    let worstUlps = 0;
    for (let column = 0; column < columns; column++) {
      const [there, here] = [values[column]!, drawn.data[column]!];
      const scale = stretch * this.#deviations[column]! + Math.abs(this.#centre[column]!);
      // A Student-t may be infinite, and the scale of a singular covariance may be 0.
      const ulps = there === here || Object.is(there, here) ? 0 : Math.abs(there - here) / (epsilonOf(dtype) * scale);
      // Written so that NaN is refused too.
      if (!(ulps <= this.allowedUlps))
        throw new CovariumError(
          'ERR_DRAWS_MISMATCH',
          `Row (${row}), column (${column}) of (${path}) is (${there}), but seed (${seed}) and stream (${stream}) give (${here}) on ` +
            `(${this.drawnOn}): (${ulps.toPrecision(3)}) ulps off, and (${this.allowedUlps.toPrecision(3)}) are allowed.`,
          { path, row, column },
        );
      worstUlps = Math.max(worstUlps, ulps);
    }
    return { worstUlps };
  }

  close(): void {
    this.#normal.close();
    for (const device of [this.#normal.device, ...this.#others]) device.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  // The scale of a row of a Student-t, which has the same bits everywhere.
  #stretch(index: bigint): number {
    if (!('degreesOfFreedom' in this.#normal)) return 1;
    const { degreesOfFreedom } = this.#normal;
    if (degreesOfFreedom === Number.POSITIVE_INFINITY) return 1;
    const { seed, stream } = this.#run;
    const scale = new Float64Array(1);
    fillRadialScales(scale, degreesOfFreedom, normalCounter(BigInt(seed), BigInt(stream), 0), index);
    return scale[0]!;
  }

  async #compareNormals(path: string, row: number, index: bigint): Promise<void> {
    const expected = await this.#normals(this.#normal.device, index);
    for (const device of this.#others) {
      const normals = await this.#normals(device, index);
      const column = normals.findIndex((normal, k) => !Object.is(normal, expected[k]));
      if (column >= 0)
        throw new CovariumError(
          'ERR_DRAWS_MISMATCH',
          `Normal (${column}) of row (${row}) of (${path}) is (${expected[column]}) on (${this.drawnOn}), but (${normals[column]}) on ` +
            `(${device.kind}): one of these devices does not work as it should.`,
          { path, row, column },
        );
    }
  }

  async #normals(device: Device, index: bigint): Promise<Real> {
    const { dtype, seed, stream } = this.#run;
    using normals = device.vector(this.#width, { dtype });
    const first = index * BigInt(this.#width);
    await device
      .commandBuffer()
      .fillNormal(normals, { seed: BigInt(seed), stream: BigInt(stream), first })
      .commit();
    return normals.data.slice() as Real;
  }
}

// Redraw on the reference device; redraw the reference device's rows on the best other device with this dtype.
function anotherKind(drawnOn: DeviceKind, run: Run): DeviceKind {
  if (drawnOn !== 'reference') return 'reference';
  return listDevices().find(({ kind }) => kind !== 'reference' && has(kind, run))?.kind ?? 'reference';
}

function has(kind: DeviceKind, { dtype }: Run): boolean {
  if (!listDevices().some((candidate) => candidate.kind === kind && candidate.available)) return false;
  using device = openQuietly(kind);
  return device.dtypes.includes(dtype);
}
