import type { Real } from '../dtype.ts';
import { maximumDecimalBytes, writeFloat32, writeFloat64 } from './decimal.ts';
import type { Output } from './output-file.ts';

const chunkBytes = 1 << 20;

/** The header row of column names. A name with a comma, a quote or a line break is quoted. */
export function csvHeader(names: readonly string[]): Uint8Array {
  const fields = names.map((name) => (/[",\r\n]|^\s|\s$/.test(name) ? `"${name.replaceAll('"', '""')}"` : name));
  return Buffer.from(`${fields.join(',')}\n`);
}

/** Writes rows of numbers; each reads back as the same number of its type. */
export async function writeCsvLines(output: Output, values: Real, columns: number): Promise<void> {
  const write = values instanceof Float32Array ? writeFloat32 : writeFloat64;
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
