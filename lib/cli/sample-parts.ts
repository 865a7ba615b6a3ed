import { stat } from 'node:fs/promises';
import { wholeNumber } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { DrawnRows } from '../run/drawn-rows.ts';
import { provenanceOf } from '../run/manifest.ts';
import type { RunModel } from '../run/model.ts';
import { drawPart, isThere, openRunFolder, partsOf } from '../run/parts.ts';
import { type Run, rowsPerPart } from '../run/run.ts';
import { formatOf, type TableFormat } from '../table/format.ts';
import { wholeArgument } from '../typed-number.ts';
import { versions } from '../versions.ts';
import { deviceArgument, gpusArgument } from './arguments.ts';
import { tellPassedOver } from './passed-over.ts';
import { progressBar } from './progress.ts';
import { type ShardArguments, shardArgument, wholeShard } from './shard.ts';

/** The options of `covarium sample` about parts, as typed. */
export interface PartArguments extends ShardArguments {
  readonly output: string;
  readonly seed?: string;
  readonly format?: string;
  readonly device?: string;
  readonly gpus?: string;
  readonly rowsPerPart?: string;
  readonly checkParts?: boolean;
}

/** True if the output is the folder of a run: it ends with a slash, is a folder, or options about parts are given. */
export async function isFolder({ output, shard, shards, rowsPerPart, checkParts }: PartArguments): Promise<boolean> {
  if ([shard, shards, rowsPerPart, checkParts].some((option) => option !== undefined)) {
    if (output !== '-') return true;
    throw new CovariumError('ERR_INVALID_ARGUMENT', '--output is (-), but parts go into a folder: pass its name.');
  }
  if (/[/\\]$/.test(output)) return true;
  return (await stat(output).catch(() => undefined))?.isDirectory() ?? false;
}

/** Draws the parts of a shard that do not exist yet. */
export async function sampleParts(
  options: PartArguments,
  runOf: (format: TableFormat) => Promise<[Run, RunModel]>,
  signal: AbortSignal,
): Promise<void> {
  const { output: folder } = options;
  const { index, count } = shardArgument(options) ?? wholeShard;
  if (options.seed === undefined)
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `Run in a folder (${folder}) needs a --seed, which its shards share.`,
    );
  const [run, model] = await runOf(formatOf(folder, options.format ?? 'npy'));
  const { columns, dtype } = run;
  const each =
    options.rowsPerPart === undefined
      ? rowsPerPart(columns, dtype)
      : wholeNumber('--rows-per-part', wholeArgument('--rows-per-part', options.rowsPerPart), 1);
  const parts = partsOf(folder, run, each).filter((part) => part.index % count === index);
  await openRunFolder(folder, run, each);
  const missing = [];
  for (const part of parts) if (!(await isThere(part, options.checkParts ?? false))) missing.push(part);
  if (missing.length === 0) return;
  const where = { kind: deviceArgument(options.device), gpus: gpusArgument(options.gpus) };
  using rows = await DrawnRows.open(run, model, where, Math.min(each, run.rows));
  tellPassedOver(rows.device.kind, where.kind);
  const provenance = provenanceOf(rows, versions().covarium);
  const progress = progressBar(missing.reduce((sum, part) => sum + part.run.rows, 0));
  try {
    for (const part of missing) {
      signal.throwIfAborted();
      await drawPart(part, rows, provenance, signal, progress.advance);
    }
  } finally {
    progress.stop();
  }
}
