import { Matrix } from '../matrix.ts';
import { MultivariateNormal } from '../multivariate-normal.ts';
import { openDevice } from '../open-device.ts';
import { deviceArgument, dtypeArgument, wholeArgument } from './arguments.ts';
import { readCsv } from './csv.ts';
import { type Model, writeModel } from './model.ts';

/** Options of `covarium fit`, as typed. */
export interface FitArguments {
  readonly output: string;
  readonly ddof: string;
  readonly dtype: string;
  readonly device?: string;
}

/** `covarium fit data.csv --output model.json`: mean and covariance of rows, computed in float64 where the device has it. */
export async function fit(path: string, options: FitArguments, signal: AbortSignal): Promise<void> {
  const dtype = dtypeArgument(options.dtype);
  const ddof = wholeArgument('--ddof', options.ddof);
  const { names, columns, values } = await readCsv(path);
  using device = openDevice(deviceArgument(options.device));
  const computed = device.dtypes.includes('float64') ? 'float64' : 'float32';
  using normal = await MultivariateNormal.fit({
    device,
    rows: Matrix.from(values, { columns }),
    ddof,
    dtype: computed,
  });
  const model: Model = {
    covarium: 1,
    dtype,
    ...(names && { columns: names }),
    mean: normal.mean.toArray(),
    covariance: (await normal.covariance()).toArray(),
  };
  signal.throwIfAborted();
  await writeModel(options.output, model);
}
