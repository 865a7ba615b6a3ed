import type { OpenBackend } from '../backend-handle.ts';
import { decomposed } from '../command/float64.ts';
import type { Tasks } from '../command/task.ts';
import { echelon } from '../reference/echelon.ts';
import { runToEnd } from '../work.ts';

const worthACommit = 1 << 12; // operations, about 20 us

/**
 * Rows A (m x width) become a lower echelon L with A A' = L L': A = L Q, and Q is not kept. Returns the column of each
 * row's positive pivot, in ascending order; -1 for a row that the rows before it determine, that is, whose remainder is
 * at most `tolerance` of its norm.
 */
export function* lowerEchelon(
  device: OpenBackend,
  rows: Float64Array<ArrayBuffer>,
  m: number,
  width: number,
  tolerance: number,
): Tasks<Int32Array> {
  const pivots = new Float64Array(m);
  if (m === 0) return new Int32Array(pivots);
  if (width === 0) return new Int32Array(m).fill(-1);
  if (m * m * width <= worthACommit) runToEnd(echelon(rows, pivots, width, tolerance));
  else yield* decomposed(device, (encoder) => encoder.echelon(rows, pivots, width, tolerance));
  return new Int32Array(pivots);
}
