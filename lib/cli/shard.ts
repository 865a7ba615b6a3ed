import { describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';

/** One share of work: of the pieces 0, 1, 2 ... those whose number modulo `count` equals `index`. */
export interface Shard {
  /** From 0. */
  readonly index: number;
  readonly count: number;
}

/** `--shard` and `--shards` of the command line, as typed. */
export interface ShardArguments {
  readonly shard?: string;
  readonly shards?: string;
}

/** All the work. */
export const wholeShard: Shard = { index: 0, count: 1 };

/**
 * The share of the work of this process: `--shard i/n` (i from 1 to n), or else the environment of a task of a Slurm
 * job array (`SLURM_ARRAY_TASK_ID`, `_MIN`, `_STEP`, and `_COUNT` unless `--shards` gives n) or of a pod of a
 * Kubernetes indexed Job (`JOB_COMPLETION_INDEX`, with n from `--shards` or `COVARIUM_SHARDS`). Undefined if neither is
 * set. Throws `ERR_OUT_OF_RANGE` for an index beyond the count, `ERR_INVALID_ARGUMENT` for an invalid shard or an index
 * without a count.
 */
export function shardArgument(
  { shard, shards }: ShardArguments,
  environment: NodeJS.ProcessEnv = process.env,
): Shard | undefined {
  if (shard !== undefined) {
    if (shards !== undefined)
      throw new CovariumError('ERR_INVALID_ARGUMENT', '--shard includes the number of shards; leave --shards out.');
    const [, i, n] = /^(\d{1,15})\/(\d{1,15})$/.exec(shard) ?? [];
    if (i === undefined)
      throw new CovariumError('ERR_INVALID_ARGUMENT', `--shard is (${describe(shard)}), not i/n as in 1/10 ... 10/10.`);
    return within(Number(i) - 1, Number(n), `--shard (${shard})`);
  }
  const { COVARIUM_SHARDS, JOB_COMPLETION_INDEX, SLURM_ARRAY_TASK_COUNT, SLURM_ARRAY_TASK_ID } = environment;
  const given = shards ?? (COVARIUM_SHARDS || undefined);
  const named = shards === undefined ? 'COVARIUM_SHARDS' : '--shards';
  const count = given === undefined ? undefined : whole(named, given);
  if (SLURM_ARRAY_TASK_ID) {
    const tasks = count ?? whole('SLURM_ARRAY_TASK_COUNT', SLURM_ARRAY_TASK_COUNT);
    return within(slurmIndex(environment), tasks, `SLURM_ARRAY_TASK_ID (${SLURM_ARRAY_TASK_ID})`);
  }
  if (JOB_COMPLETION_INDEX) {
    if (count === undefined)
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `JOB_COMPLETION_INDEX is (${describe(JOB_COMPLETION_INDEX)}), but neither --shards nor COVARIUM_SHARDS says of how many.`,
      );
    const index = whole('JOB_COMPLETION_INDEX', JOB_COMPLETION_INDEX);
    return within(index, count, `JOB_COMPLETION_INDEX (${index})`);
  }
  if (count === undefined) return undefined;
  throw new CovariumError(
    'ERR_INVALID_ARGUMENT',
    `${named} is (${count}), but neither --shard, SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX says which of them this is.`,
  );
}

// Tasks are numbered from a first one in steps, as in --array=1-19:2.
function slurmIndex(environment: NodeJS.ProcessEnv): number {
  const { SLURM_ARRAY_TASK_ID, SLURM_ARRAY_TASK_MIN = '0', SLURM_ARRAY_TASK_STEP = '1' } = environment;
  const first = whole('SLURM_ARRAY_TASK_MIN', SLURM_ARRAY_TASK_MIN);
  const step = whole('SLURM_ARRAY_TASK_STEP', SLURM_ARRAY_TASK_STEP);
  return (whole('SLURM_ARRAY_TASK_ID', SLURM_ARRAY_TASK_ID) - first) / step;
}

function within(index: number, count: number, what: string): Shard {
  if (Number.isInteger(index) && index >= 0 && index < count) return { index, count };
  throw new CovariumError('ERR_OUT_OF_RANGE', `${what} names none of (${count}) shards, counted from 1.`);
}

function whole(name: string, text: string | undefined): number {
  if (text !== undefined && /^\d{1,15}$/.test(text)) return Number(text);
  throw new CovariumError('ERR_INVALID_ARGUMENT', `${name} is not a whole number (${describe(text)}).`);
}
