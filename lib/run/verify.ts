import { stat } from 'node:fs/promises';
import type { DeviceKind } from '../backend.ts';
import { describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { digestOf } from '../file/digest.ts';
import { cannotRead } from '../file/error.ts';
import { openTable } from '../table/read-table.ts';
import { csvRowsOfDraws } from './csv-rows-of-draws.ts';
import { type Manifest, manifestPath, readManifest, readRunFile } from './manifest.ts';
import { modelHash, type RunModel } from './model.ts';
import { type Part, partsOf, requireDigest, requireOnlyParts, runPath } from './parts.ts';
import { Redraw } from './redraw.ts';
import { normalStream, type Run, requireSameRun } from './run.ts';

/** Options of the verification of a file of draws, or a folder of them. */
interface VerifyOptions {
  readonly model: RunModel;
  /** Number of rows of each file to draw again. */
  readonly rows: number;
  /** The device to draw them on; by default another kind than the manifest's. */
  readonly kind: DeviceKind | undefined;
  readonly signal: AbortSignal;
}

/** The result for one file. */
export interface Verified {
  readonly path: string;
  readonly manifest: Manifest;
  /** Number of rows that were drawn again. */
  readonly rows: number;
  readonly drawnOn: DeviceKind;
  readonly normalsOn: readonly DeviceKind[];
  readonly worstUlps: number;
  readonly allowedUlps: number;
}

/**
 * Verifies a file of draws, or each part of the run in a folder: its run and its model (`ERR_RUN_MISMATCH`,
 * `ERR_MODEL_MISMATCH`), its size, SHA-256 and names of columns (`ERR_MANIFEST_MISMATCH`), and rows drawn again
 * (`ERR_DRAWS_MISMATCH`).
 * Throws the first error, also `ERR_MALFORMED_MANIFEST`, `ERR_FILE_NOT_FOUND`, `ERR_FILE_UNREADABLE`.
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
    throw new CovariumError('ERR_MANIFEST_MISMATCH', `Folder (${path}) does not hold a run: it has no run.json.`, {
      path,
    });
  await requireOnlyParts(path, file.run, file.rowsPerPart);
  for (const part of partsOf(path, file.run, file.rowsPerPart)) yield await verifyFile(part.path, options, part);
}

async function verifyFile(path: string, { model, rows, kind, signal }: VerifyOptions, part?: Part): Promise<Verified> {
  signal.throwIfAborted();
  const manifest = await readManifest(path);
  if (manifest === undefined)
    throw new CovariumError(
      'ERR_MANIFEST_MISMATCH',
      `File (${manifestPath(path)}) is missing: without it the run is unknown.`,
      {
        path,
      },
    );
  const { run, provenance } = manifest;
  if (part !== undefined) requireSameRun(manifestPath(path), run, part.run);
  requireModel(path, run, model);
  requireDigest(path, manifest, await digestOf(path));
  const chosen = chooseRows(run.rows, rows);
  const values = await readRows(path, run, chosen, model.degreesOfFreedom !== undefined);
  using redraw = await Redraw.open(run, model, provenance.device.kind, kind);
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
  // A manifest does not say of which distribution the draws are.
  const isNormal = model.degreesOfFreedom === undefined;
  const student = isNormal ? ' If they are draws of a Student-t, pass its --degrees-of-freedom.' : '';
  const hint = otherwise ? ` It was drawn ${model.singular ? 'without' : 'with'} --singular.` : student;
  throw new CovariumError(
    'ERR_MODEL_MISMATCH',
    `File (${path}) is of another model: its SHA-256 is (${run.model}), and this one's is (${hash}).${hint}`,
    { path },
  );
}

/** Up to `count` evenly spaced rows of `rows`, including the first and the last. */
export function chooseRows(rows: number, count: number): number[] {
  const chosen = Math.min(rows, count);
  if (chosen < 2) return chosen === 0 ? [] : [0];
  return Array.from({ length: chosen }, (_, i) => Math.round((i * (rows - 1)) / (chosen - 1)));
}

/**
 * Some rows of a file of draws, in ascending order. Throws the errors of reading the file, and `ERR_MANIFEST_MISMATCH`
 * for another shape.
 */
async function readRows(
  path: string,
  run: Run,
  chosen: readonly number[],
  mayBeInfinite: boolean,
): Promise<Float64Array[]> {
  const { columns, dtype, format, names, rows } = run;
  // No rows and no names are no bytes, which a reader of CSV refuses.
  if (format === 'csv' && names === null && rows === 0 && (await stat(path)).size === 0) return [];
  // The manifest says whether there is a header: names may look like missing values. Doubts about it say nothing.
  const written = format === 'csv' ? { header: names !== null, delimiter: ',', warn: () => {} } : {};
  const table =
    format === 'csv' && mayBeInfinite
      ? csvRowsOfDraws(path, run)
      : await openTable(path, { format, ...written }, mayBeInfinite ? 'all rows' : 'complete rows');
  const read: Float64Array[] = [];
  let at = 0;
  try {
    requireShape(path, 'columns', table.head.columns, columns);
    requireNames(path, table.head.names, names);
    for await (const block of table.blocks()) {
      const end = at + block.length / columns;
      for (let row = chosen[read.length]; row !== undefined && row < end; row = chosen[read.length]) {
        const values = new Float64Array(block.subarray((row - at) * columns, (row - at + 1) * columns));
        // Text stores a float32 as its shortest decimal.
        read.push(dtype === 'float32' ? values.map(Math.fround) : values);
      }
      at = end;
    }
  } finally {
    await table.close();
  }
  // A CSV file without rows does not show its number of columns.
  requireShape(path, 'rows', at, rows);
  return read;
}

// Whoever swaps two names can write the digest anew, and the numbers stay those of the model.
function requireNames(path: string, there: readonly string[] | undefined, told: readonly string[] | null): void {
  if (there === undefined || told === null) return;
  requireShape(path, 'names of columns', there.length, told.length);
  const other = told.findIndex((name, column) => there[column] !== name);
  if (other < 0) return;
  throw new CovariumError(
    'ERR_MANIFEST_MISMATCH',
    `Column (${other}) of file (${path}) is called (${describe(there[other])}), but (${describe(told[other])}) in its manifest.`,
    { path },
  );
}

function requireShape(path: string, what: string, there: number, told: number): void {
  if (there !== told)
    throw new CovariumError(
      'ERR_MANIFEST_MISMATCH',
      `File (${path}) has (${there}) ${what}, but (${told}) in its manifest.`,
      {
        path,
      },
    );
}
