// CSV as other tools write it by default: written/README.md says what is in the files.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readTable, type TableOptions, writeTable } from '../../lib/index.ts';
import { throwsCode } from '../harness/throws-code.ts';

const folder = fileURLToPath(new URL('written/', import.meta.url));
const rows = [
  [1.5, -2],
  [1e-7, 123456789.125],
  [0.1, 1e22],
];
const quiet: TableOptions = { warn: () => {} };
const files = readdirSync(folder).filter((name) => name.endsWith('.csv'));
assert.is(files.length, 16);

async function read(text: string, options: TableOptions = {}) {
  const warnings: string[] = [];
  const warn = (sentence: string) => warnings.push(sentence);
  const { names, rows } = await readTable(Buffer.from(text), { format: 'csv', warn, ...options });
  return { names, rows: rows.toArray(), warnings };
}

for (const file of files)
  test(`${file} is read, or refused with an error that says what it is.`, async () => {
    const path = folder + file;
    const others = { ...quiet, columns: ['a', 'b'] };
    if (file.includes('holes')) {
      const { rows: kept, dropped } = await readTable(path, { ...others, missing: 'drop' });
      assert.equal([kept.toArray(), dropped], [[[2.5, 3.5]], 1]);
      const refused = await throwsCode('ERR_MALFORMED_CSV', '--missing drop', () => readTable(path, others));
      assert.is(refused.line, 2);
    } else if (file === 'numpy-savetxt.csv') {
      const { names, rows: read } = await readTable(path, quiet);
      assert.equal([names, read.toArray()], [undefined, rows]);
    } else if (file === 'r-write-csv2.csv')
      await throwsCode('ERR_MALFORMED_CSV', 'with a point, not a comma', () => readTable(path, quiet));
    else {
      assert.equal((await readTable(path, others)).rows.toArray(), rows);
      const warnings: string[] = [];
      const all = await readTable(path, { warn: (sentence) => warnings.push(sentence) });
      const first = file === 'pandas.csv' ? 0 : 1;
      const isNamed = file.includes('named');
      const hasIndex = /^(r-|pandas)/.test(file) && !isNamed;
      assert.equal(all.names, hasIndex ? ['', 'a', 'b'] : ['a', 'b']);
      assert.equal(all.rows.toArray(), hasIndex ? rows.map((row, i) => [first + i, ...row]) : rows);
      assert.is(
        warnings.some((sentence) => /First column .* has no name/.test(sentence)),
        hasIndex || isNamed,
      );
    }
  });

test('CSV saved by spreadsheets is read: byte order mark, CRLF, semicolons, a first line that names the separator.', async () => {
  const mark = '\ufeff';
  for (const [text, warned] of [
    [`${mark}a,b\r\n1,2.5\r\n3,4\r\n`, 0],
    [`${mark}a;b\r\n1;2.5\r\n3;4\r\n`, 1],
    ['sep=;\r\na;b\r\n1;2.5\r\n3;4\r\n', 0],
    [`${mark}sep=;\na;b\n1;2.5\n3;4\n`, 0],
    ['SEP=\t\ra\tb\r1\t2.5\r3\t4', 0],
    ['sep=,\n\n"a","b"\n1,2.5\n3,4\n', 0],
  ] as const) {
    const warnings: string[] = [];
    const read = await readTable(Buffer.from(text), { warn: (sentence) => warnings.push(sentence) });
    assert.equal(
      [read.names, read.rows.toArray()],
      [
        ['a', 'b'],
        [
          [1, 2.5],
          [3, 4],
        ],
      ],
      text,
    );
    assert.is(warnings.length, warned);
  }
  const refused = (text: string, shown: string, options = quiet) =>
    throwsCode('ERR_MALFORMED_CSV', shown, () => readTable(Buffer.from(text), options));
  assert.is((await refused('sep=;\na;b\n1;x\n', 'line 3, character 3')).line, 3);
  await refused('sep=;\na;b\n1;2\n', 'semicolons separate', { ...quiet, delimiter: ',' });
  await refused('sep=;\n', 'is empty');
  await refused('a;b\n1,5;2\n', 'with a point, not a comma');
  await refused('a;b\n1.234,5;2\n', 'no separators of thousands');
  await refused('a,b\n"1,234",2\n', 'no separators of thousands');
  const told: readonly (readonly [words: string, texts: readonly string[]])[] = [
    ['the number alone, without a unit', ['$5', '5%', '-5.5 %', '5 \u20ac', '-$5', '"1.234,50 \u20ac"']],
    ['no separators of thousands', ['1 234', '1\u00a0234\u202f567', "1'234.5", '1\u2019234', '1_234']],
    ['write a negative number as -1.5', ['(5)', '\u22125', '5-']],
    ['looks like a date; pass the other `columns`', ['2020-01-31', '1/31/2020', '31.01.2020', '2020-01-31 12:30']],
    ['error value of a spreadsheet', ['#NV', '#WERT!', '#N/D', '#\u00bfNOMBRE?']],
  ];
  for (const [words, texts] of told) for (const text of texts) await refused(`a,b\n1,${text}\n`, words);
  await refused('a,b,\n1,2,\n', 'Field of column 3, which has no name, is empty; pass the other `columns`');
  // Names that look like such a line are quoted, so that they can be read again.
  const path = join(mkdtempSync(join(tmpdir(), 'covarium-dialect-')), 'odd.csv');
  try {
    for (const names of [['sep=;'], ['sep=', '']]) {
      await writeTable(path, [names.map(() => 1.5)], { names });
      assert.equal((await readTable(path, quiet)).names, names);
    }
  } finally {
    rmSync(dirname(path), { recursive: true });
  }
});

test('Names that are not UTF-8 give a warning, and the numbers are read.', async () => {
  for (const [text, encoding, warned] of [
    ['gr\u00f6\u00dfe,b\n1,2\n', 'latin1', true],
    ['gr\u00f6\u00dfe,b\n1,2\n', 'utf8', false],
    ['\ufffd,b\n1,2\n', 'utf8', false],
  ] as const) {
    const warnings: string[] = [];
    const { rows } = await readTable(Buffer.from(text, encoding), { warn: (sentence) => warnings.push(sentence) });
    assert.equal(rows.toArray(), [[1, 2]]);
    assert.is(/are not UTF-8/.test(warnings.join()), warned, text);
  }
});

test('A file that is not text is refused with an error that says what it is, before any rows are read.', async () => {
  const refused = (bytes: Uint8Array, shown: string) =>
    throwsCode('ERR_UNSUPPORTED', shown, () => readTable(bytes, { format: 'csv' }));
  await refused(Buffer.from('PK\x03\x04\x14\0\0\0xl/workbook.xml'), "a spreadsheet's own format");
  await refused(Buffer.from('\x1f\x8b\x08\0\0\0\0\0', 'latin1'), 'gzip');
  for (const [start, name] of [
    ['\x28\xb5\x2f\xfd\x24\x08', 'Zstandard'],
    ['\xfd7zXZ\0\0\x04', 'xz'],
    ['\x04\x22\x4d\x18\x60\x40', 'LZ4'],
    ['BZh91AY&SY\xbe', 'bzip2'],
    ['BZh9\x17rE8P\x90\0', 'bzip2'],
  ] as const)
    await refused(Buffer.from(start, 'latin1'), `compressed with ${name}`);
  await refused(Buffer.from('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0', 'latin1'), '.xls');
  await refused(Buffer.from('\x93NUMPY\x01\0', 'latin1'), '--format npy');
  await refused(Buffer.from('PAR1\x15\x04'), '--format parquet');
  await refused(Buffer.from('ARROW1\0\0'), '--format arrow');
});

test('Column names that begin like a file of another format are names.', async () => {
  for (const names of [
    ['PAR1', 'PAR2'],
    ['BZh9', 'b'],
  ]) {
    const bytes = Buffer.from(`${names}\n1,2\n`);
    for (const options of [{}, { format: 'csv' }] as const) {
      const table = await readTable(bytes, options);
      assert.equal([table.names, table.rows.toArray()], [names, [[1, 2]]]);
    }
  }
});

test("Names of R's rows have no name above them; texts are left out, and numbers by naming the other columns.", async () => {
  const rows = [
    [1.5, 4],
    [2, 5.25],
  ];
  const table = '"a" "b"\n"1" 1.5 4\n"2" 2 5.25\n';
  for (const text of [table, table.replaceAll(' ', ','), table.replaceAll(' ', '\t'), table.replaceAll('\n', '\r\n')]) {
    const all = await readTable(Buffer.from(text), quiet);
    assert.equal([all.names, all.rows.toArray()], [['', 'a', 'b'], rows.map((row, i) => [i + 1, ...row])], text);
    assert.equal((await readTable(Buffer.from(text), { ...quiet, columns: ['a', 'b'] })).rows.toArray(), rows, text);
  }
  const texts = await read(table.replace('"1"', '"Mazda RX4"').replaceAll(' ', ',').replace('Mazda,', 'Mazda '));
  assert.equal([texts.names, texts.rows], [['a', 'b'], rows]);
  assert.match(texts.warnings.join(), /First column of CSV file .* has no name and holds texts/);
  const named = Buffer.from(table.replace('"2"', '"Mazda RX4"'));
  assert.equal((await readTable(named, { ...quiet, columns: ['b'] })).rows.toArray(), [[4], [5.25]]);
  const error = await throwsCode('ERR_MALFORMED_CSV', 'names of the rows', () => readTable(named, quiet));
  assert.equal([error.line, error.column], [3, 1]);
  // An extra delimiter at the ends of rows is another mistake.
  for (const text of ['a,b\n1,2,\n', 'a,b\n1,2,3\n', '"a","b"\n"1","2","3"\n', '"a" "b"\n"1" "2" "3"\n'])
    await throwsCode('ERR_MALFORMED_CSV', () => readTable(Buffer.from(text), { ...quiet, format: 'csv' }));
  assert.equal((await readTable(Buffer.from('a b\n1 2\n'), quiet)).names, ['a', 'b']);
});

test('A quote that does not end is refused in the header too, where all rows would be a name.', async () => {
  for (const text of ['a,"b\n1,2\n3,4\n', '"a', '"a;b\n1;2\n'])
    await throwsCode('ERR_MALFORMED_CSV', 'Quote in the header', () => read(text));
  assert.equal((await read('"a"')).names, ['a']);
});

test("R's write.table is read beside its texts in quotes, with names of rows and without.", async () => {
  const mixed = '"g" "x" "when"\n"1" "a b" 1.5 2024-01-01\n"2" NA 4 NA\n';
  const bare = mixed.replaceAll(/^"\d" /gm, '');
  const tabs = mixed.replaceAll(' ', '\t').replace('a\tb', 'a b');
  for (const text of [mixed, bare, tabs, tabs.replaceAll('\t', ',')])
    assert.equal((await read(text, { columns: ['x'] })).rows, [[1.5], [4]], text);
  await throwsCode('ERR_MALFORMED_CSV', 'column (g) is not a finite decimal number (a b)', () => read(mixed));
  await throwsCode('ERR_MALFORMED_CSV', 'not a comma', () => read('"x" "y"\n"1" 1,5 3\n'));
  const tooMany = '"g","h","x"\n"a","b",2,\n';
  await throwsCode('ERR_MALFORMED_CSV', 'column (h) is not', () => read(tooMany, { columns: ['h'] }));
  await throwsCode('ERR_MALFORMED_CSV', 'has (4) fields', () => read(tooMany, { columns: ['x'] }));
});

test('If blanks separate the fields, an error names the column of its field.', async () => {
  for (const [text, what] of [
    ['a b\n1 2\n3 x\n', 'column (b) is not a finite decimal number (x)'],
    ['a b\n1 2\n  NA  4\n', 'column (a) is missing'],
    ['"a" "b"\n"1" 2 Inf\n', 'column (b) is not a finite decimal number (Inf)'],
  ] as const)
    await throwsCode('ERR_MALFORMED_CSV', what, () => read(text));
});

test('A file from a stream gives the same errors.', async () => {
  const stream = async function* () {
    yield readFileSync(`${folder}r-write-table.csv`);
  };
  assert.equal((await readTable(stream(), { ...quiet, columns: ['b'] })).rows.toArray(), [
    [-2],
    [123456789.125],
    [1e22],
  ]);
});

test('The first row is taken as a header if people would; doubtful cases give a warning.', async () => {
  const cases: [text: string, names: string[] | undefined, warnings: RegExp | undefined][] = [
    ['a,b\n1,2\n', ['a', 'b'], undefined],
    ['"",a\n1,2\n', ['', 'a'], undefined],
    [',a\n1,2\n', ['', 'a'], undefined],
    ['1,2\n3,4\n', undefined, undefined],
    ['1.5,2.5\n3.5,4.5\n', undefined, undefined],
    // pandas' columns without names, without and with its index
    ['0,1\n1.5,2.5\n', ['0', '1'], /as names of columns \(0, 1\); pass `header` false \(--no-header\)/],
    [',0,1\n0,1.5,2.5\n', ['', '0', '1'], /as names/],
    [',2018,2019\n0,1.5,2\n1,3,4\n', ['', '2018', '2019'], /as names of columns \(, 2018, 2019\)/],
    [',0.05,0.5,0.95\n0.05,1,0,0\n0.5,0,1,0\n0.95,0,0,1\n', ['', '0.05', '0.5', '0.95'], /as names/],
    [',-1.5,2\n0,1,2\n', ['', '-1.5', '2'], /as names/],
    ['2020,2021\n1.5,2e3\n', ['2020', '2021'], /as names of columns \(2020, 2021\)/],
    ['2022,2018\n1.5,2e3\n', ['2022', '2018'], /as names of columns \(2022, 2018\)/],
    ['2022,2018\n1,2\n', undefined, /as numbers \(2022, 2018\)/],
    ['a,b,a\n1,2,3\n', ['a', 'b', 'a'], /two columns with the name \(a\)/],
    ['a|b\n1|2\n', ['a', 'b'], /read with bars between .* \(--delimiter '\|'\)/],
    ['2020.0,2021.0\n1.5,2e3\n', ['2020.0', '2021.0'], /as names/],
    ['10,20,30\n0.5,1.5,2.5\n', ['10', '20', '30'], /as names/],
    ['90210,10001\n0.5,1.5\n', ['90210', '10001'], /as names/],
    ['90210,10001\n0.5,1.5\n7,8\n', undefined, undefined],
    ['5,5\n0.5,1.5\n', undefined, undefined],
    ['10,20,30\n5,7,9\n', undefined, /as numbers/],
    ['2020,2021\n1,2\n', undefined, /as numbers \(2020, 2021\); pass `header` true \(--header\)/],
    ['0,1\n1,0\n', undefined, /as numbers/],
    ['id,2020,2021\n1,2,3\n', ['id', '2020', '2021'], /as names/],
    ['"2020","2021"\n1,2\n', ['2020', '2021'], undefined],
    ['"1","2"\n"3","4"\n', undefined, undefined],
  ];
  for (const [text, names, warning] of cases) {
    const found = await read(text);
    assert.equal(found.names, names, text);
    const told = [warning, names?.[0] === '' ? /First column .* has no name .* \(--columns\)/ : undefined].filter(
      Boolean,
    );
    assert.is(found.warnings.length, told.length, `${text} ${found.warnings}`);
    for (const [i, sentence] of found.warnings.entries()) assert.match(sentence, told[i]!);
    assert.is((await read(text, { header: true })).names?.length, found.rows[0]!.length);
  }
  assert.equal((await read('1.5,x\n1,2\n', { header: true })).names, ['1.5', 'x']);
  assert.equal((await read('2020,2021\n1.5,2\n', { header: false })).rows[0], [2020, 2021]);
  for (const text of ['NaN,NA\n1,2\n', 'Infinity,-Infinity\n1,2\n', '0x10,0x20\n1,2\n', 'inf\n1\n']) {
    const error = await throwsCode('ERR_MALFORMED_CSV', 'line 1, character 1', () => read(text));
    assert.is(error.line, 1);
  }
  // A row of data whose first value is missing, as the rows below it show.
  for (const [text, warning] of [
    [',2018,2019\n,1.5,2\n1,3,4\n', undefined],
    [',1,0\n1,0,1\n0,1,1\n1,1,0\n', /as numbers \(, 1, 0\); pass `header` true/],
    [',5,5\n1,2,3\n', undefined],
    [',5,6\n', undefined],
    [',5,\n1,2,3\n', undefined],
  ] as const) {
    const found = await read(text, { missing: 'drop' });
    assert.is(found.names, undefined, text);
    assert.is(found.warnings.length, warning === undefined ? 0 : 1, `${text} ${found.warnings}`);
    if (warning !== undefined) assert.match(found.warnings[0]!, warning);
  }
  const named = await read(',2018,2019\nx,1.5,2\ny,3,4\n');
  assert.equal(
    [named.names, named.rows[1]],
    [
      ['2018', '2019'],
      [3, 4],
    ],
  );
  assert.equal((await read('NaN,NA\n1,2\n', { missing: 'drop' })).rows, [[1, 2]]);
  assert.equal((await read('a,b\n')).rows, []);
});

test('A web page and JSON are not taken as a header without rows.', async () => {
  for (const [text, kind] of [
    ['<html></html>', 'HTML'],
    ['<!DOCTYPE html><html><body>Not found, sorry</body></html>\n', 'HTML'],
    ['{"message": "Not found", "status": 404}', 'JSON'],
    ['[]\n', 'JSON'],
  ] as const)
    await throwsCode('ERR_MALFORMED_CSV', `is not a table of rows, but ${kind}.`, () => readTable(Buffer.from(text)));
  for (const [text, names] of [
    ['[a],[b]\n', ['[a]', '[b]']],
    ['<a>,{b}', ['<a>', '{b}']],
  ] as const)
    assert.equal((await readTable(Buffer.from(text))).names, names);
});

test('What is no letter for a delimiter or a comment, or is both, is refused by its name.', async () => {
  const refused = (told: string, options: TableOptions) =>
    throwsCode('ERR_INVALID_ARGUMENT', told, () => readTable(Buffer.from('a\n1\n'), options));
  for (const letter of ['', 'ab', '1', '.', '"', '\n', null as never]) {
    await refused('`delimiter` is', { delimiter: letter });
    await refused('`comment` is', { comment: letter });
  }
  await refused('`delimiter` and `comment` are the same letter (;)', { delimiter: ';', comment: ';' });
});

test.run();
