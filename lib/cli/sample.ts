import { CovariumError } from '../covarium-error.ts';
import type { RealDtype } from '../distribution-input.ts';
import type { Real } from '../dtype.ts';
import { Matrix } from '../matrix.ts';
import { MultivariateNormal } from '../multivariate-normal.ts';
import { openDevice } from '../open-device.ts';
import { deviceArgument, dtypeArgument, wholeArgument, wordArgument } from './arguments.ts';
import { readCsv, type Table } from './csv.ts';
import { csvHeader, writeCsvLines } from './csv-lines.ts';
import { readModel } from './model.ts';
import { npyBytes, npyHeader } from './npy.ts';
import { type Output, openOutputFile } from './output-file.ts';
import { progressBar } from './progress.ts';
import { standardOutput } from './standard-output.ts';

/** Options of `covarium sample`, as typed. */
export interface SampleArguments {
  readonly model?: string;
  readonly mean?: string;
  readonly covariance?: string;
  readonly count: string;
  readonly seed?: string;
  readonly stream: string;
  readonly firstRow: string;
  readonly dtype?: string;
  readonly device?: string;
  readonly output: string;
}

interface Distribution {
  readonly names: readonly string[] | undefined;
  readonly dtype: RealDtype;
  readonly mean: readonly number[] | undefined;
  readonly covariance: Matrix;
}

/** `covarium sample`: draws rows into a file or to standard output, a block at a time. */
export async function sample(options: SampleArguments, signal: AbortSignal): Promise<void> {
  const count = wholeArgument('--count', options.count);
  const stream = wordArgument('--stream', options.stream);
  const firstRow = wordArgument('--first-row', options.firstRow);
  const seed = options.seed === undefined ? undefined : wordArgument('--seed', options.seed);
  const format = formatOf(options.output);
  const { names, mean, covariance, ...given } = await distributionOf(options);
  const dtype = options.dtype === undefined ? given.dtype : dtypeArgument(options.dtype);
  using device = openDevice(deviceArgument(options.device));
  using normal = await MultivariateNormal.fromCovariance({ device, mean, covariance, dtype });
  const blocks = normal.blocks(count, { seed, stream, firstRow, signal });
  const output = options.output === '-' ? standardOutput() : await openOutputFile(options.output);
  const progress = progressBar(count);
  try {
    if (format === 'npy') await output.write(npyHeader(dtype, count, normal.dimension));
    else if (names !== undefined) await output.write(csvHeader(names));
    let done = 0;
    for await (const block of blocks) {
      await writeBlock(output, format, block);
      done += block.rows;
      progress.update(done);
    }
    signal.throwIfAborted();
    await output.finish();
  } catch (error) {
    await output.discard();
    throw error;
  } finally {
    progress.stop();
  }
}

async function writeBlock(output: Output, format: 'npy' | 'csv', block: Matrix): Promise<void> {
  const values = block.data as Real;
  if (format === 'npy') await output.write(npyBytes(values));
  else await writeCsvLines(output, values, block.columns);
}

function formatOf(path: string): 'npy' | 'csv' {
  if (path === '-' || path.endsWith('.csv')) return 'csv';
  if (path.endsWith('.npy')) return 'npy';
  throw new CovariumError('ERR_INVALID_ARGUMENT', `Output (${path}) is neither a .npy file, nor a .csv file, nor (-).`);
}

async function distributionOf({ model, mean, covariance }: SampleArguments): Promise<Distribution> {
  if (model !== undefined && mean === undefined && covariance === undefined) {
    const read = await readModel(model);
    return {
      names: read.columns,
      dtype: read.dtype,
      mean: read.mean,
      covariance: Matrix.from(read.covariance, { dtype: 'float64' }),
    };
  }
  if (model !== undefined || covariance === undefined)
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      'Sampling takes either --model, or --covariance with an optional --mean.',
    );
  const spread = await readCsv(covariance);
  const centre = mean === undefined ? undefined : await readCsv(mean);
  return {
    names: centre?.names ?? spread.names,
    dtype: 'float32',
    mean: centre && Array.from(oneRow(centre)),
    covariance: Matrix.from(spread.values, { columns: spread.columns }),
  };
}

function oneRow({ path, rows, values }: Table): Float64Array {
  if (rows === 1) return values;
  throw new CovariumError('ERR_SHAPE', `Mean (${path}) has (${rows}) rows, and one is wanted.`, { path });
}
