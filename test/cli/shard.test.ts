// Which share of the work a process has, from the command line and the schedulers' variables.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type ShardArguments, shardArgument } from '../../lib/cli/shard.ts';
import type { ErrorCode } from '../../lib/index.ts';
import fc from '../harness/properties.ts';
import { throwsCode } from '../harness/throws-code.ts';

test('--shard counts from 1, and the n shards have every piece exactly once.', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 0, max: 1000 }), (n, piece) => {
      const shards = Array.from({ length: n }, (_, i) => shardArgument({ shard: `${i + 1}/${n}` }, {})!);
      assert.is(shards.filter(({ index, count }) => piece % count === index).length, 1);
    }),
  );
});

const accepted: [what: string, given: ShardArguments, environment: NodeJS.ProcessEnv, shard: unknown][] = [
  ['nothing at all', {}, {}, undefined],
  ['empty variables', {}, { SLURM_ARRAY_TASK_ID: '', COVARIUM_SHARDS: '' }, undefined],
  ['a job array from 0', {}, slurm(3, 0, 10), { index: 3, count: 10 }],
  ['a job array from 1', {}, slurm(10, 1, 10), { index: 9, count: 10 }],
  ['a job array with a step', {}, { ...slurm(5, 1, 4), SLURM_ARRAY_TASK_STEP: '2' }, { index: 2, count: 4 }],
  ['an indexed Job', { shards: '4' }, { JOB_COMPLETION_INDEX: '0' }, { index: 0, count: 4 }],
  ['an indexed Job, all by variables', {}, { JOB_COMPLETION_INDEX: '3', COVARIUM_SHARDS: '4' }, { index: 3, count: 4 }],
  ['the command line before the environment', { shard: '1/2' }, slurm(7, 0, 10), { index: 0, count: 2 }],
  ['more shards than tasks', { shards: '20' }, slurm(7, 0, 10), { index: 7, count: 20 }],
];
for (const [what, given, environment, shard] of accepted)
  test(`A shard is read from ${what}.`, () => {
    assert.equal(shardArgument(given, environment), shard);
  });

const refused: [code: ErrorCode, shown: string, given: ShardArguments, environment?: NodeJS.ProcessEnv][] = [
  ['ERR_OUT_OF_RANGE', '(0/3)', { shard: '0/3' }],
  ['ERR_OUT_OF_RANGE', '(4/3)', { shard: '4/3' }],
  ['ERR_OUT_OF_RANGE', '(1/0)', { shard: '1/0' }],
  ['ERR_INVALID_ARGUMENT', '(3)', { shard: '3' }],
  ['ERR_INVALID_ARGUMENT', '(-1/3)', { shard: '-1/3' }],
  ['ERR_INVALID_ARGUMENT', 'leave --shards out', { shard: '1/3', shards: '3' }],
  ['ERR_INVALID_ARGUMENT', 'which of them', { shards: '3' }],
  ['ERR_INVALID_ARGUMENT', '(many)', { shards: 'many' }, { JOB_COMPLETION_INDEX: '0' }],
  ['ERR_INVALID_ARGUMENT', 'COVARIUM_SHARDS', {}, { JOB_COMPLETION_INDEX: '0' }],
  ['ERR_OUT_OF_RANGE', 'JOB_COMPLETION_INDEX (3)', { shards: '3' }, { JOB_COMPLETION_INDEX: '3' }],
  // --array=3,7: the variables do not determine an index.
  ['ERR_OUT_OF_RANGE', 'SLURM_ARRAY_TASK_ID (7)', {}, slurm(7, 3, 2)],
  ['ERR_INVALID_ARGUMENT', 'SLURM_ARRAY_TASK_COUNT', {}, { SLURM_ARRAY_TASK_ID: '3' }],
];
for (const [code, shown, given, environment = {}] of refused)
  test(`An invalid shard is refused: ${JSON.stringify({ ...given, ...environment })}.`, async () => {
    await throwsCode(code, shown, () => shardArgument(given, environment));
  });

function slurm(id: number, first: number, count: number): NodeJS.ProcessEnv {
  return {
    SLURM_ARRAY_TASK_ID: String(id),
    SLURM_ARRAY_TASK_MIN: String(first),
    SLURM_ARRAY_TASK_COUNT: String(count),
  };
}

test.run();
