import type { OpenBackend } from '../backend-handle.ts';
import type { Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Work } from '../work.ts';
import { areTakenInPlace, blockSums, rowsPerBlock, type WeightedRows } from './block.ts';
import { absorb, type CentralSums, copiedSums, isFiniteSums, noRows } from './central-sums.ts';

/**
 * Sums rows block by block. The third and fourth sums, which only Ledoit and Wolf's shrinkage needs, are made here, and
 * left at 0 unless `higher`; the others are made on a device with float64. It reads the rows where they are if it can.
 * Throws `ERR_NOT_FINITE` (the entry), `ERR_OUT_OF_RANGE`, and what the device throws.
 */
export function* accumulating(
  device: OpenBackend,
  rows: WeightedRows,
  { higher }: { readonly higher: boolean },
): Tasks<CentralSums> {
  const { count, n } = rows;
  const isCopied = !areTakenInPlace(rows);
  const rowsAtOnce = isCopied ? Math.min(rowsPerBlock(n), count) : count;
  let sums: CentralSums | undefined;
  // All blocks share it: fresh memory costs as much as what is done with it.
  const memory = isCopied ? new Float64Array(rowsAtOnce * n) : undefined;
  for (let from = 0; from < count; from += rowsAtOnce) {
    const to = Math.min(from + rowsAtOnce, count);
    const block = yield* blockSums(device, rows, from, to, higher, memory, sums?.weight ?? 0);
    if (sums === undefined) sums = block;
    else yield* absorb(sums, block);
    requireFiniteSums(sums);
    yield;
  }
  return sums ?? noRows(n);
}

/** The sums of both, which do not change. Throws `ERR_OUT_OF_RANGE` if they overflow float64. */
export function* joinedSums(sums: CentralSums, other: CentralSums): Work<CentralSums> {
  const added = yield* copiedSums(other);
  if (sums.count === 0) return { ...added, dropped: added.dropped + sums.dropped };
  const all = yield* copiedSums(sums);
  yield* absorb(all, added);
  requireFiniteSums(all);
  return all;
}

// Of weights below 1e-145 the squares have fewer digits, or none.
const leastSquares = 1e-290;

/** Throws `ERR_OUT_OF_RANGE` if the sums overflow or underflow float64; they are of no use then. */
function requireFiniteSums(sums: CentralSums): void {
  if (sums.weight > 0 && sums.squaredWeight < leastSquares)
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `\`weights\` are too small: the sum of their squares (${sums.squaredWeight}) is below (${leastSquares}).`,
    );
  if (isFiniteSums(sums)) return;
  if (!Number.isFinite(sums.squaredWeight))
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      '`weights` are too large: the sum of their squares is not finite (Infinity).',
    );
  const column = sums.mean.findIndex(
    (mean, j) => !(Number.isFinite(mean) && Number.isFinite(sums.second[j * (sums.n + 1)]!)),
  );
  // Their squares have a larger sum than they themselves only if some are above 1; frequencies make no difference.
  if (column >= 0 && sums.squaredWeight > sums.weight)
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `\`weights\` are too large for column (${column}) of \`rows\`: the sum of its squares times them is not finite (Infinity). Pass smaller ones: only their ratios matter.`,
      { column },
    );
  if (column >= 0)
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `\`rows\` has column (${column}), whose sum of squares (Infinity) float64 does not hold. Pass the column in another unit.`,
      { column },
    );
  throw new CovariumError(
    'ERR_OUT_OF_RANGE',
    `\`rows\` or their weights are too large: the sum of their ${Number.isFinite(sums.fourth) ? 'squares' : 'fourth powers'} is not finite (Infinity).`,
  );
}
