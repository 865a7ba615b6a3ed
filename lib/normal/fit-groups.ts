import { hostValues, hostZeros } from '../array/host-memory.ts';
import { rowsInput, vectorInput } from '../array/inputs.ts';
import type { MatrixInput } from '../array/matrix.ts';
import type { VectorInput } from '../array/vector.ts';
import { Volume } from '../array/volume.ts';
import { requireDevice } from '../backend-handle.ts';
import { checkOptions, firstNotFinite, orElse, wholeNumber, wrongArgument } from '../check.ts';
import { exactDevice, exactly } from '../command/float64.ts';
import { step, type Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Device } from '../device.ts';
import { part, type RealDtype, type Values } from '../dtype.ts';
import { requireFinite } from '../reference/symmetry.ts';
import { isSlice, type Work } from '../work.ts';
import { type BatchParameters, batchInput, estimatedWords, factorBatch } from './batch.ts';
import { singularRows } from './singular-rows.ts';
import { withRank } from './with-rank.ts';

/** Options of {@link MultivariateNormalBatch.fit}. */
export interface FitGroupsOptions {
  /** The device that holds the normals and computes; it must be open. */
  readonly device: Device;
  /** Observations of all groups, count x n, in any order. Each group has at least n + 1. */
  readonly rows: MatrixInput;
  /** The group of each row: a vector of count whole numbers from 0 to B - 1. */
  readonly labels: VectorInput;
  /** The divisor of a covariance is the group's number of rows minus ddof; 1 by default. */
  readonly ddof?: number | undefined;
  /** By default `float64` where `rows` are a Float64Array, or a Matrix of float64; else `float32`. */
  readonly dtype?: RealDtype | undefined;
}

/** The normal of the rows of each label: means and covariances in float64, then all factors at once. */
export function* fitGroups(options: FitGroupsOptions): Tasks<BatchParameters> {
  checkOptions(options, ['device', 'rows', 'labels', 'ddof', 'dtype']);
  const device = requireDevice(options.device);
  const { rows, dtype } = options;
  const { values, count, n } = rowsInput('Data', device, rows);
  const labels = new Int32Array(labelsOf(device, options.labels, count));
  // What is sliced reads copies, which the caller cannot change.
  const data = hostValues(values, 'float64', true) as Float64Array;
  const ddof = wholeNumber('ddof', orElse(options.ddof, 1));
  const { size, starts, order } = yield* grouped(labels);
  for (let b = 0; b < size; b++) {
    const members = starts[b + 1]! - starts[b]!;
    // The rank of a covariance is at most its rows - 1, even if rounding makes its last pivots positive.
    const needed = Math.max(n, ddof) + 1;
    if (members < needed)
      throw new CovariumError(
        'ERR_SHAPE',
        `\`labels\` has group (${b}) of (${members}) rows, but a normal of dimension (${n}) with ddof (${ddof}) needs at least (${needed}).`,
        { matrix: b },
      );
  }
  yield* requireFinite(data, n, 'Data');
  const sorted = hostZeros(data.length);
  for (let at = 0; at < count; at++) {
    sorted.set(data.subarray(order[at]! * n, (order[at]! + 1) * n), at * n);
    if (isSlice(at)) yield;
  }
  const centres = new Float64Array(size * n);
  const squares = new Float64Array(size * n * n);
  for (let first = 0; first < size; first += groupsAtOnce)
    yield* exactly(exactDevice(device), (encoder) => {
      for (let b = first; b < Math.min(size, first + groupsAtOnce); b++) {
        const members = sorted.subarray(starts[b]! * n, starts[b + 1]! * n);
        encoder.meanAndCovariance(members, part(centres, b, n), part(squares, b, n * n), ddof);
      }
    });
  const beyond = firstNotFinite(squares);
  if (beyond < squares.length) {
    const [b, column] = [Math.floor(beyond / (n * n)), beyond % n];
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `\`rows\` of group (${b}) are too large: the sum of squares of column (${column}) is not finite.`,
      { matrix: b, column },
    );
  }
  const volume = Volume.from(squares, { width: n, height: n, depth: size });
  const input = batchInput({ device, dtype, centres, squares: volume, inputs: [rows] }, estimatedWords);
  const task = withRank(factorBatch(input, undefined, estimatedWords, false));
  const explain = (error: CovariumError) => {
    const { matrix: b } = error;
    if (b === undefined) return error;
    const members = sorted.subarray(starts[b]! * n, starts[b + 1]! * n);
    return singularRows(members, n, 'float64', error, { among: ` in group (${b})`, ways: '' });
  };
  return yield* step({ ...task, explain });
}

// Of a commit, whose commands are recorded on the JavaScript thread.
const groupsAtOnce = 1024;

function labelsOf(device: Device, labels: VectorInput, count: number): Values {
  if (labels === undefined) throw wrongArgument('labels', labels, 'a whole number for each row');
  const values = vectorInput('Labels', device, labels);
  if (values.length !== count)
    throw new CovariumError(
      'ERR_SHAPE',
      `\`labels\` has (${values.length}) entries, but \`rows\` has (${count}) rows.`,
    );
  for (let row = 0; row < count; row++)
    if (!(Number.isInteger(values[row]) && values[row]! >= 0 && values[row]! < count))
      throw new CovariumError(
        'ERR_OUT_OF_RANGE',
        `\`labels[${row}]\` is (${values[row]}): number the groups from 0, each with rows.`,
      );
  return values;
}

/** Rows by group, in their order: those of group b are order[starts[b]] to order[starts[b + 1] - 1]. */
function* grouped(
  labels: Int32Array,
): Work<{ readonly size: number; readonly starts: Int32Array; readonly order: Int32Array }> {
  let size = 1;
  for (const label of labels) size = Math.max(size, label + 1);
  const starts = new Int32Array(size + 1);
  for (const label of labels) starts[label + 1]!++;
  for (let b = 0; b < size; b++) starts[b + 1]! += starts[b]!;
  const next = starts.slice();
  const order = new Int32Array(labels.length);
  for (let row = 0; row < labels.length; row++) {
    order[next[labels[row]!]!++] = row;
    if (isSlice(row)) yield;
  }
  return { size, starts, order };
}
