import type { Device } from './device.ts';
import type { RealDtype, RowsInput } from './distribution-input.ts';
import type { SampleSyncOptions } from './draw.ts';
import type { Matrix } from './matrix.ts';
import type { Task } from './task.ts';
import type { Vector } from './vector.ts';

/** What a distribution of rows of n does on its device: tasks, checked but not begun. */
export interface DistributionTasks {
  /** For messages: `Normal`. */
  readonly name: string;
  readonly device: Device;
  readonly dtype: RealDtype;
  readonly n: number;
  /** Normals of the stream that one draw takes. */
  readonly width: number;
  /** `count` draws; `counter` is overwritten, and read until the commit has run. */
  draw(count: number, options: SampleSyncOptions, counter: Uint32Array): Task<Matrix>;
  logPdf(rows: RowsInput): Task<Vector>;
  /** Mahalanobis distances from the centre. */
  mahalanobis(rows: RowsInput): Task<Vector>;
  close(): void;
}
