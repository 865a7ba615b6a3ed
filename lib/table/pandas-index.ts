import { describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Work } from '../work.ts';
import { chosenColumns } from './columns.ts';

/** The key of the metadata in which pandas says which columns of a Parquet or Arrow file are its index. */
export const pandasKey = 'pandas';

// JSON is parsed in one go, which holds the event loop. Metadata of 20,000 columns are shorter.
const longestMetadata = 4 << 20;

/**
 * Indices of the `wanted` columns of a file, by default all but the index of a pandas data frame, of which `warn` is
 * told. Throws `ERR_INVALID_ARGUMENT` as {@link chosenColumns} does, and for a file that has an index alone.
 */
export function* chosenBesideIndex(
  path: string,
  names: readonly string[],
  wanted: readonly string[] | undefined,
  metadata: string | undefined,
  warn: (sentence: string) => void = () => {},
): Work<number[]> {
  const all = yield* chosenColumns(path, names, names.length, wanted);
  const index = wanted === undefined ? indexNames(metadata) : noNames;
  const chosen = all.filter((column) => !index.has(names[column]!));
  if (chosen.length === all.length) return all;
  const left = names.filter((name) => index.has(name));
  const [columns, are, them] = left.length === 1 ? ['Column', 'is', 'it'] : ['Columns', 'are', 'them'];
  const shown = `${columns} (${describe(left.join(', '))}) of file (${path}) ${are} the index of a pandas data frame`;
  if (chosen.length === 0)
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `${shown}, which has no other columns; pass \`columns\` (--columns) to read ${them}.`,
      { path },
    );
  warn(`${shown} and ${are} left out; pass \`columns\` (--columns) to read ${them}.`);
  return chosen;
}

const noNames: ReadonlySet<string> = new Set();

/** Metadata that are not as pandas writes them say nothing. An index that is a range is not a column. */
function indexNames(metadata: string | undefined): ReadonlySet<string> {
  if (metadata === undefined || metadata.length > longestMetadata) return noNames;
  try {
    const { index_columns: names } = JSON.parse(metadata) as { readonly index_columns?: unknown };
    return Array.isArray(names) ? new Set(names.filter((name) => typeof name === 'string')) : noNames;
  } catch {
    return noNames;
  }
}
