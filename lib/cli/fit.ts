import { CovariumError } from '../covarium-error.ts';
import { refuseInputs, refuseRepeated, refuseSharedInput } from '../file/same-file.ts';
import { openQuietly } from '../open-device.ts';
import { deviceArgument } from './arguments.ts';
import { type ResultArguments, resultWriter } from './fit-result.ts';
import { type FitInput, inputHash, momentsOfFiles } from './fit-rows.ts';
import { oneShard } from './partial-fit.ts';
import { tellPassedOver } from './passed-over.ts';
import { type ReadArguments, readOptions } from './read-options.ts';
import { type Shard, shardArgument } from './shard.ts';

/** Options of `covarium fit`, as typed. */
interface FitArguments extends ReadArguments, ResultArguments {
  readonly weights?: string;
  readonly frequencies?: string;
  /** true if no i/n follows it. */
  readonly shard?: string | true;
  readonly shards?: string;
  readonly device?: string;
}

/**
 * `covarium fit data --output model.json`: mean and covariance of rows, in float64; or a part of them for
 * `covarium merge`.
 */
export async function fit(paths: readonly string[], options: FitArguments, signal: AbortSignal): Promise<void> {
  const {
    weights,
    frequencies,
    device: kind,
    output,
    partial,
    ddof,
    shrinkage,
    fixedMean,
    dtype,
    singular,
    jitter,
  } = options;
  const shard = shardOf(options);
  await refuseInputs([output, partial], [...paths, fixedMean]);
  await refuseRepeated(paths);
  refuseSharedInput({ Data: paths.find((path) => path === '-'), '--fixed-mean': fixedMean });
  const write = await resultWriter({ output, partial, ddof, shrinkage, fixedMean, dtype, singular, jitter });
  using device = openQuietly(deviceArgument(kind));
  tellPassedOver(device.kind, deviceArgument(kind));
  const input: FitInput = { paths, table: readOptions(options), weights, frequencies, shard };
  const shards = shard && oneShard(shard, await inputHash(input));
  await write(await momentsOfFiles(input, device, signal), shards, signal);
}

// If --shard stands alone, the job's environment says which shard this is; without --shard it is ignored.
function shardOf({ shard, shards, partial }: FitArguments): Shard | undefined {
  if (shard === undefined && shards === undefined) return undefined;
  if (partial === undefined)
    throw new CovariumError('ERR_INVALID_ARGUMENT', 'A shard (--shard) is a part of a fit; pass --partial too.');
  const found = shardArgument({
    ...(typeof shard === 'string' && { shard }),
    ...(shards !== undefined && { shards }),
  });
  if (found !== undefined) return found;
  throw new CovariumError(
    'ERR_INVALID_ARGUMENT',
    '--shard has no i/n, and neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set.',
  );
}
