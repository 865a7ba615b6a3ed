import { stat } from 'node:fs/promises';
import { CovariumError } from '../covarium-error.ts';
import { OutputFile, openOutput } from '../file/output.ts';
import { refuseInputs } from '../file/same-file.ts';
import { DrawnRows } from '../run/drawn-rows.ts';
import { provenanceOf, refuseManifest, requireManifestPlace } from '../run/manifest.ts';
import { modelHash, type RunModel } from '../run/model.ts';
import { writeRows, writeWithManifest } from '../run/parts.ts';
import { normalStream, type Run, rowsPerBlock } from '../run/run.ts';
import { randomSeed } from '../stream/counter.ts';
import { formatOf, type TableFormat } from '../table/format.ts';
import { wholeArgument, wordArgument } from '../typed-number.ts';
import { versions } from '../versions.ts';
import { deviceArgument, dtypeArgument, gpusArgument, requireFileNames } from './arguments.ts';
import { givenModel, type ModelArguments, typeOfDraws } from './given-model.ts';
import { tellPassedOver } from './passed-over.ts';
import { progressBar } from './progress.ts';
import { sampleEmpirical } from './sample-empirical.ts';
import { isFolder, type PartArguments, sampleParts } from './sample-parts.ts';

/** Options of `covarium sample`, as typed. */
export interface SampleArguments extends ModelArguments, PartArguments {
  readonly count: string;
  readonly stream: string;
  readonly firstRow: string;
  readonly dtype?: string;
  readonly device?: string;
  readonly gpus?: string;
  readonly format?: string;
  readonly empirical?: boolean;
  /** False with --no-manifest. */
  readonly manifest?: boolean;
}

/** `covarium sample`: draws rows into a file, to standard output, or into the parts of a run, a block at a time. */
export async function sample(options: SampleArguments, signal: AbortSignal): Promise<void> {
  const { output: path, empirical = false, manifest: isWanted = true } = options;
  await refuseInputs([path], [options.model, options.mean, options.covariance]);
  if (await isFolder(options)) {
    if (!isWanted)
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Parts of a run (${path}) need their manifests: leave --no-manifest out, or name a file.`,
      );
    if (!empirical) return sampleParts(options, (format) => runOf(options, format), signal);
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `An empirical sample (--empirical) cannot be drawn in parts (${path}): pass a file as --output.`,
    );
  }
  await requireFileNames({ '--output': path });
  const [run, model] = await runOf(options, formatOf(path, options.format));
  if (empirical && options.gpus !== undefined)
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `An empirical sample (--empirical) is drawn as a whole by one device: leave --gpus (${options.gpus}) out.`,
    );
  if (empirical) return sampleEmpirical(options, run, model, signal);
  const isFile = await isRegularFile(path);
  if (isFile && !isWanted) await refuseManifest(path, '--no-manifest writes none');
  const hasManifest = isWanted && isFile;
  if (hasManifest) await requireManifestPlace(path);
  const where = { kind: deviceArgument(options.device), gpus: gpusArgument(options.gpus) };
  using rows = await DrawnRows.open(run, model, where, run.rows);
  tellPassedOver(rows.device.kind, where.kind);
  const progress = progressBar(run.rows);
  try {
    if (!hasManifest) {
      await writeRows(await openOutput(path), run, rows, signal, progress.advance);
      return;
    }
    const provenance = provenanceOf(rows, versions().covarium);
    const { file, manifest } = await writeWithManifest(path, run, rows, provenance, signal, progress.advance);
    await OutputFile.replaceBoth(file, manifest);
  } finally {
    progress.stop();
  }
}

async function runOf(options: SampleArguments, format: TableFormat): Promise<[Run, RunModel]> {
  const rows = wholeArgument('--count', options.count);
  const stream = wordArgument('--stream', options.stream);
  const firstRow = wordArgument('--first-row', options.firstRow);
  const seed = options.seed === undefined ? randomSeed() : wordArgument('--seed', options.seed);
  const { dtype: ofModel, ...model } = await givenModel(options);
  const { columns, data: covariance } = model.covariance;
  const asked = options.dtype === undefined ? ofModel : dtypeArgument(options.dtype);
  const dtype = asked ?? typeOfDraws(model.mean, (i) => covariance[i * columns + i]!, model.names);
  const run: Run = {
    model: modelHash(model, dtype),
    seed: String(seed),
    stream: String(stream),
    normalStream,
    firstRow: String(firstRow),
    rows,
    columns,
    names: model.names ?? null,
    dtype,
    format,
    rowsPerBlock: rowsPerBlock(columns, dtype),
  };
  return [run, model];
}

// True if the output will be a file: a device, a pipe and standard output have nothing beside them.
async function isRegularFile(path: string): Promise<boolean> {
  if (path === '-') return false;
  const status = await stat(path).catch(() => undefined);
  return status === undefined || status.isFile();
}
