// CSV: the same tests for both readers, the addon's and plain TypeScript; they must agree on every text.
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CovariumError } from '../../lib/covarium-error.ts';
import type { InputSource } from '../../lib/file/input.ts';
import { type CsvParser, nativeParser, openCsv, plainParser } from '../../lib/table/csv-reader.ts';
import { type LineWriter, nativeLines, openCsvWriter, plainLines } from '../../lib/table/csv-writer.ts';
import type { ReadRequest } from '../../lib/table/table.ts';
import fc from '../harness/properties.ts';
import { throwsCode } from '../harness/throws-code.ts';

interface Read {
  readonly names: readonly string[] | undefined;
  readonly rows: number[][];
  readonly dropped: number;
  readonly warnings: string[];
}

async function readWith(parser: CsvParser, source: InputSource, request: Partial<ReadRequest> = {}): Promise<Read> {
  const warnings: string[] = [];
  const warn = (sentence: string) => warnings.push(sentence);
  const reader = await openCsv(source, { columns: undefined, missing: 'error', warn, ...request }, parser);
  try {
    const rows: number[][] = [];
    const { columns, names } = reader.head;
    for await (const block of reader.blocks())
      for (let at = 0; at < block.length; at += columns) rows.push(Array.from(block.subarray(at, at + columns)));
    return { names, rows, dropped: reader.dropped, warnings };
  } finally {
    await reader.close();
  }
}

const native = nativeParser();
if (native === undefined) console.log('skipped  the CSV reader of the addon: there is no addon');
const parsers: [string, CsvParser][] = [['TypeScript', plainParser]];
if (native !== undefined) parsers.push(['addon', native]);

for (const [where, parser] of parsers) {
  const read = (text: string | Uint8Array, request: Partial<ReadRequest> = {}) =>
    readWith(parser, typeof text === 'string' ? Buffer.from(text) : text, request);
  const about = (sentence: string, check: () => Promise<void>) => test(`${sentence} (${where})`, check);

  about('Quotes, blanks, empty lines and line ends of every kind are read.', async () => {
    const rows = [
      [1, -2.5],
      [3e10, 0.5],
    ];
    for (const end of ['\n', '\r\n', '\r']) {
      for (const last of ['', end, end + end, `${end}  ${end}`])
        assert.equal((await read(`a,b${end}1,-2.5${end}${end} 3E10 ,\t+.5 ${last}`)).rows, rows, JSON.stringify(end));
      const quoted = await read(`"a ""x"", y","b${end}c"${end}"1", "-2.5" ${end}"3e10",.5${end}`);
      assert.equal([quoted.names, quoted.rows], [['a "x", y', `b${end}c`], rows]);
    }
    assert.equal((await read('\ufeffa,b\n1,2')).names, ['a', 'b']);
    assert.equal((await read('\ufeff1,2')).rows, [[1, 2]]);
    assert.equal((await read('\u00e9t\u00e9,\u{1f427}\n1,2')).names, ['\u00e9t\u00e9', '\u{1f427}']);
  });

  about('Numbers equal Number(text), bit for bit, and nothing else is a number.', async () => {
    const texts = [
      ...[
        '0',
        '-0',
        '+0',
        '00012',
        '1.',
        '.5',
        '-.5e-3',
        '1E5',
        '1e+05',
        '123456789012345678.',
        '0.1',
        '2.5e-324',
        '4.9e-324',
      ],
      ...[
        '1e-400',
        '-1e-400',
        '1.7976931348623157e308',
        '2.2250738585072011e-308',
        '9007199254740993.0',
        '0.30000000000000004',
      ],
      ...[
        `0.${'0'.repeat(400)}1`,
        '1'.repeat(300),
        `${'1'.repeat(400)}e-390`,
        '1e0000000000000000000010',
        '5e-00000000000000000324',
      ],
      ...['9007199254740992.999999999999999999999999999999', '1.00000000000000011102230246251565404236316680908203125'],
    ];
    const { rows } = await read(texts.join('\n'));
    assert.equal(
      rows.map(([value]) => bitsOf(value!)),
      texts.map((text) => bitsOf(Number(text))),
    );
    const others = [
      '1e',
      '1e+',
      '.',
      '-',
      '+',
      '+-1',
      '--1',
      '1..2',
      '1.2.3',
      '0x10',
      'inf',
      '-Infinity',
      '1e400',
      '1_0',
      '1d5',
      '1f',
      '\u0661',
      '1 2',
    ];
    for (const text of others) {
      const error = await throwsCode('ERR_MALFORMED_CSV', `(${text})`, () => read(`a\n1\n${text}\n`));
      assert.equal([error.line, error.column], [3, 1]);
    }
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 }),
        async (values) => {
          const found = await read(values.map((value) => `${value},${value.toExponential(20)}`).join('\n'), {
            header: false,
          });
          assert.equal(
            found.rows.map((row) => bitsOf(row[0]!)),
            values.map((value) => bitsOf(Number(`${value}`))),
          );
          assert.equal(
            found.rows.map((row) => bitsOf(row[1]!)),
            values.map((value) => bitsOf(Number(value.toExponential(20)))),
          );
        },
      ),
      { numRuns: 50 },
    );
  });

  about('A malformed field is refused with its line and column, wherever its block begins.', async () => {
    const lines = Array.from({ length: 200_000 }, (_, i) => `${i},${i / 3}`);
    lines[150_000] = '\u00e91,"x\ny" ';
    const text = `a,b\n${lines.join('\n')}`;
    const error = await throwsCode('ERR_MALFORMED_CSV', '(\u00e91): line 150002, character 1 of', () => read(text));
    assert.equal([error.line, error.column], [150_002, 1]);
    const other = await throwsCode('ERR_MALFORMED_CSV', '(x\ny): line 150002, character 4', () =>
      read(text, { columns: ['b'] }),
    );
    assert.equal([other.line, other.column], [150_002, 4]);
    const cases: [text: string, shown: string, line: number, column: number][] = [
      ['a,b\n1\n', 'Row has (1) fields, but the first row has (2): line 2, character 2', 2, 2],
      ['a,b\n1,2,3,4\n', 'Row has (4) fields, but the first row has (2): line 2, character 5', 2, 5],
      [
        'a,b\n1,\n',
        "Field of column (b) is empty (missing: 'drop', or --missing drop, leaves its row out): line 2, character 3",
        2,
        3,
      ],
      ['a,b\n1,NA\n', 'Field of column (b) is missing (NA)', 2, 3],
      ['a,b\n1,2"3\n', 'Quote in a field that does not begin with one (2"3)', 2, 3],
      ['a,b\n1,"2"3\n', 'Text follows the quote that ends a field (23)', 2, 3],
      ['a,b\n1,"2\n3,4\n', 'Quote is not closed: line 2, character 3', 2, 3],
      ['a\n\n\r\n\r1,5\n', '', 5, 3],
      ['a;b\n1,5;2,5\n', 'write decimals with a point', 2, 1],
      ['a,b\n# x,2\n', "pass `comment` '#' (--comment '#')", 2, 1],
      ['# x\na,b\n1,2\n', "(a); pass `comment` '#' (--comment '#')", 2, 1],
      ['a\n1;5\n', 'pass `delimiter`', 2, 1],
    ];
    for (const [malformed, shown, line, column] of cases) {
      const found = await throwsCode('ERR_MALFORMED_CSV', shown, () => read(malformed));
      assert.equal([found.line, found.column], [line, column], malformed);
    }
  });

  about('The error advises `comment` only if a line begins with # and may be a comment.', async () => {
    const told = async (text: string, options: Partial<ReadRequest> = {}) =>
      (await throwsCode('ERR_MALFORMED_CSV', 'line 2', () => read(text, options))).message;
    assert.match(await told('a,b\n#1,2\n'), "pass `comment` '#'");
    for (const text of ['a,b\n1,#2\n', 'a,b\n"#1",2\n', 'a,b\n #1,2\n'])
      assert.not.match(await told(text), 'comment', text);
    assert.not.match(await told('a,b\n1,#2\n', { comment: '#' }), 'comment');
    assert.not.match(await told(' #a,b\n1,x\n', { comment: '#' }), 'comment');
    for (const word of ['#N/A', '#DIV/0!', '#VALUE!', '#REF!', '#NAME?', '#NUM!', '#NULL!'])
      for (const text of [`a,b\n${word},2\n`, `a,b\n1,${word}\n`]) {
        const message = await told(text);
        assert.match(message, `(${word}); it is an error value of a spreadsheet`);
        assert.not.match(message, '`comment`');
      }
  });

  about('A row with a missing value is dropped, but not one with a text.', async () => {
    const text = 'a,b\n1,2\n,3\n4,NA\nNaN,5\n6,n/a\n7,8\n9,null\n"",1\n"NA",1\n';
    const { rows, dropped } = await read(text, { missing: 'drop' });
    assert.equal(
      [rows, dropped],
      [
        [
          [1, 2],
          [7, 8],
        ],
        7,
      ],
    );
    await throwsCode('ERR_MALFORMED_CSV', '(x)', () => read('a,b\n,x\n', { missing: 'drop' }));
  });

  about('Semicolons, tabs and blanks separate fields too; the delimiter that is found is reported.', async () => {
    const rows = [
      [1, 2.5],
      [3, 4],
    ];
    const found = async (text: string, names: string[] | undefined, shown: string) => {
      const { warnings, ...read1 } = await read(text);
      assert.equal([read1.names, read1.rows, warnings.length], [names, rows, 1]);
      assert.match(warnings[0]!, shown);
    };
    await found('a;b\n1;2.5\n3;4\n', ['a', 'b'], "semicolons between its fields; pass `delimiter` (--delimiter ';')");
    await found('a\tb\n1\t2.5\n3 \t 4\n', ['a', 'b'], 'tabs');
    // As numpy.savetxt writes it.
    await found('1.0e+00 2.5e+00\n3.0e+00 4.0e+00\n', undefined, 'blanks');
    await found('  1.0   2.5\n  3.0 \t 4.0  \n', undefined, 'blanks');
    for (const delimiter of [';', '\t', '|', ' ']) {
      const { names, warnings } = await read(`a${delimiter}b\n"1"${delimiter}2.5\n3${delimiter}4`, { delimiter });
      assert.equal([names, warnings], [['a', 'b'], []]);
    }
    assert.equal((await read('one column\n1\n2\n')).names, ['one column']);
    assert.equal((await read('a\tb\n\t2\n', { missing: 'drop' })).dropped, 1);
    assert.equal((await read('a,b;c\n1,2\n')).names, ['a', 'b;c']);
    await throwsCode('ERR_MALFORMED_CSV', 'pass `delimiter`', () => read('a,b\n1;2\n', { delimiter: ',' }));
  });

  about('Lines that begin with the comment letter are skipped.', async () => {
    const text = '# made "by 5" hand\na,b\n# x\n1,2\n#\n3,4\n# end, "';
    const { names, rows } = await read(text, { comment: '#' });
    assert.equal(
      [names, rows],
      [
        ['a', 'b'],
        [
          [1, 2],
          [3, 4],
        ],
      ],
    );
    const error = await throwsCode('ERR_MALFORMED_CSV', '(x)', () => read(`${text}\n1,x`, { comment: '#' }));
    assert.equal([error.line, error.column], [8, 3]);
    // numpy.savetxt with a header.
    assert.equal((await read('# a b\n1 2\n', { comment: '#' })).rows, [[1, 2]]);
  });

  about('UTF-16, UTF-32, an empty file and an endless row have their own messages.', async () => {
    const utf16 = ['\ufeffa,b\n1,2\n', 'a,b\n1,2\n', '\ufeffa,b\n'].map((text) => Buffer.from(text, 'utf16le'));
    for (const text of [utf16[0]!, utf16[1]!, utf16[2]!.swap16()])
      await throwsCode('ERR_UNSUPPORTED', 'is UTF-16; save it as UTF-8', () => read(text));
    const wide = Buffer.from(Uint32Array.from('\ufeff1,2\n', (letter) => letter.charCodeAt(0)).buffer);
    for (const bytes of [wide, wide.subarray(4), Buffer.from(wide).swap32(), Buffer.from(wide).swap32().subarray(4)])
      await throwsCode('ERR_UNSUPPORTED', 'is UTF-32', () => read(bytes));
    for (const text of ['', '\n\n', ' \n', '\ufeff'])
      await throwsCode('ERR_MALFORMED_CSV', 'is empty', () => read(text));
    const long = async function* () {
      yield Buffer.from('a,b\n"');
      for (let i = 0; i < 400; i++) yield Buffer.alloc(1 << 20, 'x');
    };
    let taken = 0;
    const counted = async function* () {
      for await (const chunk of long()) {
        taken++;
        yield chunk;
      }
    };
    await throwsCode('ERR_MALFORMED_CSV', 'more than (16777216) bytes', () => readWith(parser, counted()));
    assert.ok(taken < 40, `${taken} MiB are read before the refusal`);
    await throwsCode('ERR_MALFORMED_CSV', 'fields; at most (1048576)', () => read(`${','.repeat(1_100_000)}\n`));
  });

  about('Every record is whole, even if quoted line ends and comments fall on the edges of blocks.', async () => {
    const record = (i: number) => (i % 3 === 0 ? `"${i}","${'\n'.repeat(i % 50)}${i}\r\n""x"""` : `${i},y${i}`);
    for (const end of ['\n', '\r\n', '\r']) {
      const records = Array.from({ length: 60_000 }, (_, i) => (i % 7 === 0 ? `# "${end}` : '') + record(i));
      const found = await read(`a,b${end}${records.join(end)}`, { columns: ['a'], comment: '#' });
      assert.equal(
        found.rows.flat(),
        records.map((_, i) => i),
      );
      const plain = Array.from({ length: 300_000 }, (_, i) => `${i},${i}`).join(end);
      assert.is((await read(plain, { header: false })).rows.length, 300_000);
    }
  });
}

interface ToolTables {
  readonly rows: number[][];
  readonly files: {
    readonly [name: string]: { readonly text: string; readonly names: readonly string[] | null | string };
  };
}
const tools = JSON.parse(readFileSync(new URL('../answers/csv-tables.json', import.meta.url), 'utf8')) as ToolTables;
for (const [name, { text, names }] of Object.entries(tools.files))
  test(`CSV as ${name} writes it is read, or refused with an error that says what it is.`, async () => {
    if (typeof names === 'string') {
      await throwsCode('ERR_MALFORMED_CSV', 'write decimals with a point', () =>
        readWith(plainParser, Buffer.from(text)),
      );
      return;
    }
    // R's names of rows are texts, and pandas' index is a column.
    const isIndexed = names !== null && names[0] === '';
    const request = isIndexed && name.startsWith('R') ? { columns: ['a', 'b'] } : {};
    for (const [, parser] of parsers) {
      const read = await readWith(parser, Buffer.from(text), request);
      const expected = tools.rows.map((row, i) => (isIndexed && !name.startsWith('R') ? [i, ...row] : row));
      assert.equal(read.rows, expected);
      assert.equal(read.names, request.columns ?? names ?? undefined);
    }
  });

function bitsOf(value: number): bigint {
  return new BigUint64Array(Float64Array.of(value).buffer)[0]!;
}

const bits64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const doubles = Float64Array.of(
  ...[0, 1, 0.1, 5e-324, 1e21, 1e-6, 1e-7, 123456789012345680000, 2 ** 53, Number.MAX_VALUE, 0.000001234],
  ...[-0, -1, -1.5e-10],
  ...[Number.NaN, Infinity, -Infinity, 1e20, 999999999999999900000, 1.7976931348623157e308],
  ...Array.from({ length: 2098 }, (_, i) => 2 ** (i - 1074)),
);
// Below a power of two, floats lie twice as close as above.
const floats = Float32Array.from([
  ...doubles,
  ...Array.from({ length: 277 }, (_, i) => 2 ** (i - 149) * (1 - 2 ** -24)),
]);
const signed = (value: number) => (Object.is(value, -0) ? '-0' : String(value));
const linesOf = async (write: LineWriter, values: Float32Array | Float64Array): Promise<string[]> => {
  const bytes = new Uint8Array(values.length * 26);
  const length = await write(values, 1, bytes);
  return Buffer.from(bytes.subarray(0, length)).toString('latin1').trimEnd().split('\n');
};

for (const [where, write] of [['TypeScript', plainLines] as const, ['addon', nativeLines()] as const])
  if (write !== undefined) {
    test(`Numbers are written as String() writes them, and -0, shortest for their type (${where}).`, async () => {
      assert.equal(await linesOf(write, doubles), Array.from(doubles, signed));
      const shortest = await linesOf(write, floats);
      for (const [i, text] of shortest.entries()) {
        assert.ok(Object.is(Math.fround(Number(text)), floats[i]), text);
        // V8 writes the double of the shortest decimal like this.
        assert.is(text, signed(Number(text)));
      }
      await fc.assert(
        fc.asyncProperty(fc.array(bits64, { minLength: 1, maxLength: 40 }), async (all) => {
          const values = new Float64Array(BigUint64Array.from(all).buffer);
          assert.equal(await linesOf(write, values), Array.from(values, signed));
        }),
        { numRuns: 500 },
      );
    });
  }
const written = nativeLines();
if (written !== undefined)
  test('Both writers write the same text for float32.', async () => {
    assert.equal(await linesOf(plainLines, floats), await linesOf(written, floats));
    const words = Uint32Array.from({ length: 1 << 16 }, (_, i) => Math.imul(i, 2654435761));
    const values = new Float32Array(words.buffer);
    assert.equal(await linesOf(plainLines, values), await linesOf(written, values));
  });

test('Names that a reader or a spreadsheet would misread are quoted, and can be read again.', async () => {
  const names = ['=1+2', '+x', '-x', '@x', '2020', '1e3', 'a;b', 'a|b', 'NA', '0x10', 'plain', 'Infinity', '#c'];
  const pieces: Uint8Array[] = [];
  const output = {
    write: async (bytes: Uint8Array) => void pieces.push(bytes.slice()),
    finish: async () => {},
    discard: async () => {},
  };
  const writer = await openCsvWriter(output, { names, columns: names.length, dtype: 'float64', rows: 1 });
  await writer.write(Float64Array.from(names, (_, i) => i));
  await writer.finish();
  const text = Buffer.concat(pieces);
  const quoted = names.map((name) => (name === 'plain' ? name : `"${name}"`)).join(',');
  assert.is(text.toString(), `${quoted}\n${names.map((_, i) => i).join(',')}\n`);
  assert.equal((await readWith(plainParser, text)).names, names);
});

const letters = fc.constantFrom(...'0123456789+-.eE,;"\n\r\t #xNAnau/', ' ', '""', '\r\n', 'NA', '1.5', '\u00e9');
const texts = fc.array(letters, { maxLength: 60 }).map((all) => all.join(''));
test('A quote within a field does not open a quoted field, even at the end of a block of a large file.', async () => {
  for (const [text, delimiter] of [
    ['pipe 5",x\n1.25,2\n3,"4"\n', undefined],
    ['pipe 5"";"a\nb"\n1.25;2\n3;4\n', undefined],
    ['\ufeff"a ""\nb" , "c\n" d"\n1.25, "2"\n3,4\n', ','],
    ['5"\t "\n b"\n1.25\t2\n3 "4"\n', ' '],
  ] as const) {
    const read = (parser: CsvParser) => readWith(parser, Buffer.from(text), { delimiter, header: true });
    const expected = await read(plainParser);
    assert.equal(expected.rows[0], [1.25, 2]);
    for (let blockBytes = text.indexOf('1.25') + 4; blockBytes < text.length; blockBytes++)
      assert.equal(await read({ ...plainParser, blockBytes }), expected, text);
  }
  const overLimit = Buffer.from(`pipe 5",x\n${`1.25,2${' '.repeat(1_000)}\n`.repeat(17_000)}`);
  assert.is((await readWith(plainParser, overLimit)).rows.length, 17_000);
});

if (native !== undefined)
  test('Both readers agree on any text: rows, dropped rows, and errors.', async () => {
    const request = fc.record({
      missing: fc.constantFrom('error' as const, 'drop' as const),
      header: fc.constantFrom(undefined, true, false),
      delimiter: fc.constantFrom(undefined, ',', ';', '\t', ' '),
      comment: fc.constantFrom(undefined, '#'),
    });
    const outcome = (parser: CsvParser, text: string, options: Partial<ReadRequest>) =>
      readWith(parser, Buffer.from(text), options).catch((error: unknown) => {
        if (!(error instanceof CovariumError)) throw error;
        return `${error.code} ${error.message}`;
      });
    const small: CsvParser = { ...plainParser, blockBytes: 16 };
    const smallNative: CsvParser = { ...native, blockBytes: 7 };
    await fc.assert(
      fc.asyncProperty(texts, request, async (text, options) => {
        const expected = await outcome(plainParser, text, options);
        assert.equal(await outcome(native, text, options), expected);
        // Whether there is a header is decided from the first block, so the option is given here.
        if (options.header === undefined || options.delimiter === undefined) return;
        assert.equal(await outcome(small, text, options), expected);
        assert.equal(await outcome(smallNative, text, options), expected);
      }),
      { numRuns: 1500 },
    );
  });

test.run();
