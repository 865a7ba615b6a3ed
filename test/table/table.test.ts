// Tables of numbers in every format: round trips, other tools' files, and refusals.
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Real, zerosOf } from '../../lib/dtype.ts';
import { openOutputFile, standardOutput } from '../../lib/file/output.ts';
import { type ErrorCode, Matrix, readTable, type TableFormat, type TableOptions, writeTable } from '../../lib/index.ts';
import { tableFormats } from '../../lib/table/format.ts';
import { openTable } from '../../lib/table/read-table.ts';
import { openTableWriter } from '../../lib/table/write-table.ts';
import fc from '../harness/properties.ts';
import { throwsCode } from '../harness/throws-code.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-table-'));
const at = (name: string) => join(folder, name);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const data = join(dirname(createRequire(import.meta.url).resolve('vega-datasets')), '..', 'data');

const file = (name: string, bytes: string | Uint8Array): string => {
  writeFileSync(at(name), bytes);
  return at(name);
};
const bits = (values: Float32Array | Float64Array) => Buffer.from(values.buffer, values.byteOffset, values.byteLength);

// Every format can hold any name, except CSV, where a number is not a name; trimmed, because CSV names are.
const columnName = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .filter((name) => !/^[+-]?[\d.]/.test(name) && name.trim() === name && !/[\r\n]/.test(name));
const numbers = {
  float32: fc.float({ noNaN: true, noDefaultInfinity: true }),
  float64: fc.double({ noNaN: true, noDefaultInfinity: true }),
};

for (const format of tableFormats)
  for (const dtype of ['float32', 'float64'] as const)
    test(`A table written as ${format} of ${dtype} is read again: names, and numbers to the bit.`, async () => {
      const tables = fc.uniqueArray(columnName, { minLength: 1, maxLength: 6 }).chain((names) =>
        fc.record({
          names: fc.constant(names),
          rows: fc.array(fc.array(numbers[dtype], { minLength: names.length, maxLength: names.length }), {
            maxLength: 30,
          }),
        }),
      );
      await fc.assert(
        fc.asyncProperty(tables, async ({ names, rows }) => {
          // A CSV reader gives float64 numbers that round to the float32 numbers.
          const flat = rows.flat();
          const matrix = Matrix.from(dtype === 'float32' ? Float32Array.from(flat) : Float64Array.from(flat), {
            columns: names.length,
          });
          await writeTable(at(`trip.${format}`), matrix, { names });
          const read = await readTable(at(`trip.${format}`));
          assert.equal(read.names, format === 'npy' ? undefined : names);
          assert.is(read.rows.rows, rows.length);
          const values = dtype === 'float32' ? Float32Array.from(read.rows.data) : read.rows.data;
          assert.equal(bits(values as Float32Array), bits(matrix.data as Float32Array));
          if (format !== 'csv') assert.is(read.rows.dtype, dtype);
        }),
        { numRuns: 60 },
      );
    });

test('Many rows are written and read in blocks of any size, across groups, batches and pages.', async () => {
  // More than a Parquet group (32 MiB), Arrow batches (8 MiB) and pages (1 MiB).
  const [columns, count] = [3, 3_000_000];
  const value = (i: number) => (i * 2654435761) % 4294967296;
  for (const format of ['npy', 'arrow', 'arrows', 'parquet'] as const) {
    const head = { names: undefined, columns, dtype: 'float32', rows: format === 'npy' ? count : undefined } as const;
    const writer = await openTableWriter(await openOutputFile(at('many')), format, head);
    for (let row = 0, size = 1; row < count; row += size, size = Math.min(size * 7 + 1, 500_000, count - row)) {
      const block = new Float32Array(size * columns);
      for (let i = 0; i < block.length; i++) block[i] = value(row * columns + i);
      await writer.write(block);
    }
    await writer.finish();
    const reader = await openTable(at('many'), { format });
    assert.equal(reader.head.names, format === 'npy' ? undefined : ['x1', 'x2', 'x3']);
    let i = 0;
    let wrong = 0;
    for await (const block of reader.blocks())
      for (const number of block) if (number !== Math.fround(value(i++))) wrong++;
    await reader.close();
    assert.equal([format, i, wrong], [format, columns * count, 0]);
  }
});

type Column = 'int32' | 'int64' | 'uint8' | 'float16' | 'float32' | 'float64' | 'coded';

interface ForeignTables {
  readonly rows: number;
  readonly numbers: Readonly<Record<Column, readonly (number | null)[]>>;
  readonly text: { readonly uint64: readonly string[] };
  readonly files: { readonly [name: string]: { readonly format: TableFormat; readonly base64: string } };
}
const foreign = JSON.parse(
  readFileSync(new URL('../answers/foreign-tables.json', import.meta.url), 'utf8'),
) as ForeignTables;

for (const [name, { format, base64 }] of Object.entries(foreign.files)) {
  const path = file(`${name}.${format}`, Buffer.from(base64, 'base64'));
  const column = async (each: string, options: TableOptions = {}) =>
    Array.from((await readTable(path, { columns: [each], ...options })).rows.data);
  test(`Of pyarrow (${name}): columns of any type can be chosen; nulls are missing.`, async () => {
    for (const [each, expected] of Object.entries(foreign.numbers)) {
      const complete = expected.filter((value) => value !== null);
      const single = each === 'float32' ? complete.map(Math.fround) : complete;
      assert.equal(await column(each, { missing: 'drop' }), single, each);
      if (complete.length < expected.length) {
        const refused = await throwsCode('ERR_NOT_FINITE', `(${each})`, () => column(each));
        assert.is(refused.row, expected.indexOf(null));
      }
    }
    assert.equal(await column('uint64'), foreign.text.uint64.map(Number));
    assert.equal(
      await column('bool'),
      Array.from({ length: foreign.rows }, (_, row) => 1 - (row % 2)),
    );
    const both = await readTable(path, { columns: ['float64', 'int32'], missing: 'drop' });
    const rows = foreign.numbers.float64.map((value, i) => [value, foreign.numbers.int32[i]]);
    const kept = rows.filter((row) => !row.includes(null));
    assert.equal(both.rows.toArray(), kept);
    assert.equal([both.dropped, both.names], [foreign.rows - kept.length, ['float64', 'int32']]);
    assert.is((await readTable(path, { columns: ['float32', 'float16'] })).rows.dtype, 'float32');
    const beyond = await throwsCode('ERR_OUT_OF_RANGE', `(${2n ** 53n + 1n})`, () => column('beyond'));
    assert.is(beyond.row, 1);
    for (const each of ['text', 'plain', 'time', 'list', 'decimal'])
      await throwsCode('ERR_INVALID_ARGUMENT', `Column (${each}) of file (${path}) has type (`, () => column(each));
    await throwsCode('ERR_INVALID_ARGUMENT', 'which is not read as numbers', () => readTable(path));
  });
}

test("The flights of vega-datasets are read: pandas' Arrow file, and chosen columns of Polars' Parquet file.", async () => {
  const few = JSON.parse(readFileSync(join(data, 'flights-200k.json'), 'utf8')) as Record<
    'delay' | 'distance' | 'time',
    number
  >[];
  const arrow = await readTable(join(data, 'flights-200k.arrow'));
  assert.equal(arrow.names, ['delay', 'distance', 'time']);
  assert.is(arrow.rows.rows, few.length);
  const wrong = few.filter(
    (flight, row) =>
      arrow.rows.data[3 * row] !== flight.delay ||
      arrow.rows.data[3 * row + 1] !== flight.distance ||
      Math.abs(arrow.rows.data[3 * row + 2]! - flight.time) > 1e-5,
  );
  assert.is(wrong.length, 0);
  const parquet = await openTable(join(data, 'flights-3m.parquet'), { columns: ['distance', 'delay'] });
  assert.equal(parquet.head, { names: ['distance', 'delay'], columns: 2, dtype: 'float64', rows: 3_000_000 });
  let rows = 0;
  let [least, most] = [Infinity, -Infinity];
  for await (const block of parquet.blocks()) {
    rows += block.length / 2;
    for (let i = 1; i < block.length; i += 2) {
      least = Math.min(least, block[i]!);
      most = Math.max(most, block[i]!);
    }
  }
  await parquet.close();
  // The file's own footer has these statistics of its groups.
  assert.equal([rows, least <= -80, most >= 1575], [3_000_000, true, true]);
  await throwsCode('ERR_INVALID_ARGUMENT', '(origin)', () =>
    readTable(join(data, 'flights-3m.parquet'), { columns: ['delay', 'origin'] }),
  );
});

test('Missing fields of CSV are refused with their place, or their rows dropped.', async () => {
  const path = file('holes.csv', 'a,b\n1,2\n,3\n4,NA\nNaN,5\n6,n/a\n7,8\n9,null\n');
  const refused = await throwsCode('ERR_MALFORMED_CSV', "(missing: 'drop'", () => readTable(path));
  assert.equal([refused.line, refused.column], [3, 1]);
  const { rows, dropped } = await readTable(path, { missing: 'drop' });
  assert.equal(
    [rows.toArray(), dropped],
    [
      [
        [1, 2],
        [7, 8],
      ],
      5,
    ],
  );
  // Missing values of columns that are not read do not count.
  const { rows: first } = await readTable(path, { columns: ['b'], missing: 'drop' });
  assert.equal(first.toArray(), [[2], [3], [5], [8]]);
  await throwsCode('ERR_INVALID_ARGUMENT', 'undefined', () => readTable(undefined as unknown as string));
  await throwsCode('ERR_MALFORMED_CSV', '(x)', () => readTable(file('text.csv', 'a\nx\n'), { missing: 'drop' }));
});

test('An infinite number is written, and refused by a reader, also if rows with missing ones are dropped.', async () => {
  for (const format of ['npy', 'arrow', 'parquet'] as const) {
    await writeTable(
      at(`infinite.${format}`),
      Matrix.from(Float64Array.of(1, Number.NaN, 2, -Infinity), { columns: 2 }),
    );
    const path = at(`infinite.${format}`);
    assert.equal((await throwsCode('ERR_NOT_FINITE', 'missing', () => readTable(path))).row, 0);
    const { row, column } = await throwsCode('ERR_NOT_FINITE', '(-Infinity); a NaN in its place', () =>
      readTable(path, { missing: 'drop' }),
    );
    assert.equal([row, column], [1, 1]);
  }
  await writeTable(at('infinite.csv'), [[Number.NaN], [3], [-Infinity], [Infinity]]);
  assert.is(readFileSync(at('infinite.csv'), 'utf8'), 'NaN\n3\n-Infinity\nInfinity\n');
  for (const text of ['-Infinity', 'Infinity', 'inf', '+Inf'])
    await throwsCode('ERR_MALFORMED_CSV', `(${text}); an empty field in its place is a missing value`, () =>
      readTable(Buffer.from(`a\n1\n${text}\n`), { missing: 'drop' }),
    );
});

const malformed: { readonly [format in TableFormat]: ErrorCode } = {
  csv: 'ERR_MALFORMED_CSV',
  npy: 'ERR_MALFORMED_NPY',
  arrow: 'ERR_MALFORMED_ARROW',
  arrows: 'ERR_MALFORMED_ARROW',
  parquet: 'ERR_MALFORMED_PARQUET',
};

for (const format of tableFormats)
  test(`A ${format} file that is empty, foreign, cut short or absent is refused with its path.`, async () => {
    const path = at(`broken.${format}`);
    const says = async (bytes: Uint8Array) => {
      writeFileSync(path, bytes);
      assert.is((await throwsCode(malformed[format], path, () => readTable(path))).path, path);
    };
    await says(Buffer.alloc(0));
    await throwsCode('ERR_FILE_NOT_FOUND', 'absent', () => readTable(at(`absent.${format}`)));
    if (format === 'csv') return;
    await says(Buffer.from('a,b\n1,2\n'));
    await says(Buffer.alloc(1000, 0xff));
    await writeTable(
      path,
      Matrix.from(
        Float32Array.from({ length: 600 }, (_, i) => i),
        { columns: 3 },
      ),
      {
        names: ['a', 'b', 'c'],
        ...(format === 'npy' && { names: undefined }),
      },
    );
    const whole = readFileSync(path);
    // A stream may lack its end marker, which the format lets a writer leave out; so more is cut.
    const last = format === 'arrows' ? whole.length - 9 : whole.length - 1;
    const lengths = [...Array.from({ length: 1 + Math.floor(last / 97) }, (_, i) => 1 + 97 * i), last - 1, last];
    for (const length of lengths)
      if (length <= last && !(format === 'arrows' && length === schemaBytes(whole)))
        await says(whole.subarray(0, length));
  });

// A stream that ends after its schema is one of no rows.
function schemaBytes(stream: Buffer): number {
  return 8 + stream.readInt32LE(4);
}

test('Changed bytes anywhere in an Arrow or Parquet file give numbers or a refusal, never another error.', async () => {
  for (const format of ['arrow', 'parquet'] as const) {
    await writeTable(
      at(`whole.${format}`),
      Matrix.from(
        Float64Array.from({ length: 40 }, (_, i) => i),
        { columns: 2 },
      ),
    );
    const whole = readFileSync(at(`whole.${format}`));
    const change = fc.record({ place: fc.nat(whole.length - 1), byte: fc.nat(255) });
    await fc.assert(
      fc.asyncProperty(change, async ({ place, byte }) => {
        const changed = Buffer.from(whole);
        changed[place] = byte;
        const path = file(`changed.${format}`, changed);
        await readTable(path).catch((error) => {
          assert.match(
            error.code,
            /^ERR_(MALFORMED|UNSUPPORTED|TOO_LARGE|NOT_FINITE|INVALID_ARGUMENT|OUT_OF_RANGE)/,
            error.stack,
          );
        });
      }),
      { numRuns: 400 },
    );
  }
});

test('Columns that a file lacks or has twice are refused; so are names that a format cannot hold.', async () => {
  const one = Matrix.from([[1, 2]]);
  for (const format of ['csv', 'arrow', 'parquet'] as const) {
    const path = at(`named.${format}`);
    await writeTable(path, one, { names: ['a', 'b'] });
    const reversed = await readTable(path, { columns: ['b', 'a'] });
    assert.equal([reversed.names, reversed.rows.toArray()], [['b', 'a'], [[2, 1]]]);
    await throwsCode('ERR_INVALID_ARGUMENT', '`columns` has (c), which', () => readTable(path, { columns: ['c'] }));
    await throwsCode('ERR_INVALID_ARGUMENT', '`columns` has (a) twice', () => readTable(path, { columns: ['a', 'a'] }));
    await throwsCode('ERR_INVALID_ARGUMENT', 'is empty (0)', () => readTable(path, { columns: [] }));
    const said = '`names` has (1) entries, but `rows` has (2) columns.';
    await throwsCode('ERR_SHAPE', said, () => writeTable(path, one, { names: ['a'] }));
    if (format !== 'csv')
      await throwsCode('ERR_INVALID_ARGUMENT', '(a) occurs twice', () => writeTable(path, one, { names: ['a', 'a'] }));
    assert.equal((await readTable(path)).names, ['a', 'b'], 'the old file stays');
  }
  await writeTable(at('bare.npy'), one);
  await throwsCode('ERR_INVALID_ARGUMENT', 'has no column names', () => readTable(at('bare.npy'), { columns: ['a'] }));
  await throwsCode('ERR_INVALID_ARGUMENT', '`columns` has (twice), which', () =>
    readTable(file('twice.csv', 'twice,twice\n1,2\n'), { columns: ['twice'] }),
  );
});

test('Lists of numbers are written as float64.', async () => {
  const rows = [[1.23456789012345, 123456789, 1e300]];
  for (const format of ['csv', 'npy', 'arrow', 'arrows', 'parquet'] as const) {
    await writeTable(at(`list.${format}`), rows);
    assert.equal((await readTable(at(`list.${format}`))).rows.toArray(), rows, format);
  }
});

test('Options are checked; a format is found by the file name ending, or is given.', async () => {
  const one = Matrix.from([[1, 2]]);
  await throwsCode('ERR_INVALID_ARGUMENT', '.txt', () => writeTable(at('x.txt'), one));
  await throwsCode('ERR_INVALID_ARGUMENT', "('xls')", () => writeTable(at('x.csv'), one, { format: 'xls' as 'csv' }));
  await throwsCode('ERR_UNKNOWN_OPTION', '(name)', () => writeTable(at('x.csv'), one, { name: [] } as object));
  await throwsCode('ERR_UNKNOWN_OPTION', '(column)', () => readTable(at('x.csv'), { column: [] } as object));
  await throwsCode('ERR_INVALID_ARGUMENT', "('keep')", () => readTable(at('x.csv'), { missing: 'keep' as 'drop' }));
  await throwsCode('ERR_INVALID_ARGUMENT', '(a)', () => readTable(at('x.csv'), { columns: 'a' as never }));
  await throwsCode('ERR_INVALID_ARGUMENT', '`rows` has type (int32)', () =>
    writeTable(at('x.npy'), Matrix.from(Int32Array.of(1), { columns: 1 })),
  );
  await writeTable(at('x.FEATHER'), one);
  assert.equal((await readTable(at('x.FEATHER'))).rows.toArray(), [[1, 2]]);
  await writeTable(at('odd'), one, { format: 'parquet' });
  assert.equal((await readTable(at('odd'), { format: 'parquet' })).rows.toArray(), [[1, 2]]);
});

test('A writer accepts only rows that fit its header, and a file appears only when it is complete.', async () => {
  const head = { names: undefined, columns: 2, dtype: 'float32', rows: 2 } as const;
  const open = async (format: TableFormat, given = {}) =>
    openTableWriter(await openOutputFile(at('held')), format, { ...head, ...given });
  for (const format of tableFormats) {
    const writer = await open(format);
    await throwsCode('ERR_SHAPE', '(3)', () => writer.write(new Float32Array(3)));
    await throwsCode('ERR_INVALID_ARGUMENT', '(float64)', () => writer.write(new Float64Array(2)));
    await throwsCode('ERR_SHAPE', '(0)', () => writer.finish());
    await writer.write(new Float32Array(4));
    assert.not.ok(existsSync(at('held')));
    await writer.finish();
    assert.ok(existsSync(at('held')));
    rmSync(at('held'));
    const more = await open(format);
    await throwsCode('ERR_SHAPE', '(3)', () => more.write(new Float32Array(6)));
    await more.discard();
  }
  assert.not.ok(readdirSync(folder).some((name) => name.includes('partial')));
});

test('Standard output has one listener, however often tables are written there.', () => {
  const before = process.stdout.listenerCount('error');
  for (let i = 0; i < 20; i++) standardOutput();
  assert.ok(process.stdout.listenerCount('error') <= before + 1);
});

test('A full disk is reported in every format, and the old file stays.', async () => {
  if (!existsSync('/dev/full')) return console.log('  (/dev/full is not here: full disks are not tried)');
  for (const format of tableFormats) {
    symlinkSync('/dev/full', at(`full.${format}`));
    await throwsCode('ERR_DISK_FULL', `full.${format}`, () => writeTable(at(`full.${format}`), Matrix.from([[1, 2]])));
  }
  assert.ok(existsSync('/dev/full'));
});

test('Columns of an Arrow file are read directly into rows: in order, some of them, and without rows that lack a number.', async () => {
  const [rows, columns] = [300_000, 5];
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const dtype of ['float32', 'float64'] as const) {
    const values = zerosOf(dtype, rows * columns) as Real;
    for (let i = 0; i < values.length; i++) values[i] = i + 0.5;
    const path = at(`straight-${dtype}.arrow`);
    await writeTable(path, Matrix.from(values, { columns }), { names });
    assert.ok(bits((await readTable(path)).rows.data).equals(bits(values)));
    const some = await readTable(path, { columns: ['e', 'b'] });
    assert.equal(some.names, ['e', 'b']);
    for (const row of [0, 123_456, rows - 1])
      assert.equal(Array.from(some.rows.data.slice(2 * row, 2 * row + 2)), [5 * row + 4.5, 5 * row + 1.5]);
    // Another number in column c.
    const bytes = readFileSync(path);
    const put = (row: number, number: number) => {
      const [from, to] = [5 * row + 2.5, number].map((one) =>
        bits(dtype === 'float32' ? Float32Array.of(one) : Float64Array.of(one)),
      );
      const place = bytes.indexOf(from!);
      assert.is(bytes.indexOf(from!, place + 1), -1, 'It is there once.');
      to!.copy(bytes, place);
    };
    put(7, Number.NaN);
    put(299_998, Number.NaN);
    const holes = file(`holes-${dtype}.arrow`, bytes);
    const kept = await readTable(holes, { missing: 'drop' });
    assert.is(kept.dropped, 2);
    const expected = values.filter((_, i) => ![7, 299_998].includes(Math.floor(i / columns)));
    assert.ok(bits(kept.rows.data).equals(bits(expected)));
    const missing = await throwsCode('ERR_NOT_FINITE', 'Row (7), column (c)', () => readTable(holes));
    assert.equal([missing.row, missing.column], [7, 2]);
    put(150_000, Infinity);
    file(`holes-${dtype}.arrow`, bytes);
    await throwsCode('ERR_NOT_FINITE', 'Row (150000), column (c)', () => readTable(holes, { missing: 'drop' }));
    const reader = await openTable(path);
    const whole = reader.whole!();
    truncateSync(path, bytes.length / 2);
    await whole.then(
      () => assert.unreachable('Half of it is gone.'),
      ({ code }) => assert.match(code, /^ERR_(MALFORMED_ARROW|FILE_UNREADABLE)$/),
    );
    await reader.close();
  }
});

test.run();
