// Sound files of every format, small, to be changed by mutations.ts.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
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
  /** The member of an archive. */
  readonly member?: string;
}

interface ForeignTables {
  readonly numbers: { readonly [column: string]: unknown };
  readonly files: { readonly [name: string]: { readonly format: TableFormat; readonly base64: string } };
}

const texts = [
  'a,b\n1,2\n3.5,-4e3\n,6\n',
  '"x ""y""",z\r\n"1","2"\r\n3,"4\r\n"\r\n',
  '1.0e+00 2.0e+00\n3.0e+00 4.0e+00\n',
  'sep=;\r\na;b\r\n1;2\r\n3.5;4\r\n',
  '# c\na;b;c\n1;2;3\nNA;5;6\n',
  Array.from({ length: 400 }, (_, i) => `${i / 7},${i * 1e10},-${i}`).join('\n'),
];

interface NumpyTables {
  readonly arrays: { readonly [name: string]: { readonly base64: string } };
  readonly archives: { readonly [name: string]: string };
}

function numpySeeds(): MutationSeed[] {
  const path = new URL('../answers/numpy-tables.json', import.meta.url);
  const { arrays, archives } = JSON.parse(readFileSync(path, 'utf8')) as NumpyTables;
  const seed = (name: string, base64: string, member?: string): MutationSeed => ({
    name,
    format: 'npy',
    bytes: Buffer.from(base64, 'base64'),
    columns: undefined,
    ...(member !== undefined && { member }),
  });
  return [
    ...Object.entries(arrays).map(([name, { base64 }]) => seed(name, base64)),
    ...Object.entries(archives).flatMap(([name, base64]) => [seed(name, base64), seed(name, base64, 'a')]),
  ];
}

/** Files written by pyarrow and NumPy (test/answers), by other writers (test/table/foreign), and by us. */
export async function mutationSeeds(format: TableFormat): Promise<MutationSeed[]> {
  const seeds: MutationSeed[] = format === 'npy' ? numpySeeds() : [];
  if (format === 'csv')
    seeds.push(
      ...texts.map((text) => ({ name: text.slice(0, 9), format, bytes: Buffer.from(text), columns: undefined })),
    );
  const answers = new URL('../answers/foreign-tables.json', import.meta.url);
  const foreign = JSON.parse(readFileSync(answers, 'utf8')) as ForeignTables;
  for (const [name, { format: its, base64 }] of Object.entries(foreign.files))
    if (its === format || (format === 'arrows' && name === 'arrow stream'))
      seeds.push({ name, format, bytes: Buffer.from(base64, 'base64'), columns: Object.keys(foreign.numbers) });
  const folder = new URL('../table/foreign/', import.meta.url);
  for (const name of readdirSync(folder)) {
    const columns = name.includes('duration')
      ? ['x', 'n']
      : name.includes('period')
        ? ['x']
        : name.includes('booleans')
          ? ['f', 'g', 'n']
          : ['d', 'f', 'i', 'u', 'c', 'n'];
    if (name.endsWith(`.${format}`)) seeds.push({ name, format, bytes: readFileSync(new URL(name, folder)), columns });
  }
  const path = join(tmpdir(), `covarium-seed-${process.pid}.${format}`);
  for (const dtype of ['float32', 'float64'] as const) {
    const numbers = Array.from({ length: 60 }, (_, i) => (i * i) / 8 - 100);
    const values = dtype === 'float32' ? Float32Array.from(numbers) : Float64Array.from(numbers);
    await writeTable(path, Matrix.from(values, { columns: 3 }), { names: ['a', 'b', 'c'] });
    seeds.push({ name: `covarium, ${dtype}`, format, bytes: readFileSync(path), columns: undefined });
  }
  rmSync(path);
  return seeds;
}
