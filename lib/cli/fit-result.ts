import { describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { RealDtype } from '../dtype.ts';
import type { EstimateOptions } from '../moments/moments.ts';
import type { Shrinkage } from '../moments/shrinkage.ts';
import { MultivariateNormal } from '../normal/multivariate-normal.ts';
import { openDevice } from '../open-device.ts';
import { readWholeTable } from '../table/read-table.ts';
import { wholeArgument } from '../typed-number.ts';
import { dtypeArgument, requireFileNames } from './arguments.ts';
import type { FitRows } from './fit-rows.ts';
import { labelledOptions, requireOneRow, requireSameNames, typeOfDraws, unlabelledMean } from './given-model.ts';
import { writeModel } from './model.ts';
import { type Shards, writePartial } from './partial-fit.ts';
import { tellDropped } from './read-options.ts';

/** Options of `covarium fit` and `covarium merge` for their result, as typed. */
export interface ResultArguments {
  readonly output?: string | undefined;
  readonly partial?: string | undefined;
  readonly ddof?: string | undefined;
  readonly shrinkage?: string | undefined;
  readonly fixedMean?: string | undefined;
  readonly dtype?: string | undefined;
  readonly singular?: boolean | undefined;
  /** true if no share follows it. */
  readonly jitter?: string | true | undefined;
}

/** Writes a model, or an unfinished fit. */
type WriteResult = (rows: FitRows, shards: Shards | undefined, signal: AbortSignal) => Promise<void>;

/**
 * Checks the options before any rows are read. Throws `ERR_INVALID_ARGUMENT`, `ERR_OUT_OF_RANGE`,
 * `ERR_FILE_UNWRITABLE`, and what reading a mean throws.
 */
export async function resultWriter(options: ResultArguments): Promise<WriteResult> {
  const { output, partial, ...ofModel } = options;
  if ((output === undefined) === (partial === undefined))
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      'A fit writes either a model (--output) or a part of a fit (--partial).',
    );
  await requireFileNames({ '--output': output, '--partial': partial });
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
  { ddof, shrinkage, fixedMean, dtype: type, singular, jitter }: Omit<ResultArguments, 'output' | 'partial'>,
): Promise<WriteResult> {
  const given = type === undefined ? undefined : dtypeArgument(type);
  if (singular && jitter !== undefined)
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      '--jitter makes a covariance positive definite, and --singular leaves it singular: pass one of them.',
    );
  const amount = jitter === undefined ? undefined : jitterArgument(jitter);
  // --header and what else a fit takes are of its data: no hint may name them here.
  const centre = fixedMean === undefined ? undefined : await readWholeTable(fixedMean, labelledOptions({}, []));
  // Whether a first column without a name numbers the rows shows only beside the data.
  if (centre !== undefined && centre.names?.[0] !== '') requireOneRow(centre);
  const asked: EstimateOptions = {
    ddof: ddof === undefined ? undefined : wholeArgument('--ddof', ddof),
    shrinkage: shrinkage === undefined ? undefined : shrinkageArgument(shrinkage),
  };
  return async (rows, _, signal) => {
    const { moments, names, dropped } = rows;
    const fixed = centre && unlabelledMean(centre, moments.dimension);
    if (fixed !== undefined) requireSameNames(fixed, names, 'the rows');
    const estimate = { ...asked, mean: fixed && new Float64Array(requireOneRow(fixed)) };
    const { mean, covariance, dtype } = await parametersOf(rows, estimate, { dtype: given, singular, jitter: amount });
    signal.throwIfAborted();
    await writeModel(path, { covarium: 1, dtype, ...(names && { columns: names }), mean, covariance });
    tellDropped(dropped, moments.count);
  };
}

/** What a model's covariance must be: positive definite, by jitter if need be; or, with `singular`, semidefinite. */
interface Least {
  /** Of the draws; undefined where float32 is taken if it is fine enough. */
  readonly dtype: RealDtype | undefined;
  readonly singular: boolean | undefined;
  readonly jitter: number | true | undefined;
}

/** Mean and covariance of a model. An invalid normal is refused here, not later when it is sampled. */
async function parametersOf(
  rows: FitRows,
  asked: EstimateOptions,
  { dtype: given, singular, jitter }: Least,
): Promise<{ mean: number[]; covariance: number[][]; dtype: RealDtype }> {
  const { moments, names } = rows;
  using device = openDevice('reference');
  const covariance = moments.covariance(asked);
  const numbers = covariance.toArray();
  const mean = asked.mean === undefined ? moments.mean.toArray() : Array.from(asked.mean as Float64Array);
  const dtype = given ?? typeOfDraws(mean, (i) => numbers[i]![i]!, names);
  if (!singular && jitter === undefined) {
    const made = MultivariateNormal.fromMoments({ device, moments, dtype: 'float64', ...asked });
    using normal = await made.catch((error: unknown) => {
      const isSingular = error instanceof CovariumError && error.code === 'ERR_NOT_POSITIVE_DEFINITE';
      throw isSingular ? singularColumn(error.pivot!, rows, error) : error;
    });
    return { mean: normal.mean.toArray(), covariance: numbers, dtype };
  }
  const semidefinite = { singular: 'pivoted', dtype: 'float64' } as const;
  // The jitter must do in the type that draws have.
  using normal =
    jitter === undefined
      ? await MultivariateNormal.fromCovariance({ device, mean, covariance, ...semidefinite })
      : await MultivariateNormal.fromMoments({ device, moments, jitter, dtype, ...asked });
  const { amount } = normal.jitter ?? { amount: 0 };
  for (const [i, row] of numbers.entries()) row[i]! += amount;
  if (amount > 0) process.stderr.write(`Added (${amount}) to each variance.\n`);
  return { mean, covariance: numbers, dtype };
}

function jitterArgument(text: string | true): number | true {
  if (text === true) return true;
  const share = /^\+?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  if (share > 0 && share <= 1) return share;
  throw new CovariumError(
    'ERR_OUT_OF_RANGE',
    `--jitter is (${text}): pass a share of the largest variance, above 0 and at most 1, or no number.`,
  );
}

/** Column `pivot`, which makes a covariance singular, and what to do, as an error. */
function singularColumn(pivot: number, { moments, names, files }: FitRows, cause?: unknown): CovariumError {
  const column = `Column (${describe(names?.[pivot] ?? pivot)})${files ? ` of (${describe(files.join(', '))})` : ''}`;
  const mean = moments.mean.toArray();
  const variance = moments.covariance({ ddof: 0 }).toArray()[pivot]![pivot]!;
  const others = `${pivot === 1 ? 'the column' : 'the columns'} before it`;
  // Deviations are from the first row, so that those of equal numbers are exactly 0.
  const what =
    variance === 0 || pivot === 0
      ? `is the same in all rows (${mean[pivot]}), or varies too little for float64`
      : `is a combination of ${others}, or nearly so`;
  return new CovariumError(
    'ERR_NOT_POSITIVE_DEFINITE',
    `${column} ${what}, so the covariance is singular; leave it out with --columns, or pass --shrinkage ledoit-wolf, --jitter or --singular.`,
    { pivot, cause },
  );
}

function shrinkageArgument(text: string): Shrinkage {
  if (text === 'none' || text === 'ledoit-wolf') return text;
  const share = /^\+?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  if (share >= 0 && share <= 1) return share;
  throw new CovariumError(
    'ERR_OUT_OF_RANGE',
    `--shrinkage is (${text}), neither (none), nor (ledoit-wolf), nor a number from 0 to 1.`,
  );
}
