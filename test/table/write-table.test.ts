// NumPy, DuckDB and, if installed, pyarrow read the files that covarium writes: names, and numbers to the bit.
// Closing rows while they are written is an error; a signal ends an iterable that gives no next block.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Matrix, type Real, readTable, type TableInput, writeTable } from '../../lib/index.ts';
import { tableFormats } from '../../lib/table/format.ts';
import { throwsCode } from '../harness/throws-code.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-elsewhere-'));
const at = (name: string) => join(folder, name);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const names = ['a', 'b "c", d', '\u00e9t\u00e9 \u{1f427}'];
// Extremes, subnormals, negative zero and all exponents; no NaN, because there are many.
const extremes = [0, -0, 1, -1, Infinity, -Infinity, 5e-324, 1.401298464324817e-45, 3.4028234663852886e38, 1 / 3];
const count = 20_000;
const numbers = Float64Array.from({ length: 3 * count }, (_, i) => extremes[i] ?? Math.sin(i) * 2 ** ((i % 240) - 120));
const tables = { float32: Float32Array.from(numbers), float64: numbers };
const bits = (values: Real) => Buffer.from(values.buffer, values.byteOffset, values.byteLength);

// Debian's own Python, which has python3-numpy.
const python = ['/usr/bin/python3', 'python3'].find((path) => spawnSync(path, ['-c', 'import numpy']).status === 0);
if (python === undefined) console.log('  (NumPy is not here: apt-get install python3-numpy; it reads no file of ours)');
else
  for (const [dtype, values] of Object.entries(tables))
    test(`NumPy reads our NPY of ${dtype}, in place as well.`, async () => {
      await writeTable(at('ours.npy'), Matrix.from(values, { columns: 3 }));
      const script = `import numpy, sys
for mode in (None, 'r'):
    rows = numpy.load(sys.argv[1], mmap_mode=mode)
    assert rows.shape == (${count}, 3) and rows.dtype == numpy.${dtype} and rows.flags.c_contiguous
rows.tofile(sys.argv[2])`;
      const { status, stderr } = spawnSync(python, ['-c', script, at('ours.npy'), at('theirs')], {
        env: { ...process.env, LD_PRELOAD: undefined },
        encoding: 'utf8',
      });
      assert.is(status, 0, stderr);
      assert.equal(readFileSync(at('theirs')), bits(values));
    });

const arrowPython = ['python3', '/usr/bin/python3'].find(
  (path) => spawnSync(path, ['-c', 'import pyarrow, numpy']).status === 0,
);
if (arrowPython === undefined) console.log('  (pyarrow is not here: it reads no file of ours; flechette does)');
else
  for (const [dtype, values] of Object.entries(tables))
    test(`pyarrow reads our Arrow file and stream of ${dtype}.`, async () => {
      await writeTable(at('ours.arrow'), Matrix.from(values, { columns: 3 }), { names });
      await writeTable(at('ours.arrows'), Matrix.from(values, { columns: 3 }), { names });
      const script = `import json, numpy, pyarrow, sys
for i, open_reader in ((1, pyarrow.ipc.open_file), (2, pyarrow.ipc.open_stream)):
    table = open_reader(sys.argv[i]).read_all()
    table.validate(full=True)
    assert table.column_names == json.loads(sys.argv[4])
    numpy.stack([column.to_numpy() for column in table.columns], 1).tofile(sys.argv[3] + str(i))`;
      const paths = [at('ours.arrow'), at('ours.arrows'), at('arrow')];
      const { status, stderr } = spawnSync(arrowPython, ['-c', script, ...paths, JSON.stringify(names)], {
        env: { ...process.env, LD_PRELOAD: undefined },
        encoding: 'utf8',
      });
      assert.is(status, 0, stderr);
      for (const which of ['arrow1', 'arrow2']) assert.equal(readFileSync(at(which)), bits(values));
    });

// Its binary is an optional package for each platform.
const duckdb = await import('@duckdb/node-api').catch(() => undefined);
if (duckdb === undefined) console.log('  (DuckDB has no binary for this platform: it reads no file of ours)');
else
  for (const [dtype, values] of Object.entries(tables)) {
    const rowsOf = async (query: string): Promise<{ names: string[]; types: string[]; values: Real }> => {
      const instance = await duckdb.DuckDBInstance.create(':memory:', { threads: '1' });
      const connection = await instance.connect();
      try {
        const result = await connection.runAndReadAll(query);
        const flat = result.getRows().flat() as number[];
        return {
          names: result.columnNames(),
          types: result.columnTypes().map(String),
          values: dtype === 'float32' ? Float32Array.from(flat) : Float64Array.from(flat),
        };
      } finally {
        connection.closeSync();
        instance.closeSync();
      }
    };
    const type = dtype === 'float32' ? 'FLOAT' : 'DOUBLE';

    test(`DuckDB reads our Parquet of ${dtype}, whole and in parts.`, async () => {
      await writeTable(at('part-0.parquet'), Matrix.from(values.subarray(0, 3 * 777), { columns: 3 }), { names });
      await writeTable(at('part-1.parquet'), Matrix.from(values.subarray(3 * 777), { columns: 3 }), { names });
      const read = await rowsOf(`SELECT * FROM read_parquet('${at('part-*.parquet')}')`);
      assert.equal([read.names, read.types], [names, [type, type, type]]);
      assert.equal(bits(read.values), bits(values));
    });

    test(`DuckDB reads our CSV of ${dtype}.`, async () => {
      await writeTable(at('ours.csv'), Matrix.from(values, { columns: 3 }), { names });
      const columns = names.map((name) => `'${name}': '${type}'`).join(', ');
      const read = await rowsOf(`SELECT * FROM read_csv('${at('ours.csv')}', header = true, columns = {${columns}})`);
      assert.equal(read.names, names);
      assert.equal(bits(read.values), bits(values));
    });
  }

test('A table is written with the names of its columns, and so is one that was read from a file.', async () => {
  const tables = [{ a: [1, 2], b: [3, 4] }, [1, 2].map((a) => ({ a, b: a + 2 }))];
  for (const table of tables) {
    await writeTable(at('named.csv'), table);
    assert.is(readFileSync(at('named.csv'), 'utf8'), 'a,b\n1,3\n2,4\n');
  }
  const read = await readTable(at('named.csv'));
  await writeTable(at('again.parquet'), read);
  assert.equal((await readTable(at('again.parquet'))).names, ['a', 'b']);
  await writeTable(at('named.csv'), read, { names: ['c', 'd'] });
  assert.is(readFileSync(at('named.csv'), 'utf8').split('\n')[0], 'c,d');
  async function* blocks() {
    yield* tables;
  }
  await writeTable(at('named.csv'), blocks());
  assert.is(readFileSync(at('named.csv'), 'utf8'), 'a,b\n1,3\n2,4\n1,3\n2,4\n');
  await throwsCode('ERR_INVALID_ARGUMENT', 'Pass its `rows`', () => Matrix.from(read as never));
});

test('A table that was read is written after structuredClone, which postMessage uses, and after JSON.', async () => {
  const table = { names: ['a', 'b'], rows: Matrix.from(Float32Array.of(0.1, 2, 3, 4), { columns: 2 }), dropped: 0 };
  for (const copy of [structuredClone(table), JSON.parse(JSON.stringify(table)) as TableInput]) {
    await writeTable(at('copy.arrow'), copy);
    const { names, rows } = await readTable(at('copy.arrow'));
    assert.equal([names, rows.dtype, rows.toArray()], [['a', 'b'], 'float32', table.rows.toArray()]);
  }
  await writeTable(at('copy.arrow'), structuredClone(table.rows));
  assert.is((await readTable(at('copy.arrow'))).rows.dtype, 'float32');
});

test('A block with other columns than the first, or with the same in another order, is refused.', async () => {
  async function* blocks(second: TableInput) {
    yield { a: [1], b: [2] };
    yield second;
  }
  for (const path of [at('other.csv'), at('other.parquet')]) {
    for (const [shown, other] of [
      ['(b, a)', { b: [20], a: [10] }],
      ['(a, c)', { a: [10], c: [20] }],
    ] as const) {
      const refusal = `Block (1) of \`rows\` has columns ${shown}, but the first has (a, b)`;
      await throwsCode('ERR_SHAPE', refusal, () => writeTable(path, blocks(other)));
      await throwsCode('ERR_SHAPE', refusal, () => writeTable(path, blocks(other), { names: ['x', 'y'] }));
    }
    assert.not.ok(existsSync(path));
    await writeTable(path, blocks([[10, 20]]));
    assert.equal((await readTable(path)).rows.toArray()[1], [10, 20]);
  }
});

test('A refused block is named by its index.', async () => {
  async function* blocks(second: TableInput) {
    yield [[1, 2]];
    yield second;
  }
  const closed = Matrix.from([[1, 2]], { dtype: 'float64' });
  closed.close();
  for (const [code, words, second] of [
    ['ERR_SHAPE', 'has (0) rows', []],
    ['ERR_SHAPE', 'has (1) columns, but the first has (2)', [[1]]],
    ['ERR_INVALID_ARGUMENT', 'has type (float32), but the first has (float64)', Matrix.from([[1, 2]])],
    ['ERR_CLOSED', 'is closed', closed],
  ] as const)
    await throwsCode(code, `Block (1) of \`rows\` ${words}`, () =>
      writeTable(at('refused.csv'), blocks(second as never)),
    );
  await throwsCode('ERR_CLOSED', '`rows` is closed', () => writeTable(at('refused.csv'), closed));
});

test('A signal ends the writing of an iterable that never gives its next block.', async () => {
  const never = new Promise<never>(() => {});
  const mute: AsyncIterable<TableInput> = { [Symbol.asyncIterator]: () => ({ next: () => never }) };
  async function* stalled() {
    yield [[1]];
    await never;
  }
  for (const rows of [mute, stalled()]) {
    const abort = new AbortController();
    setTimeout(() => abort.abort(new Error('enough')), 30);
    await throwsCode('ERR_ABORTED', 'enough', () => writeTable(at('never.csv'), rows, { signal: abort.signal }));
  }
  assert.not.ok(readdirSync(folder).some((name) => name.includes('never.csv')));
});

test('A name with half of a surrogate pair is refused, and one with a whole pair is written.', async () => {
  for (const format of ['csv', 'arrow', 'arrows', 'parquet']) {
    const path = at(`pairs.${format}`);
    const halves = { names: ['a\ud83d', 'a\udc27'] };
    await throwsCode('ERR_INVALID_ARGUMENT', 'half of a surrogate pair', () => writeTable(path, [[1, 2]], halves));
    assert.not.ok(existsSync(path));
    await writeTable(path, [[1, 2]], { names: ['a\ud83d\udc27', 'a'] });
    assert.equal((await readTable(path)).names, ['a\ud83d\udc27', 'a']);
  }
});

test('A byte order mark at the start of a name is kept.', async () => {
  const marked = ['\ufeffa', 'a'];
  for (const format of ['csv', 'arrow', 'arrows', 'parquet']) {
    await writeTable(at(`marked.${format}`), [[1, 2]], { names: marked });
    const { names, rows } = await readTable(at(`marked.${format}`), { columns: marked });
    assert.equal([names, rows.toArray()], [marked, [[1, 2]]], format);
  }
});

test('Names that are not strings, and a wrong number of rows, are refused before anything is written.', async () => {
  for (const names of [[1, 2], 'ab', [null, 'b'], new Array(2)] as never[])
    await throwsCode('ERR_INVALID_ARGUMENT', '`names` is', () => writeTable(at('none.csv'), [[1, 2]], { names }));
  const two = [[1], [2]];
  async function* blocks() {
    yield two;
  }
  for (const count of [1, 5])
    for (const rows of [two, blocks()])
      await throwsCode('ERR_SHAPE', `\`count\` is (${count}), but there are (2) rows`, () =>
        writeTable(at('none.parquet'), rows, { count }),
      );
  assert.not.ok(existsSync(at('none.csv')) || existsSync(at('none.parquet')));
});

for (const format of tableFormats)
  test(`A block that is closed while it is written as ${format} is an error, never a shorter file.`, async () => {
    for (const delay of [0, 0, 1, 2, 4, 8]) {
      const [first, second] = [1 << 17, 10];
      const path = at(`closed.${format}`);
      async function* blocks() {
        const values = new Float64Array(2 * first).fill(1 / 3);
        setTimeout(() => structuredClone(values, { transfer: [values.buffer] }), delay);
        yield Matrix.from(values, { columns: 2 });
        yield Matrix.from(new Float64Array(2 * second), { columns: 2 });
      }
      const code = await writeTable(path, blocks()).catch((error: { code?: string }) => error.code ?? String(error));
      if (code === undefined) assert.is((await readTable(path)).rows.rows, first + second);
      else assert.is(code, 'ERR_CLOSED');
      const rows = Matrix.from(new Float64Array(2 * first), { columns: 2 });
      const writing = writeTable(path, rows);
      structuredClone(rows.data, { transfer: [rows.data.buffer as ArrayBuffer] });
      await throwsCode('ERR_CLOSED', '', () => writing);
    }
  });

test.run();
