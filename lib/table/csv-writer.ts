import { CovariumError } from '../covarium-error.ts';
import type { Real } from '../dtype.ts';
import type { Output } from '../file/output.ts';
import { isDecimal, maximumDecimalBytes, writeFloat32, writeFloat64 } from './decimal.ts';
import type { RowWriter, TableHead } from './table.ts';

const chunkBytes = 1 << 20;

/** CSV with a header row where there are names. Each number reads back as the same number of its type. */
export async function openCsvWriter(output: Output, { names, columns }: TableHead): Promise<RowWriter> {
  if (names !== undefined) await output.write(csvHeader(names));
  return { write: (values) => writeLines(output, values, columns), finish: async () => {} };
}

// A name with a comma, a quote or a line break, an empty one and one that begins or ends with a space are quoted.
function csvHeader(names: readonly string[]): Uint8Array {
  const number = names.find(isDecimal);
  if (number !== undefined)
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `Column name (${number}) is a number, which a CSV file can't tell from a row.`,
    );
  const fields = names.map((name) =>
    name === '' || /[",\r\n]|^\s|\s$/.test(name) ? `"${name.replaceAll('"', '""')}"` : name,
  );
  return Buffer.from(`${fields.join(',')}\n`);
}

async function writeLines(output: Output, values: Real, columns: number): Promise<void> {
  const write = values.BYTES_PER_ELEMENT === 4 ? writeFloat32 : writeFloat64;
  const rowBytes = columns * (maximumDecimalBytes + 1);
  const bytes = new Uint8Array(Math.max(chunkBytes, rowBytes));
  let at = 0;
  for (let start = 0; start < values.length; start += columns) {
    if (at + rowBytes > bytes.length) {
      await output.write(bytes.subarray(0, at));
      at = 0;
    }
    for (let column = 0; column < columns; column++) {
      at = write(values[start + column]!, bytes, at);
      bytes[at++] = 0x2c;
    }
    bytes[at - 1] = 0x0a;
  }
  if (at > 0) await output.write(bytes.subarray(0, at));
}
