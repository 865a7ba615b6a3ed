import type { Real } from '../dtype.ts';
import type { Work } from '../work.ts';
import { Panel, packFactor } from './panel.ts';
import { multiplyPanel, solvePanel } from './triangular.ts';

/** out[r] = constant - |w|^2 / 2; w solves factor w = row r - mean, or is factor (row r - mean) where `inverse`. */
export function* logDensity(factor: Real, mean: Real, rows: Real, out: Real, inverse: boolean, constant: number): Work {
  const n = mean.length;
  const count = out.length;
  const packed = yield* packFactor(factor, n, false);
  const panel = new Panel(n, count);
  for (let first = 0; first < count; first += panel.rows) {
    const taken = Math.min(panel.rows, count - first);
    panel.load(rows, first, taken, false);
    panel.addRow(mean, -1, taken);
    yield* (inverse ? multiplyPanel : solvePanel)(packed, panel, taken);
    for (let r = 0; r < taken; r++) out[first + r] = constant - panel.squaredNorm(r) / 2;
    yield;
  }
}
