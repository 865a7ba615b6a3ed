import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CovariumError } from '../covarium-error.ts';
import { type Digest, DigestOutput, digestOf } from '../file/digest.ts';
import { cannotRead, cannotWrite } from '../file/error.ts';
import { makeFolder } from '../file/folder.ts';
import { finishText, type Output, OutputFile } from '../file/output.ts';
import { removeAbandoned } from '../file/temporary-name.ts';
import { openTableWriter } from '../table/write-table.ts';
import type { DrawnRows } from './drawn-rows.ts';
import type { Provenance } from './manifest.ts';
import { type Manifest, manifestPath, manifestText, placeRunFile, readManifest, readRunFile } from './manifest.ts';
import { type Run, requireSameRun, runWithin } from './run.ts';

/**
 * A file of a run: part `index` has rows [index rowsPerPart, (index + 1) rowsPerPart); the last part has the remaining
 * rows.
 */
export interface Part {
  readonly index: number;
  readonly path: string;
  readonly run: Run;
}

const mostParts = 1_000_000;

export function runPath(folder: string): string {
  return join(folder, 'run.json');
}

/** All parts of a run in a folder. Throws `ERR_OUT_OF_RANGE` for more than a million. */
export function partsOf(folder: string, run: Run, rowsPerPart: number): Part[] {
  const count = Math.ceil(run.rows / rowsPerPart);
  if (count > mostParts)
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `Run of (${run.rows}) rows has (${count}) parts of (${rowsPerPart}) rows, more than (${mostParts}).`,
    );
  return Array.from({ length: count }, (_, index) => {
    const first = index * rowsPerPart;
    const name = `part-${String(index).padStart(6, '0')}.${run.format}`;
    return { index, path: join(folder, name), run: runWithin(run, first, Math.min(rowsPerPart, run.rows - first)) };
  });
}

/**
 * Throws `ERR_RUN_MISMATCH` for a file that readers of `part-*` would take for a part of a run, but that is not one.
 */
export async function requireOnlyParts(folder: string, run: Run, rowsPerPart: number): Promise<void> {
  const named = new Set(partsOf(folder, run, rowsPerPart).map(({ path }) => path));
  const found = await readdir(folder).catch((error: unknown) => {
    throw cannotRead(folder, error);
  });
  const stranger = found.find(
    (name) => name.startsWith('part-') && name.endsWith(`.${run.format}`) && !named.has(join(folder, name)),
  );
  if (stranger === undefined) return;
  const path = join(folder, stranger);
  throw new CovariumError(
    'ERR_RUN_MISMATCH',
    `File (${path}) is named like a part, but the run of (${named.size}) parts has no part of this name.`,
    { path },
  );
}

/**
 * Prepares the folder of a run: checks its `run.json`, and removes what killed processes left behind. The first of the
 * processes that share a run writes `run.json`; the others compare it. Throws `ERR_RUN_MISMATCH` (also for a file that
 * is named like a part but is not one), `ERR_MALFORMED_MANIFEST`, `ERR_FILE_UNWRITABLE`.
 */
export async function openRunFolder(folder: string, run: Run, rowsPerPart: number): Promise<void> {
  const path = runPath(folder);
  try {
    makeFolder(folder);
    await removeAbandoned(folder);
  } catch (error) {
    throw cannotWrite(folder, error);
  }
  if ((await readRunFile(path)) === undefined) await placeRunFile(path, run, rowsPerPart);
  const told = (await readRunFile(path))!;
  requireSameRun(path, { ...told.run, rowsPerPart: told.rowsPerPart }, { ...run, rowsPerPart });
  await requireOnlyParts(folder, run, rowsPerPart);
}

/**
 * True if a part exists, complete and of this run. Throws `ERR_RUN_MISMATCH` if it is of another run,
 * `ERR_MANIFEST_MISMATCH` if its size or, with `check`, its SHA-256 differs from its manifest.
 */
export async function isThere({ path, run }: Part, check: boolean): Promise<boolean> {
  const manifest = await readManifest(path);
  if (manifest !== undefined) requireSameRun(manifestPath(path), manifest.run, run);
  const status = await stat(path).catch(() => undefined);
  if (status === undefined || manifest === undefined) return false;
  const { sha256 } = manifest.digest;
  requireDigest(path, manifest, check ? await digestOf(path) : { bytes: status.size, sha256 });
  return true;
}

/** Throws `ERR_MANIFEST_MISMATCH` if a file is not the one that its manifest describes. */
export function requireDigest(path: string, { digest }: Manifest, { bytes, sha256 }: Digest): void {
  const [what, there, told] =
    bytes === digest.bytes ? ['SHA-256', sha256, digest.sha256] : ['bytes', bytes, digest.bytes];
  if (there !== told)
    throw new CovariumError(
      'ERR_MANIFEST_MISMATCH',
      `File (${path}) is not as it was written: ${what} (${there}), but (${told}) in its manifest.`,
      { path },
    );
}

/**
 * Draws a part. It appears complete or not at all, before its manifest. Only one process can give it its name, and a
 * file that has the name is never changed. A part without a manifest belongs to a process that was killed between the
 * two, or that is running now: if it has the bytes drawn here, it is a part of this run; if not,
 * `ERR_MANIFEST_MISMATCH` is thrown.
 */
export async function drawPart(
  { path, run }: Part,
  rows: DrawnRows,
  provenance: Provenance,
  signal: AbortSignal,
  advance: (rows: number) => void,
): Promise<void> {
  const { file, manifest, sha256 } = await writeWithManifest(path, run, rows, provenance, signal, advance);
  try {
    if ((await file.place()) || (await digestOf(path)).sha256 === sha256) return await manifest.replace();
    if (await isThere({ index: 0, path, run }, true)) return;
    throw new CovariumError(
      'ERR_MANIFEST_MISMATCH',
      `File (${path}) has no manifest, and its bytes differ from this part's. Remove it, so that the part can be drawn.`,
      { path },
    );
  } finally {
    await manifest.discard();
  }
}

/**
 * Writes the rows of a run, and their manifest, to the disk; the caller gives both their names. A manifest that cannot
 * be written is reported before anything changes.
 */
export async function writeWithManifest(
  path: string,
  run: Run,
  rows: DrawnRows,
  provenance: Provenance,
  signal: AbortSignal,
  advance: (rows: number) => void,
): Promise<{ readonly file: OutputFile; readonly manifest: OutputFile; readonly sha256: string }> {
  const manifest = await OutputFile.open(manifestPath(path));
  let file: OutputFile | undefined;
  try {
    file = await OutputFile.open(path);
    const digest = await writeRows(file, run, rows, signal, advance);
    await finishText(manifest, manifestText(path, run, provenance, digest));
    return { file, manifest, sha256: digest.sha256 };
  } catch (error) {
    await file?.discard();
    await manifest.discard();
    throw error;
  }
}

/** Writes the rows of a run as a file of its format, and finishes or discards the output. */
export async function writeRows(
  output: Output,
  run: Run,
  rows: Pick<DrawnRows, 'rows'>,
  signal: AbortSignal,
  advance: (rows: number) => void,
): Promise<Digest> {
  const { firstRow, rows: count, columns, names, dtype, format } = run;
  const through = new DigestOutput(output);
  // The run is known before the rows are. A part contains nothing about the device, so that its bytes depend on the run
  // alone.
  const metadata = { covarium: JSON.stringify(run) };
  const head = { names: names ?? undefined, columns, dtype, rows: count, metadata };
  const table = await openTableWriter(through, format, head);
  try {
    for await (const values of rows.rows(BigInt(firstRow), count, signal)) {
      await table.write(values);
      advance(values.length / columns);
    }
    signal.throwIfAborted();
    await table.finish();
  } catch (error) {
    await table.discard();
    throw error;
  }
  return through.digest();
}
