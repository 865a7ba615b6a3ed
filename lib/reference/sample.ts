import type { Real } from '../dtype.ts';
import { fillNormalRange } from '../stream/fill-normal.ts';
import type { Work } from '../work.ts';
import { Panel, packFactor } from './panel.ts';
import { multiplyPanel, solvePanel } from './triangular.ts';

/**
 * Row r of `out` becomes mean + factor z, or mean + factor^-1 z; z = normals r n to (r + 1) n of the stream at
 * `counter`.
 */
export function* sample(factor: Real, mean: Real, out: Real, inverse: boolean, counter: Uint32Array): Work {
  const n = mean.length;
  const count = out.length / n;
  const packed = yield* packFactor(factor, n, false);
  const panel = new Panel(n, count);
  for (let first = 0; first < count; first += panel.rows) {
    const taken = Math.min(panel.rows, count - first);
    // The output first holds its rows' normals; they are still in cache when the panel loads them.
    fillNormalRange(out, first * n, (first + taken) * n, counter);
    panel.load(out, first, taken, false);
    yield* (inverse ? solvePanel : multiplyPanel)(packed, panel, taken);
    panel.addRow(mean, 1, taken);
    panel.store(out, first, taken, false);
    yield;
  }
}
