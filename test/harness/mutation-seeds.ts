// Sound files of every format, small, to be changed by mutations.ts.
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Matrix, writeTable } from '../../lib/index.ts';
import type { TableFormat } from '../../lib/table/format.ts';

/** A sound file; `columns` are those of numbers. */
export interface MutationSeed {
  readonly name: string;
  readonly format: TableFormat;
  readonly bytes: Buffer;
  readonly columns: readonly string[] | undefined;
}

interface ForeignTables {
  readonly numbers: { readonly [column: string]: unknown };
  readonly files: { readonly [name: string]: { readonly format: TableFormat; readonly base64: string } };
}

/** Those of pyarrow (test/answers), of other writers (test/table/foreign), and of our own. */
export async function mutationSeeds(format: TableFormat): Promise<MutationSeed[]> {
  const seeds: MutationSeed[] = [];
  const answers = new URL('../answers/foreign-tables.json', import.meta.url);
  const foreign = JSON.parse(readFileSync(answers, 'utf8')) as ForeignTables;
  for (const [name, { format: its, base64 }] of Object.entries(foreign.files))
    if (its === format || (format === 'arrows' && name === 'arrow stream'))
      seeds.push({ name, format, bytes: Buffer.from(base64, 'base64'), columns: Object.keys(foreign.numbers) });
  const folder = new URL('../table/foreign/', import.meta.url);
  for (const name of readdirSync(folder))
    if (name.endsWith(`.${format}`))
      seeds.push({ name, format, bytes: readFileSync(new URL(name, folder)), columns: ['d', 'f', 'i', 'u', 'c', 'n'] });
  const path = join(tmpdir(), `covarium-seed-${process.pid}.${format}`);
  for (const dtype of ['float32', 'float64'] as const) {
    const numbers = Array.from({ length: 60 }, (_, i) => (i * i) / 8 - 100);
    const values = dtype === 'float32' ? Float32Array.from(numbers) : Float64Array.from(numbers);
    await writeTable(path, Matrix.from(values, { columns: 3 }), { names: ['a', 'b', 'c'] });
    seeds.push({ name: `covarium, ${dtype}`, format, bytes: readFileSync(path), columns: undefined });
  }
  return seeds;
}
