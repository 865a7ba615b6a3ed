import { type RowsInput, rowsInput } from '../array/inputs.ts';
import { Matrix } from '../array/matrix.ts';
import { Storage } from '../array/storage.ts';
import { Vector } from '../array/vector.ts';
import type { OpenBackend } from '../backend-handle.ts';
import { about } from '../check.ts';
import { exactDevice } from '../command/float64.ts';
import { resultTask, runSync, type Task } from '../command/task.ts';
import { mapped } from '../distribution/tasks.ts';
import type { Real, RealDtype, Values } from '../dtype.ts';
import type { Factor } from '../factor/factor.ts';
import { runToEnd } from '../work.ts';
import type { NormalParameters } from './parameters.ts';

/** constant - d^2 / 2 for each row, where d is its Mahalanobis distance from the mean. */
export function logDensityTask<D extends RealDtype>(
  { device, dtype, n, mean, factor }: Omit<NormalParameters<D>, 'device'> & { readonly device: OpenBackend },
  rows: RowsInput,
  constant: number,
): Task<Vector<D>> {
  const { values, count } = rowsInput('Input', device, rows, n);
  const wrap = (written: Storage<D>) => new Vector(written);
  const task = resultTask({ device, dtype }, count, wrap, (encoder, out, scratch) => {
    const input = scratch.input(values, dtype);
    encoder.requireFinite(input, n);
    factor.logDensity(encoder, mean.values as Real, input, out, constant, scratch);
  });
  const { values: out } = task.written;
  return {
    ...task,
    explain: (error) => about('Input', error),
    after: () => farRowsHaveNone(out),
  };
}

/** Numbers of a finite row that is far out may overflow, so that infinities are subtracted: its density is 0. */
export function farRowsHaveNone(logDensities: Values): void {
  for (let i = 0; i < logDensities.length; i++)
    if (Number.isNaN(logDensities[i])) logDensities[i] = Number.NEGATIVE_INFINITY;
}

/**
 * The constant of a normal's log density, which is {@link normalConstant} - d^2 / 2. If the normal is singular, the
 * density is on the support, of dimension `rank`.
 */
export function normalConstant({ factor }: NormalParameters): number {
  return -(factor.rank * Math.log(2 * Math.PI) + factor.logDeterminant) / 2;
}

/** Differential entropy in nats; for a singular normal on its support. */
export function normalEntropy({ rank, logDeterminant }: Pick<Factor, 'rank' | 'logDeterminant'>): number {
  return (rank * (1 + Math.log(2 * Math.PI)) + logDeterminant) / 2;
}

/** Mahalanobis distances from the mean: never -0. */
export function mahalanobisTask<D extends RealDtype>(
  parameters: NormalParameters<D>,
  rows: RowsInput,
): Task<Vector<D>> {
  const task = mapped(logDensityTask(parameters, rows, 0), (value) => Math.sqrt(Math.abs(2 * value)));
  if (parameters.dtype === 'float64') return task;
  return {
    ...task,
    after: () => {
      task.after?.();
      measureAgain(parameters, rows, task.written.values);
    },
  };
}

// float32 holds distances whose squares it does not hold: those below 1e-22 and above 1e19 are measured in float64.
function measureAgain({ device, n, mean, factor }: NormalParameters, rows: RowsInput, out: Values): void {
  const far: number[] = [];
  for (let i = 0; i < out.length; i++) if (out[i]! < 1e-18 || !Number.isFinite(out[i])) far.push(i);
  if (far.length === 0) return;
  const { values } = rowsInput('Input', device, rows, n);
  const chosen = new Float64Array(far.length * n);
  // Rounded to float32, as on the device.
  for (const [i, row] of far.entries())
    for (let j = 0; j < n; j++) chosen[i * n + j] = Math.fround(values[row * n + j]!);
  const centre = new Storage(new Float64Array(mean.values));
  const again = runToEnd(factor.exact());
  const exact = { device: exactDevice(device), dtype: 'float64', n, mean: centre, factor: again } as const;
  const halves = runSync(logDensityTask(exact, new Matrix(new Storage(chosen), far.length, n), 0)).data;
  for (const [i, row] of far.entries()) out[row] = Math.sqrt(Math.abs(2 * halves[i]!));
}

/** The gradient of the log density at each row: the solution y of covariance y = mean - row. */
export function scoreTask<D extends RealDtype>(
  { device, dtype, n, mean, factor }: NormalParameters<D>,
  rows: RowsInput,
): Task<Matrix<D>> {
  const { values, count } = rowsInput('Input', device, rows, n);
  const wrap = (written: Storage<D>) => new Matrix(written, count, n);
  const task = resultTask({ device, dtype }, count * n, wrap, (encoder, out, scratch) => {
    const input = scratch.input(values, dtype);
    encoder.requireFinite(input, n);
    encoder.copy(input, out);
    encoder.addRow(out, mean.values as Real, -1);
    factor.solve(encoder, out, scratch);
  });
  const { values: out } = task.written;
  return {
    ...task,
    // No command of the device changes only a sign.
    after: () => {
      for (let i = 0; i < out.length; i++) out[i] = 0 - out[i]!;
    },
  };
}
