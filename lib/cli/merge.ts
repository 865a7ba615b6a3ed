import { createHash } from 'node:crypto';
import colors from 'picocolors';
import { CovariumError, printable } from '../covarium-error.ts';
import { refuseInputs, refuseRepeated, refuseSharedInput } from '../file/same-file.ts';
import { type ResultArguments, resultWriter } from './fit-result.ts';
import { type FitRows, joinedFitRows } from './fit-rows.ts';
import { partialText, readPartial, type Shards } from './partial-fit.ts';

/**
 * `covarium merge partial*.json --output model.json`: the model of the rows of all parts of a fit. The same parts give
 * the same bytes, regardless of their order and names.
 */
export async function merge(paths: readonly string[], options: ResultArguments, signal: AbortSignal): Promise<void> {
  const { output, partial, ddof, shrinkage, fixedMean, dtype, singular, jitter } = options;
  await refuseInputs([output, partial], [...paths, fixedMean]);
  await refuseRepeated(paths);
  refuseSharedInput({ 'A part': paths.find((path) => path === '-'), '--fixed-mean': fixedMean });
  const write = await resultWriter({ output, partial, ddof, shrinkage, fixedMean, dtype, singular, jitter });
  const parts: Part[] = [];
  for (const path of paths) parts.push(await partOf(path));
  const shards = joinedShards(parts);
  if (shards !== undefined && output !== undefined) requireAll(shards);
  // Sorted by content, so that neither the order of the arguments nor the files' names matter. < compares code units.
  parts.sort((a, b) => (a.key < b.key ? -1 : 1));
  tellCopies(parts);
  let rows: FitRows | undefined;
  for (const { path, kept } of parts) {
    signal.throwIfAborted();
    const others = kept ?? (await readPartial(path)).rows;
    rows = rows === undefined ? others : joinedFitRows(rows, others, `Partial fit (${path})`);
  }
  const isWhole = shards === undefined || shards.here.length === shards.count;
  await write(rows!, isWhole ? undefined : shards, signal);
}

interface Part {
  readonly path: string;
  readonly key: string;
  readonly shards: Shards | undefined;
  /** The rows of standard input, which is read once. */
  readonly kept: FitRows | undefined;
}

// Everything but the sums, which are large and read again later.
async function partOf(path: string): Promise<Part> {
  const { rows, shards } = await readPartial(path);
  const key = createHash('sha256').update(partialText(rows, shards)).digest('hex');
  return { path, shards, key, kept: path === '-' ? rows : undefined };
}

// Sorted parts of the same sums. Other rows may have them too, if they are few whole numbers.
function tellCopies(parts: readonly Part[]): void {
  for (const [i, { path, key }] of parts.entries())
    if (i > 0 && parts[i - 1]!.key === key) {
      const names = printable(`(${parts[i - 1]!.path}) and (${path})`).replaceAll('\n', ' ');
      process.stderr.write(
        `${colors.yellow('warning:')} Partial fits ${names} have the same sums: if one is a copy, its rows count twice.\n`,
      );
    }
}

// A shard that occurs twice would count twice.
function joinedShards(parts: readonly Part[]): Shards | undefined {
  const known = new Map<number, string>();
  const [{ path, shards: first }] = parts as [Part];
  for (const { path: other, shards } of parts) {
    if (shards?.count !== first?.count)
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Partial fit (${other}) is of (${shards?.count ?? 'no'}) shards, but (${path}) of (${first?.count ?? 'no'}).`,
      );
    if (shards?.of !== first?.of)
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Partial fit (${other}) is a shard of other files, or of other columns, than (${path}).`,
      );
    for (const shard of shards?.here ?? []) {
      const before = known.get(shard);
      if (before !== undefined)
        throw new CovariumError(
          'ERR_INVALID_ARGUMENT',
          `Shard (${shard}) is in partial fit (${other}) and in (${before}): it would count twice.`,
        );
      known.set(shard, other);
    }
  }
  return first && { ...first, here: [...known.keys()].sort((a, b) => a - b) };
}

function requireAll({ count, here }: Shards): void {
  if (here.length === count) return;
  const missing: number[] = [];
  for (let shard = 1; shard <= count && missing.length < 10; shard++) if (!here.includes(shard)) missing.push(shard);
  throw new CovariumError(
    'ERR_INVALID_ARGUMENT',
    `Of (${count}) shards (${count - here.length}) are missing, first (${missing.join(', ')}); --partial merges those that there are.`,
  );
}
