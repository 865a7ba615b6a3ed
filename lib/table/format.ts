import { oneOf, wrongArgument } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';

/** A file format for tables of numbers; `arrow` is Arrow's file format, `arrows` its stream. */
export type TableFormat = 'csv' | 'npy' | 'arrow' | 'arrows' | 'parquet';

/** All formats, in the order of the documentation. */
export const tableFormats: readonly TableFormat[] = ['csv', 'npy', 'arrow', 'arrows', 'parquet'];

const endings: { readonly [ending: string]: TableFormat } = {
  csv: 'csv',
  npy: 'npy',
  arrow: 'arrow',
  feather: 'arrow',
  arrows: 'arrows',
  parquet: 'parquet',
};

/** The format that the first bytes of a file indicate; CSV if they indicate none. */
export function formatOfBytes(start: Uint8Array): TableFormat {
  const text = Buffer.from(start.subarray(0, 6)).toString('latin1');
  if (text === '\x93NUMPY' || text.startsWith('PK\x03\x04') || text.startsWith('PK\x05\x06')) return 'npy';
  if (text === 'ARROW1') return 'arrow';
  if (text.startsWith('\xff\xff\xff\xff')) return 'arrows';
  // A page or the footer follows, whose first byte is not printable. A CSV file may have a column with the name PAR1.
  return /^PAR1(?![\t\n\r -~])/.test(text) ? 'parquet' : 'csv';
}

/**
 * The `given` format, otherwise the format of the ending of `path`; CSV for `-`. If neither decides, `otherwise`, or
 * `ERR_INVALID_ARGUMENT`.
 */
export function formatOf(path: string, given?: string, otherwise?: TableFormat): TableFormat {
  if (typeof path !== 'string') throw wrongArgument('path', path, 'the path of a file');
  if (given !== undefined) return oneOf('Format', given, tableFormats);
  if (path === '-') return 'csv';
  const ending = /\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  if (Object.hasOwn(endings, ending)) return endings[ending]!;
  if (otherwise !== undefined) return otherwise;
  throw new CovariumError(
    'ERR_INVALID_ARGUMENT',
    `File (${path}) ends in none of (${Object.keys(endings)
      .map((each) => `.${each}`)
      .join(', ')}); pass a \`format\` (--format).`,
    { path },
  );
}
