import type { OpenBackend } from '../backend-handle.ts';
import { decomposed } from '../command/float64.ts';
import type { Tasks } from '../command/task.ts';
import { echelon } from '../reference/echelon.ts';
import { inRows, runToEnd } from '../work.ts';

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
): Tasks<Float64Array> {
  const pivots = new Float64Array(m);
  if (m === 0) return pivots;
  if (width === 0) return pivots.fill(-1);
  let isLower = tolerance === 0;
  if (isLower)
    yield* inRows(m, width, (from, to) => {
      isLower &&= isLowerTriangle(rows, from, to, width);
    });
  if (isLower) {
    for (let i = 0; i < m; i++) pivots[i] = i;
    return pivots;
  }
  if (m * m * width <= worthACommit) runToEnd(echelon(rows, pivots, width, tolerance));
  else yield* decomposed(device, (encoder) => encoder.echelon(rows, pivots, width, tolerance));
  return pivots;
}

/** True if row i has nothing but zeros after column i, which is positive: the first rows of a Cholesky factor. */
function isLowerTriangle(rows: Float64Array, from: number, to: number, width: number): boolean {
  for (let i = from; i < to; i++) {
    if (!(i < width && rows[i * width + i]! > 0)) return false;
    for (let at = i * width + i + 1; at < (i + 1) * width; at++) if (rows[at] !== 0) return false;
  }
  return true;
}
