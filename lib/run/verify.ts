import { stat } from 'node:fs/promises';
import type { DeviceKind } from '../backend.ts';
import { CovariumError } from '../covarium-error.ts';
import { digestOf } from '../file/digest.ts';
import { cannotRead } from '../file/error.ts';
import { chooseRows, readRows } from './chosen-rows.ts';
import { type Manifest, manifestPath, readManifest, readRunFile } from './manifest.ts';
import { modelHash, type RunModel } from './model-hash.ts';
import { type Part, partsOf, requireDigest, requireOnlyParts, runPath } from './parts.ts';
import { Redraw } from './redraw.ts';
import { normalStream, type Run, requireSameRun } from './run.ts';

/** How a file of draws, or a folder of them, is verified. */
export interface VerifyOptions {
  readonly model: RunModel;
  /** Rows of each file that are drawn again. */
  readonly rows: number;
  /** Where; by default on another kind of device than the manifest's. */
  readonly kind: DeviceKind | undefined;
  readonly signal: AbortSignal;
}

/** What was verified. */
export interface Verified {
  readonly path: string;
  readonly manifest: Manifest;
  /** Rows that were drawn again. */
  readonly rows: number;
  readonly drawnOn: DeviceKind;
  readonly normalsOn: readonly DeviceKind[];
  readonly worstUlps: number;
  readonly allowedUlps: number;
}

/**
 * Verifies a file of draws, or each part of the run in a folder: its run and its model (`ERR_RUN_MISMATCH`, `ERR_MODEL_MISMATCH`), its size
 * and SHA-256 (`ERR_MANIFEST_MISMATCH`), and rows drawn again (`ERR_DRAWS_MISMATCH`). Throws at the first that is wrong, also
 * `ERR_MALFORMED_MANIFEST`, `ERR_FILE_NOT_FOUND`, `ERR_FILE_UNREADABLE`.
 */
export async function* verified(path: string, options: VerifyOptions): AsyncGenerator<Verified, void, undefined> {
  const status = await stat(path).catch((error: unknown) => {
    throw cannotRead(path, error);
  });
  if (!status.isDirectory()) {
    yield await verifyFile(path, options);
    return;
  }
  const file = await readRunFile(runPath(path));
  if (file === undefined)
    throw new CovariumError('ERR_MANIFEST_MISMATCH', `Folder (${path}) holds no run: it has no run.json.`, { path });
  await requireOnlyParts(path, file.run, file.rowsPerPart);
  for (const part of partsOf(path, file.run, file.rowsPerPart)) yield await verifyFile(part.path, options, part);
}

async function verifyFile(path: string, { model, rows, kind, signal }: VerifyOptions, part?: Part): Promise<Verified> {
  signal.throwIfAborted();
  const manifest = await readManifest(path);
  if (manifest === undefined)
    throw new CovariumError(
      'ERR_MANIFEST_MISMATCH',
      `File (${manifestPath(path)}) is missing: nothing tells the run.`,
      {
        path,
      },
    );
  const { run, circumstances } = manifest;
  if (part !== undefined) requireSameRun(manifestPath(path), run, part.run);
  requireModel(path, run, model);
  requireDigest(path, manifest, await digestOf(path));
  const chosen = chooseRows(run.rows, rows);
  const values = await readRows(path, run, chosen);
  using redraw = await Redraw.open(run, model, circumstances.device.kind, kind);
  let worstUlps = 0;
  for (const [i, row] of chosen.entries()) {
    signal.throwIfAborted();
    worstUlps = Math.max(worstUlps, (await redraw.compare(path, row, values[i]!)).worstUlps);
  }
  const { drawnOn, normalsOn, allowedUlps } = redraw;
  return { path, manifest, rows: chosen.length, drawnOn, normalsOn, worstUlps, allowedUlps };
}

function requireModel(path: string, run: Run, model: RunModel): void {
  if (run.normalStream !== normalStream)
    throw new CovariumError(
      'ERR_UNSUPPORTED',
      `File (${path}) is drawn from version (${run.normalStream}) of the normal stream; this covarium knows (${normalStream}).`,
    );
  const hash = modelHash(model, run.dtype);
  if (hash === run.model) return;
  const otherwise = modelHash({ ...model, singular: !model.singular }, run.dtype) === run.model;
  const hint = otherwise ? ` It was drawn ${model.singular ? 'without' : 'with'} --singular.` : '';
  throw new CovariumError(
    'ERR_MODEL_MISMATCH',
    `File (${path}) is of another model: its SHA-256 is (${run.model}), and this one's is (${hash}).${hint}`,
    { path },
  );
}
