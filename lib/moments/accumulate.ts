import type { Storage } from '../array/storage.ts';
import type { OpenBackend } from '../backend-handle.ts';
import type { Task } from '../command/task.ts';
import { resultTask, step, type Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { inPieces, type Work } from '../work.ts';
import { centredBlock, rowsPerBlock, sumsOf, type WeightedRows } from './block.ts';
import { absorb, type CentralSums, copiedSums, copySquare, isFiniteSums, noRows } from './central-sums.ts';

/**
 * Sums rows block by block. Work of n operations for each row is done here; the products of the deviations, n^2
 * operations for each row, are done on a device with float64. The third and fourth sums, which only Ledoit and Wolf's
 * shrinkage needs, may be left at 0. Throws `ERR_NOT_FINITE` (the entry), `ERR_OUT_OF_RANGE`, and what the device
 * throws.
 */
export function* accumulating(device: OpenBackend, rows: WeightedRows, wantsHigher = true): Tasks<CentralSums> {
  const { count, n } = rows;
  const rowsAtOnce = rowsPerBlock(n);
  const sums = noRows(n);
  // All blocks share it: fresh memory costs as much as what is done with it.
  const memory = new Float64Array(Math.min(rowsAtOnce, count) * n);
  for (let from = 0; from < count; from += rowsAtOnce) {
    const block = yield* centredBlock(rows, from, Math.min(from + rowsAtOnce, count), wantsHigher, memory);
    if (block.sums.weight > 0) {
      const products = yield* step(productsTask(device, block.deviations, n));
      const { second, unit } = block.sums;
      yield* copySquare(products.values as Float64Array, second, n);
      const scale = 2 ** unit;
      if (unit !== 0)
        yield* inPieces(second.length, (begin, end) => {
          for (let at = begin; at < end; at++) second[at] = second[at]! * scale * scale;
        });
      products.close();
    }
    yield* join(sums, yield* sumsOf(block));
    yield;
  }
  return sums;
}

/** The sums of both, which do not change. Throws `ERR_OUT_OF_RANGE` if they overflow float64. */
export function* joined(sums: CentralSums, other: CentralSums): Work<CentralSums> {
  const added = yield* copiedSums(other);
  if (sums.count === 0) return { ...added, dropped: added.dropped + sums.dropped };
  const all = yield* copiedSums(sums);
  yield* join(all, added);
  return all;
}

/** Like {@link absorb}, but throws `ERR_OUT_OF_RANGE` if the sums overflow float64; they are of no use then. */
function* join(sums: CentralSums, other: CentralSums): Work {
  yield* absorb(sums, other);
  if (isFiniteSums(sums)) return;
  throw new CovariumError(
    'ERR_OUT_OF_RANGE',
    `\`rows\` or their weights are too large: the sum of their ${Number.isFinite(sums.fourth) ? 'squares' : 'fourth powers'} is not finite (Infinity).`,
  );
}

// The number of rows whose products a BLAS adds up in sequence; the sums of such pieces are then added. From an order
// on all rows are multiplied together, because devices then compute half of a symmetric product.
const [rowsInTurn, symmetricOrder] = [256, 128];

// D' D, n x n, of the deviations D (rows x n).
function productsTask(device: OpenBackend, deviations: Float64Array, n: number): Task<Storage> {
  const wrap = (written: Storage) => written;
  return resultTask({ device, dtype: 'float64' }, n * n, wrap, (encoder, out, scratch) => {
    const input = scratch.input(deviations, 'float64');
    const step = n < symmetricOrder ? rowsInTurn * n : input.length;
    for (let at = 0; at < input.length; at += step) {
      const piece = input.subarray(at, at + step);
      encoder.product(piece, piece, out, n, n, piece.length / n, true, false, 1, at === 0 ? 0 : 1);
    }
  });
}
