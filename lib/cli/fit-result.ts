import { describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { RealDtype } from '../dtype.ts';
import type { EstimateOptions } from '../moments/moments.ts';
import type { Shrinkage } from '../moments/shrinkage.ts';
import { MultivariateNormal } from '../normal/multivariate-normal.ts';
import { openDevice } from '../open-device.ts';
import { readWholeTable } from '../table/read-table.ts';
import { dtypeArgument, wholeArgument } from './arguments.ts';
import { requireOneRow } from './distribution.ts';
import type { FitRows } from './fit-rows.ts';
import { writeModel } from './model.ts';
import { type Shards, writePartial } from './partial-fit.ts';
import { csvOptions } from './read-options.ts';

/** Options of `covarium fit` and `covarium merge` for their result, as typed. */
export interface ResultArguments {
  readonly output?: string | undefined;
  readonly partial?: string | undefined;
  readonly ddof?: string | undefined;
  readonly shrinkage?: string | undefined;
  readonly fixedMean?: string | undefined;
  readonly dtype?: string | undefined;
}

/** Writes a model, or an unfinished fit. */
export type WriteResult = (rows: FitRows, shards: Shards | undefined, signal: AbortSignal) => Promise<void>;

/**
 * Checks the options before any rows are read. Throws `ERR_INVALID_ARGUMENT`, `ERR_OUT_OF_RANGE`, and what reading a
 * mean throws.
 */
export async function resultWriter(options: ResultArguments): Promise<WriteResult> {
  const { output, partial, ...ofModel } = options;
  if ((output === undefined) === (partial === undefined))
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      'A fit writes either a model (--output) or a part of a fit (--partial).',
    );
  if (output !== undefined) return modelWriter(output, ofModel);
  const tooMuch = Object.entries(ofModel).find(([, value]) => value !== undefined);
  if (tooMuch !== undefined)
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `Option (${tooMuch[0]}) is for the model, which covarium merge makes, not for a part of a fit (--partial).`,
    );
  return async (rows, shards, signal) => {
    signal.throwIfAborted();
    await writePartial(partial!, rows, shards);
  };
}

async function modelWriter(
  path: string,
  { ddof, shrinkage, fixedMean, dtype: type = 'float32' }: Omit<ResultArguments, 'output' | 'partial'>,
): Promise<WriteResult> {
  const dtype: RealDtype = dtypeArgument(type);
  const asked: EstimateOptions = {
    ddof: ddof === undefined ? undefined : wholeArgument('--ddof', ddof),
    shrinkage: shrinkage === undefined ? undefined : shrinkageArgument(shrinkage),
    mean: fixedMean === undefined ? undefined : await meanOf(fixedMean),
  };
  return async (rows, _, signal) => {
    const { moments, names, dropped } = rows;
    // An invalid normal is refused here, not later when it is sampled.
    using device = openDevice('reference');
    const made = MultivariateNormal.fromMoments({ device, moments, dtype: 'float64', ...asked });
    using normal = await made.catch((error: unknown) => refuseColumn(error, rows));
    signal.throwIfAborted();
    await writeModel(path, {
      covarium: 1,
      dtype,
      ...(names && { columns: names }),
      mean: normal.mean.toArray(),
      covariance: moments.covariance(asked).toArray(),
    });
    if (dropped > 0)
      process.stderr.write(`Left out (${dropped}) rows with missing values; (${moments.count}) observations remain.\n`);
  };
}

/** Throws, of a covariance that is singular, which column makes it so, and what to do; another error as it is. */
function refuseColumn(error: unknown, { moments, names, files }: FitRows): never {
  const pivot = error instanceof CovariumError && error.code === 'ERR_NOT_POSITIVE_DEFINITE' ? error.pivot : undefined;
  if (pivot === undefined) throw error;
  const column = `Column (${describe(names?.[pivot] ?? pivot)})${files ? ` of (${describe(files.join(', '))})` : ''}`;
  const mean = moments.mean.toArray();
  const variance = moments.covariance({ ddof: 0 }).toArray()[pivot]![pivot]!;
  const others = `${pivot === 1 ? 'the column' : 'the columns'} before it`;
  const what =
    variance <= (1e-12 * mean[pivot]!) ** 2
      ? `is the same in all rows (${mean[pivot]})`
      : `is a combination of ${others}, or nearly so`;
  throw new CovariumError(
    'ERR_NOT_POSITIVE_DEFINITE',
    `${column} ${what}, so the covariance is singular; leave it out with --columns, or pass --shrinkage ledoit-wolf.`,
    { pivot, cause: error },
  );
}

function shrinkageArgument(text: string): Shrinkage {
  if (text === 'none' || text === 'ledoit-wolf') return text;
  const share = /^\d*\.?\d+(e-?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  if (share >= 0 && share <= 1) return share;
  throw new CovariumError(
    'ERR_OUT_OF_RANGE',
    `--shrinkage is (${text}), neither (none), nor (ledoit-wolf), nor a number from 0 to 1.`,
  );
}

async function meanOf(path: string): Promise<Float64Array> {
  return Float64Array.from(requireOneRow(await readWholeTable(path, csvOptions({}))));
}
