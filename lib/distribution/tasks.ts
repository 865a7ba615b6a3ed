import type { RowsInput } from '../array/inputs.ts';
import type { Matrix } from '../array/matrix.ts';
import type { Vector } from '../array/vector.ts';
import type { Task, Tasks } from '../command/task.ts';
import type { Device } from '../device.ts';
import type { RealDtype } from '../dtype.ts';
import type { Word64 } from '../stream/counter.ts';
import type { Marginals } from './order-statistics.ts';
import type { SampleSyncOptions } from './sample-options.ts';

/** The tasks of a distribution of rows of n on its device, checked but not begun. */
export interface DistributionTasks<D extends RealDtype = RealDtype> {
  /** For messages: `Normal`. */
  readonly name: string;
  readonly device: Device;
  readonly dtype: D;
  readonly n: number;
  /** Number of normals of the stream that one draw uses. */
  readonly width: number;
  /** Options of `sample` that only distributions of this kind have. */
  readonly sampleNames: readonly string[];
  /** Throws `ERR_OUT_OF_RANGE` if a run goes beyond the rows that it can have, where the stream has more. */
  readonly requireRows?: (firstRow: Word64, count: number) => void;
  /** `count` draws; `counter` is overwritten, and read until the commit has run. */
  draw(count: number, options: SampleSyncOptions, counter: Uint32Array): Task<Matrix<D>>;
  logPdf(rows: RowsInput): Task<Vector<D>>;
  /** Mahalanobis distances from the centre. */
  mahalanobis(rows: RowsInput): Task<Vector<D>>;
  /** A copy of the mean or the location, n. */
  centre(): Float64Array<ArrayBuffer>;
  /** How each coordinate is distributed. */
  marginals(): Tasks<Marginals>;
  close(): void;
}

/** A task whose numbers the host maps one by one after they are computed. */
export function mapped<Numbers extends Vector>(task: Task<Numbers>, map: (value: number) => number): Task<Numbers> {
  return {
    ...task,
    after: () => {
      task.after?.();
      const { values } = task.written;
      for (let i = 0; i < values.length; i++) values[i] = map(values[i]!);
    },
  };
}

/** The densities, from a task of their logarithms. */
export function densities<Numbers extends Vector>(task: Task<Numbers>): Task<Numbers> {
  return mapped(task, Math.exp);
}
