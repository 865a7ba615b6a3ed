import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { DeviceKind } from '../backend.ts';
import { describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Digest } from '../file/digest.ts';
import { cannotRead, cannotWrite } from '../file/error.ts';
import { parseJson, unknownField, whyNotJson } from '../file/json.ts';
import { requireLockPlace } from '../file/lock.ts';
import { finishText, OutputFile } from '../file/output.ts';
import { withoutLinks } from '../file/same-file.ts';
import { listDevices } from '../list-devices.ts';
import { tableFormats } from '../table/format.ts';
import type { DrawnRows } from './drawn-rows.ts';
import { type Run, runFields } from './run.ts';

/** The content of `<file>.json` beside a file of draws: its run, how it was drawn, and its digest. */
export interface Manifest {
  /** Version of this format. */
  readonly covarium: 1;
  readonly kind: 'manifest';
  /** The name of the file, without folders. */
  readonly file: string;
  readonly run: Run;
  readonly provenance: Provenance;
  readonly digest: Digest;
}

/** `run.json` in the folder of a run. */
interface RunFile {
  readonly covarium: 1;
  readonly kind: 'run';
  readonly run: Run;
  readonly rowsPerPart: number;
}

export function manifestPath(path: string): string {
  return `${path}.json`;
}

/** The manifest of the file at `path`, as text. */
export function manifestText(path: string, run: Run, provenance: Provenance, digest: Digest): string {
  const manifest: Manifest = { covarium: 1, kind: 'manifest', file: basename(path), run, provenance, digest };
  return textOf(manifest);
}

/**
 * The manifest of the file at `path`; undefined if there is none. Throws `ERR_MALFORMED_MANIFEST` and
 * `ERR_FILE_UNREADABLE`.
 */
export async function readManifest(path: string): Promise<Manifest | undefined> {
  const at = manifestPath(path);
  const manifest = await readJson(at, 'manifest');
  if (manifest === undefined) return undefined;
  const { file, digest, provenance } = manifest as unknown as Partial<Manifest>;
  if (!isObject(digest) || !isCount(digest.bytes) || !isHash(digest.sha256))
    throw malformed(at, `its digest is (${describe(digest)})`);
  if (!isObject(provenance) || !isObject(provenance.device) || !isObject(provenance.device.facts))
    throw malformed(at, `its provenance is (${describe(provenance)})`);
  refuseUnknown(at, digest, ['bytes', 'sha256'], 'digest');
  refuseUnknown(at, provenance, ['covariumVersion', 'device', 'factor'], 'provenance');
  refuseUnknown(at, provenance.device, ['kind', 'name', 'facts'], 'provenance.device');
  const { covariumVersion, factor, device } = provenance;
  const texts = { file, covariumVersion, factor, kind: device.kind, name: device.name, ...device.facts };
  for (const [field, text] of Object.entries(texts))
    if (typeof text !== 'string') throw malformed(at, `its ${field} is (${describe(text)}), not a text`);
  return manifest as unknown as Manifest;
}

/** Reads `run.json`; undefined if there is none. Throws `ERR_MALFORMED_MANIFEST` and `ERR_FILE_UNREADABLE`. */
export async function readRunFile(path: string): Promise<RunFile | undefined> {
  const file = await readJson(path, 'run');
  if (file === undefined) return undefined;
  const { rowsPerPart } = file as unknown as Partial<RunFile>;
  if (!isCount(rowsPerPart) || rowsPerPart === 0)
    throw malformed(path, `its rowsPerPart is (${describe(rowsPerPart)})`);
  return file as unknown as RunFile;
}

/** Writes `run.json` if there is none; returns whether it did. Throws `ERR_FILE_UNWRITABLE` and `ERR_DISK_FULL`. */
export async function placeRunFile(path: string, run: Run, rowsPerPart: number): Promise<boolean> {
  const runFile: RunFile = { covarium: 1, kind: 'run', run, rowsPerPart };
  const file = await OutputFile.open(path);
  await finishText(file, textOf(runFile));
  return file.place();
}

/**
 * Throws `ERR_FILE_UNWRITABLE` if a manifest of other draws lies beside an output that gets none; `why` says why it
 * does not.
 */
export async function refuseManifest(path: string, why: string): Promise<void> {
  const beside = manifestPath(path);
  if ((await stat(beside).catch(() => undefined)) === undefined) return;
  throw new CovariumError(
    'ERR_FILE_UNWRITABLE',
    `File (${beside}) lies beside the output and would be mistaken for its manifest; ${why}. Remove it.`,
    { path: beside },
  );
}

/**
 * Throws `ERR_FILE_UNWRITABLE` if a manifest for `path` would replace a file that is not a manifest, intact or damaged,
 * or if both can't be renamed together.
 */
export async function requireManifestPlace(path: string): Promise<void> {
  try {
    requireLockPlace(await withoutLinks(path));
  } catch (error) {
    throw cannotWrite(path, error);
  }
  const at = manifestPath(path);
  try {
    // A pipe would be waited for.
    if ((await stat(at)).isFile() && /"kind":\s*"manifest"/.test(await readFile(at, 'utf8'))) return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw cannotRead(at, error);
  }
  throw new CovariumError(
    'ERR_FILE_UNWRITABLE',
    `File (${at}) is not a manifest of covarium, but the manifest of (${path}) would replace it. Move it, or pass another output.`,
    { path: at },
  );
}

function textOf(value: Manifest | RunFile): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

async function readJson(path: string, kind: string): Promise<{ readonly run: Run } | undefined> {
  let text: string;
  try {
    if (!(await stat(path)).isFile()) throw malformed(path, 'it is not a file');
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error instanceof CovariumError ? error : cannotRead(path, error);
  }
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw malformed(path, whyNotJson(error), error);
  }
  const { covarium, kind: said, run } = (isObject(value) ? value : {}) as Record<'covarium' | 'kind' | 'run', unknown>;
  if (covarium !== 1 || said !== kind) throw malformed(path, `it does not say that it is a ${kind} of version (1)`);
  if (!isObject(run)) throw malformed(path, `its run is (${describe(run)})`);
  for (const field of runFields)
    if (!fits[field](run[field])) throw malformed(path, `its run's ${field} is (${describe(run[field])})`);
  refuseUnknown(path, value as object, kind === 'run' ? runFileFields : manifestFields);
  refuseUnknown(path, run, runFields, 'run');
  return value as unknown as { run: Run };
}

const manifestFields: readonly (keyof Manifest)[] = ['covarium', 'kind', 'file', 'run', 'provenance', 'digest'];
const runFileFields: readonly (keyof RunFile)[] = ['covarium', 'kind', 'run', 'rowsPerPart'];

function refuseUnknown(at: string, value: object, known: readonly string[], path = ''): void {
  const unknown = unknownField(value, known, path);
  if (unknown !== undefined) throw malformed(at, unknown);
}

const isWord = (value: unknown) => typeof value === 'string' && /^\d{1,20}$/.test(value);

const fits: { readonly [field in keyof Run]: (value: unknown) => boolean } = {
  model: isHash,
  seed: isWord,
  stream: isWord,
  normalStream: isCount,
  firstRow: isWord,
  rows: isCount,
  columns: (value) => isCount(value) && value > 0,
  names: (value) => value === null || (Array.isArray(value) && value.every((name) => typeof name === 'string')),
  dtype: (value) => value === 'float32' || value === 'float64',
  format: (value) => (tableFormats as readonly unknown[]).includes(value),
  rowsPerBlock: (value) => isCount(value) && value > 0,
};

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isHash(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function malformed(path: string, why: string, cause?: unknown): CovariumError {
  return new CovariumError('ERR_MALFORMED_MANIFEST', `Manifest (${path}) is malformed: ${why}.`, { path, cause });
}

/** What drew the rows: the last bits of draws depend on it, as well as on the run. */
export interface Provenance {
  /** Version of covarium. */
  readonly covariumVersion: string;
  readonly device: {
    readonly kind: DeviceKind;
    readonly name: string;
    /** For the cpu device: its kernels, its BLAS, and the processor for which the BLAS chose its code. */
    readonly facts: { readonly [fact: string]: string };
  };
  /** The processor that made the factor. */
  readonly factor: string;
}
// The facts that can change a bit. The number of threads changes none, and a library's path could contain a user's
// name.
const told = ['processor', 'kernels', 'products', 'decompositions', 'library core type'];

export function provenanceOf(rows: DrawnRows, covariumVersion: string): Provenance {
  const { kind, name } = rows.device;
  const known = kind === 'cpu' ? (listDevices().find((candidate) => candidate.kind === kind)?.facts ?? {}) : {};
  const facts = Object.fromEntries(Object.entries(known).filter(([fact]) => told.includes(fact)));
  return { covariumVersion, device: { kind, name, facts }, factor: rows.factorOn };
}
