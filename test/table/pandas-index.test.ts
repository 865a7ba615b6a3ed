// The index of a pandas data frame in Parquet and Arrow files: foreign/README.md says what is in the files of pandas.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openOutputFile } from '../../lib/file/output.ts';
import { readTable, type TableOptions } from '../../lib/index.ts';
import { openTableWriter } from '../../lib/table/write-table.ts';
import { run } from '../harness/command-line.ts';
import { throwsCode } from '../harness/throws-code.ts';

const foreign = fileURLToPath(new URL('foreign/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'covarium-index-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

async function read(path: string, options: TableOptions = {}) {
  const warnings: string[] = [];
  const table = await readTable(path, { missing: 'drop', warn: (sentence) => warnings.push(sentence), ...options });
  return { names: table.names, rows: table.rows.toArray(), warnings };
}

for (const [file, index] of [
  ['pandas-index.parquet', '__index_level_0__'],
  ['pandas-index.arrow', 'id'],
] as const) {
  test(`${file}: the index is left out with a warning, and is read if it is named.`, async () => {
    const { names, warnings } = await read(foreign + file);
    assert.equal(names, ['d', 'f', 'i', 'u', 'c', 'n']);
    assert.is(warnings.length, 1);
    assert.match(warnings[0]!, `Column (${index}) of file (${foreign}${file}) is the index of a pandas data frame`);
    const named = await read(foreign + file, { columns: ['i', index] });
    assert.equal([named.names, named.rows[5], named.warnings], [['i', index], [-475, 35], []]);
  });

  test(`${file}: the command reports the index in one line.`, async () => {
    const command = ['fit', foreign + file, '--missing', 'drop', '--singular', '--output', '-'];
    const { code, stdout, stderr } = await run(command);
    assert.is(code, 0, stderr);
    assert.equal((JSON.parse(stdout) as { columns: string[] }).columns, ['d', 'f', 'i', 'u', 'c', 'n']);
    assert.match(stderr, /^warning: Column \((__index_level_0__|id)\) .* left out; pass --columns to read it\.\n/);
  });
}

for (const format of ['parquet', 'arrow', 'arrows'] as const) {
  const withMetadata = async (pandas: string) => {
    const path = join(folder, `metadata.${format}`);
    const head = {
      names: ['a', 'b'],
      columns: 2,
      dtype: 'float64',
      rows: 1,
      metadata: { other: '{}', pandas },
    } as const;
    const writer = await openTableWriter(await openOutputFile(path), format, head);
    await writer.write(Float64Array.of(1, 2));
    await writer.finish();
    return path;
  };

  test(`Metadata of ${format} that pandas does not write are ignored.`, async () => {
    const longest = 4 << 20;
    for (const pandas of [
      ...['', '{', 'null', '7', '"b"', '[]', '{}', '{"index_columns": null}', '{"index_columns": "b"}'],
      ...['{"index_columns": {"0": "b", "length": 1}}', '{"index_columns": [["b"], {"name": "b"}, 1, null]}'],
      ...['{"index_columns": ["c", "__proto__"]}', '{"__proto__": {"index_columns": ["b"]}}'],
      ...['['.repeat(longest), `{"index_columns": ["b"]}${' '.repeat(longest)}`],
    ])
      assert.equal(
        await read(await withMetadata(pandas)),
        { names: ['a', 'b'], rows: [[1, 2]], warnings: [] },
        pandas.slice(0, 99),
      );
  });

  test(`A ${format} file whose columns are all pandas' index is refused, and read by their names.`, async () => {
    const one = await read(await withMetadata('{"index_columns": ["b", "c"]}'));
    assert.equal([one.names, one.rows], [['a'], [[1]]]);
    const path = await withMetadata('{"index_columns": ["a", "b"]}');
    await throwsCode('ERR_INVALID_ARGUMENT', 'Columns (a, b)', () => read(path));
    assert.equal((await read(path, { columns: ['b', 'a'] })).rows, [[2, 1]]);
  });
}

test.run();
