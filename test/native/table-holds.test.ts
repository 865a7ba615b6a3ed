// How long reading and writing hold the JavaScript thread, however large the file.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { holdsOf } from '../../bench/longest-hold.ts';
import { fit } from '../../lib/cli/fit.ts';
import { sample } from '../../lib/cli/sample.ts';
import { verify } from '../../lib/cli/verify.ts';
import { Matrix, writeTable } from '../../lib/index.ts';
import { tableFormats } from '../../lib/table/format.ts';
import { npyHeader } from '../../lib/table/npy.ts';
import { allowedMs, holdsShortly as holdsNoLonger, loop } from '../harness/holds.ts';
import { readsShortly } from '../harness/reads-shortly.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-holds-'));
const at = (name: string) => join(folder, name);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const [rows, columns] = [120_000, 8];
const values = Float64Array.from({ length: rows * columns }, (_, i) => Math.sin(i * i) * 1e3);
const holed = values.map((value, i) => (i % 77 === 5 ? Number.NaN : value));
const matrix = Matrix.from(values, { columns });

const allowed = await allowedMs();

async function holdsShortly(what: string, work: () => Promise<unknown>): Promise<void> {
  await holdsNoLonger(what, allowed!, work);
}

const readEveryWay = (path: string) => readsShortly(path, allowed!);

if (allowed !== undefined) {
  test('A loop of twice the length is measured to hold twice as long.', async () => {
    const twice = await holdsOf(async () => {
      await loop();
      await loop();
    });
    assert.ok(twice.longestMs > 1.3 * allowed, `(${twice.longestMs}) ms, and once (${allowed})`);
  });

  for (const format of tableFormats)
    test(`${format}: written whole and in small blocks, and read from a file, memory and a stream.`, async () => {
      const path = at(`table.${format}`);
      await holdsShortly(`Writing ${format}`, () => writeTable(path, matrix));
      const blocks = async function* () {
        const length = 64 * columns;
        for (let i = 0; i < values.length; i += length) yield Matrix.from(values.subarray(i, i + length), { columns });
      };
      await holdsShortly(`Writing ${format} in blocks`, () => writeTable(path, blocks()));
      await readEveryWay(path);
      if (format === 'csv') return;
      await writeTable(path, Matrix.from(holed, { columns }));
      await readEveryWay(path);
    });

  test('NPY in Fortran order, and of other types.', async () => {
    const header = npyHeader('float64', rows, columns);
    const text = Buffer.from(header).toString('latin1');
    const fortran = Buffer.from(text.replace('False,', 'True, '), 'latin1');
    writeFileSync(at('fortran.npy'), Buffer.concat([fortran, new Uint8Array(values.buffer)]));
    await readEveryWay(at('fortran.npy'));
    const integers = Buffer.from(text.replace('<f8', '<i8'), 'latin1');
    const words = BigInt64Array.from(values, (value) => BigInt(Math.round(value * 1e6)));
    writeFileSync(at('integers.npy'), Buffer.concat([integers, new Uint8Array(words.buffer)]));
    await readEveryWay(at('integers.npy'));
  });

  const duckdb = await import('@duckdb/node-api').catch(() => undefined);
  if (duckdb === undefined) console.log('skipped  compressed Parquet: DuckDB is not installed');
  else
    for (const compression of ['snappy', 'gzip', 'brotli', 'zstd', 'lz4_raw'])
      test(`Parquet compressed by DuckDB (${compression}).`, async () => {
        const instance = await duckdb.DuckDBInstance.create();
        const connection = await instance.connect();
        // DuckDB takes a minute to compress random numbers with Brotli.
        const number = compression === 'brotli' ? '(range % 1000)::DOUBLE' : 'random()';
        const numbers = Array.from({ length: columns }, (_, i) => `${number} AS x${i}`).join(', ');
        const path = at(`${compression}.parquet`);
        await connection.run(`COPY (SELECT ${numbers} FROM range(${rows})) TO '${path}' (COMPRESSION ${compression})`);
        connection.closeSync();
        instance.closeSync();
        await readEveryWay(path);
      });

  test('Fits, samples and their verification.', async () => {
    const signal = new AbortController().signal;
    const [model, draws] = [at('model.json'), at('draws.npy')];
    await writeTable(at('fit.csv'), matrix);
    await holdsShortly('A fit', () => fit([at('fit.csv')], { output: model }, signal));
    const drawing = { model, output: draws, count: '300000', seed: '1', stream: '0', firstRow: '0' };
    await holdsShortly('A sample', () => sample(drawing, signal));
    await holdsShortly('A verification', () => verify(draws, { model, rows: '1000' }, signal));
  });
}

test.run();
