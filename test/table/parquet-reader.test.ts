// Files that other tools wrote, by default and otherwise: foreign/README.md says what is in them.
import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readTable } from '../../lib/index.ts';
import { outcomeOf, start } from '../harness/command-line.ts';
import { throwsCode } from '../harness/throws-code.ts';

const folder = fileURLToPath(new URL('foreign/', import.meta.url));
const names = ['d', 'f', 'i', 'u', 'c', 'n'];
const count = 600;
const isNull = (row: number) => row % 10 === 4;
const rowOf = (i: number) => [
  Math.sin(i) * 1000,
  Math.fround(i / 7),
  ((i * i) % 1009) - 500,
  i % 200,
  i % 3 === 0 ? 0.25 : 1.5,
  i / 8,
];

const files = readdirSync(folder).filter((file) =>
  /^(?!.*(?:duration|period|booleans)).*\.(parquet|arrows?)$/.test(file),
);
assert.ok(files.length === 17, 'files of pyarrow, pandas, Polars, apache-arrow and DuckDB are here');

for (const file of files)
  test(`${file}: names, numbers, nulls.`, async () => {
    const quiet = { warn: () => {} };
    const { names: found, rows, dropped } = await readTable(folder + file, { missing: 'drop', ...quiet });
    assert.equal([found, rows.rows, dropped], [names, count - count / 10, count / 10]);
    const kept = Array.from({ length: count }, (_, i) => i).filter((row) => !isNull(row));
    kept.forEach((row, at) => {
      const numbers = Array.from(rows.data.subarray(6 * at, 6 * at + 6));
      // Sines and quotients of float32 differ between the writers in the last bit.
      const off = rowOf(row).filter((value, i) => Math.abs(value - numbers[i]!) > [1e-12, 1e-7][i]! * 1000);
      assert.equal(off, [], `row ${row}`);
      assert.equal(numbers.slice(2), rowOf(row).slice(2), `row ${row}`);
    });
    const refused = await throwsCode('ERR_NOT_FINITE', '(n)', () => readTable(folder + file, quiet));
    assert.is(refused.row, 4);
    const whole = await readTable(folder + file, { columns: ['u', 'i'] });
    assert.equal(whole.rows.toArray()[599], [199, ((599 * 599) % 1009) - 500]);
  });

test('A file of apache-arrow without record batches has its names and no rows.', async () => {
  // tableToIPC(new Table(schema), 'file'), where the schema has a column a of float32.
  const bytes = Buffer.from(
    'QVJST1cxAAD/////AAAAABAAAAAMABQADgAQAAQACAAMAAAAEAAAABQAAAAAAAQAHAAAAAAAAAAAAAAAAAAAAAAAAAAIAAgAAAAEAAgAAAAEAAAA' +
      'AQAAABQAAAAQABgABAALABMAFAAAAAwAEAAAABQAAAAAAAABFAAAAAAAAAMYAAAAAQAAAGEAAAAAAAAAAAAGAAgABgAGAAAAAAABAJAAAABB' +
      'UlJPVzE=',
    'base64',
  );
  const { names: found, rows } = await readTable(bytes);
  assert.equal([found, rows.rows, rows.dtype], [['a'], 0, 'float32']);
});

test('Booleans are read as 0 and 1.', async () => {
  const ofArrow = ['pyarrow-booleans.arrow', 'apache-arrow-booleans.arrow'];
  for (const file of ['pyarrow-booleans.parquet', 'pyarrow-booleans-v2.parquet', ...ofArrow]) {
    const { names: found, rows } = await readTable(folder + file, { missing: 'drop' });
    assert.equal(found, ['f', 'g', 'n']);
    const kept = Array.from({ length: count }, (_, i) => i).filter((row) => !isNull(row));
    const expected = kept.map((row) => [row >= 100, row % 3 === 0, row % 7 < 3].map(Number));
    assert.equal(rows.toArray(), expected, file);
    const { row } = await throwsCode('ERR_NOT_FINITE', '(n)', () => readTable(folder + file));
    assert.is(row, 4);
  }
});

test('Booleans with more bytes than rows take are refused, unless they are whole lines as apache-arrow has them.', async () => {
  const bytes = readFileSync(`${folder}apache-arrow-booleans.arrow`);
  // Offset and length of the bits of f; those of all 600 rows are filled up to 128 bytes.
  const place = Buffer.from(new BigInt64Array([0n, 128n]).buffer);
  bytes.writeBigInt64LE(120n, bytes.indexOf(place) + 8);
  const what = 'column (f) has (120) bytes of numbers, but (250) rows take (32)';
  await throwsCode('ERR_MALFORMED_ARROW', what, () => readTable(bytes));
});

test('They are read from a pipe too, except the files whose schema is only in their footers.', async () => {
  const inFooter = ['polars.arrow', 'apache-arrow.arrow'];
  for (const file of ['pyarrow.parquet', 'pyarrow-feather.arrow', 'polars-zstd.arrows', ...inFooter]) {
    const format = file.split('.')[1]!;
    const child = start(['fit', '-', '--format', format, '--columns', 'i,u', '--output', '-']);
    createReadStream(join(folder, file)).pipe(child.stdin);
    const { code, stdout, stderr } = await outcomeOf(child);
    if (inFooter.includes(file)) {
      assert.is.not(code, 0);
      assert.match(stderr, /read it as a file, not from a pipe/);
    } else assert.equal((JSON.parse(stdout) as { columns: string[] }).columns, ['i', 'u'], stderr);
  }
});

test('Durations are refused by name, and read as integers if nothing says what they are.', async () => {
  for (const file of ['pandas-duration.parquet', 'pandas-duration.arrow'])
    await throwsCode('ERR_INVALID_ARGUMENT', 'Column (t) of file', () => readTable(folder + file));
  const path = `${folder}pandas-duration.parquet`;
  await throwsCode('ERR_INVALID_ARGUMENT', 'has type (Duration), which is not read as numbers', () => readTable(path));
  const rows = [
    [0.5, 1],
    [1.5, 2],
  ];
  assert.equal((await readTable(path, { columns: ['x', 'n'] })).rows.toArray(), rows);
  const bytes = readFileSync(path);
  const schema = bytes.indexOf('/////', bytes.indexOf('ARROW:schema'));
  assert.ok(schema > 0);
  // Invalid lengths and references, and an empty schema.
  for (const other of ['/////////////////////////', 'AAAAAAAAAAAAAAAAAAAAAAAAA', '!!!!!!!!!!!!!!!!!!!!!!!!!']) {
    bytes.write(other, schema + 8, 'latin1');
    assert.equal(
      (await readTable(bytes)).rows.toArray(),
      rows.map(([x, n]) => [x, n, n! * 1e9]),
    );
  }
});

test('Periods of pandas are times and are refused by name; the columns beside them are read.', async () => {
  for (const path of [`${folder}pandas-period.parquet`, `${folder}pandas-period.arrow`]) {
    await throwsCode('ERR_INVALID_ARGUMENT', 'Column (t) of file', () => readTable(path));
    await throwsCode('ERR_INVALID_ARGUMENT', 'type (Period)', () => readTable(path, { columns: ['t'] }));
    assert.equal((await readTable(path, { columns: ['x'] })).rows.toArray(), [[0.5], [1.5]]);
  }
});

test.run();
