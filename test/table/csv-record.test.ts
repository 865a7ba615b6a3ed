// Records as texts: many fields of ASCII are decoded at once, others one by one.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { csvRecord } from '../../lib/table/csv-record.ts';

const dialect = { delimiter: 0x2c, comment: 0 };

test('A record is split at its delimiters, wherever it has letters of several bytes.', () => {
  const long = 'x'.repeat(40_000);
  for (const odd of [undefined, 0, 1, 4_000, 8_999]) {
    const texts = Array.from({ length: 9_000 }, (_, i) => (i % 700 === 3 ? '' : `name ${i}`));
    texts[5_000] = long;
    if (odd !== undefined) texts[odd] = 'größe µ';
    const lines = Buffer.from(`${texts.join(',')}\n${texts.map((_, i) => i).join(',')}\n`);
    const first = csvRecord(lines, 0, dialect)!;
    assert.equal(
      first.fields.map(({ text }) => text),
      texts,
      `letters of two bytes in field (${odd})`,
    );
    const second = csvRecord(lines, first.end, dialect)!;
    assert.equal([second.fieldCount, second.fields[8_999]!.text, second.end], [9_000, '8999', lines.length]);
  }
  const quoted = csvRecord(Buffer.from('"a ""b""", c ,"d"e\n'), 0, dialect)!;
  assert.equal(
    quoted.fields.map(({ text }) => text),
    ['a "b"', 'c', 'de'],
  );
});

test.run();
