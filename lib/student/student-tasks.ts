import type { DistributionTasks } from '../distribution-tasks.ts';
import { drawTask, requireCount, type SampleSyncOptions } from '../draw.ts';
import type { Values } from '../dtype.ts';
import type { Matrix } from '../matrix.ts';
import { firstElement, type Word64 } from '../normal-counter.ts';
import { normalTasks } from '../normal-tasks.ts';
import type { Task } from '../task.ts';
import { type CentredNormal, centredNormal, distances, mapDistances } from './distances.ts';
import { fillRadialScales } from './radial-scales.ts';
import { requireRows } from './row-words.ts';
import { logDecay, logDensityAtLocation } from './student-density.ts';
import type { StudentParameters } from './student-parameters.ts';

/** What a Student-t of these parameters does on its device. */
export function studentTasks(parameters: StudentParameters): DistributionTasks {
  const { normal, nu } = parameters;
  const name = 'Student-t';
  if (nu === Number.POSITIVE_INFINITY) return { ...normalTasks(normal), name };
  const atLocation = logDensityAtLocation(parameters);
  // The copy of the location outlives close(), as what is in flight does.
  const both = centredNormal(normal);
  const tasks = normalTasks(normal);
  return {
    ...tasks,
    name,
    draw: (count, options, counter) => drawStretched(both, nu, count, options, counter),
    logPdf: (rows) =>
      mapDistances(both, rows, (square, exponent) => atLocation + logDecay(normal, nu, square, exponent)),
    mahalanobis: (rows) => distances(both, rows),
    close: () => {
      tasks.close();
      both.centred.mean.close();
    },
  };
}

/**
 * Row r = location + sqrt(nu / w_r) A z_r: the device makes A z_r, the host stretches it, in float64. What is so far out that a float32
 * can't tell is infinite. The location is one of all rows (n), or one of each (count x n).
 */
export function drawStretched(
  { centred, location }: Pick<CentredNormal, 'centred' | 'location'>,
  nu: number,
  count: number,
  options: SampleSyncOptions,
  counter: Uint32Array,
): Task<Matrix> {
  requireCount(count, centred);
  const firstRow = options.firstRow ?? 0;
  firstElement(firstRow, count, centred.factor.width);
  requireRows(firstRow, count);
  const task = drawTask(centred, count, options, counter);
  return {
    ...task,
    after: () => stretch(task.written.values, centred.n, location, nu, counter, firstRow),
  };
}

const rowsAtOnce = 4096;

function stretch(
  draws: Values,
  n: number,
  location: Float64Array,
  nu: number,
  run: Uint32Array,
  firstRow: Word64,
): void {
  const count = draws.length / n;
  const scales = new Float64Array(Math.min(count, rowsAtOnce));
  for (let begin = 0; begin < count; begin += rowsAtOnce) {
    const rows = scales.subarray(0, Math.min(rowsAtOnce, count - begin));
    fillRadialScales(rows, nu, run, BigInt(firstRow) + BigInt(begin));
    for (let row = 0, at = begin * n; row < rows.length; row++) {
      const scale = rows[row]!;
      const own = location.length === n ? 0 : at;
      for (let j = 0; j < n; j++, at++) {
        // A coordinate that does not vary stays where it is, also where the scale is infinite.
        const draw = draws[at]!;
        draws[at] = location[own + j]! + (draw === 0 ? 0 : scale * draw);
      }
    }
  }
}
