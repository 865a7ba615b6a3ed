// Files that contradict themselves, and sound ones beside them: hostile/README.md says what each is and what it must
// give.
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readTable } from '../../lib/index.ts';
import { mutatedKinds, mutateFiles } from '../harness/mutate-files.ts';
import { throwsCode } from '../harness/throws-code.ts';

const folder = fileURLToPath(new URL('hostile/', import.meta.url));

/** Files that are refused, and what the error says about each. */
const refused: { readonly [file: string]: string } = {
  'pq-snappy-hang.parquet': 'a literal of (4294967291) bytes',
  'pq-rle-levels-bomb.parquet': 'a run of levels is (2147483647) long where (4) are left',
  'pq-delta-n2e9.parquet': 'a page has (2147483647) values where (4) rows are left',
  'pq-width0-2e8.parquet': 'a page has (200000000) values where (4) rows are left',
  'pq-brotli-bomb-3.5GB.parquet': 'brotli data hold more than (32) bytes',
  'pq-zstd-bomb-32.parquet': '(32)',
  'pq-crc-bad.parquet': 'the CRC of a page at byte (4)',
  'pq-nodict.parquet': 'a page of indices has no dictionary',
  'pq-dict-index-oob.parquet': 'index (200) is beyond its dictionary of (2)',
  'pq-deflevel-2.parquet': 'a run of levels is (2) in (1) bits',
  'pq-deflevel-len0.parquet': 'its levels end before all are read',
  'pq-page-rows-more.parquet': 'a page has (4) values where (2) rows are left',
  'pq-numrows-lies.parquet': 'it states (99) rows, and its row groups (4)',
  'ar-node2-1e9.arrows': 'column (y) has (1000000000) rows in a batch of (40)',
  'ar-f16-node-1e9.arrows': 'column (h) has (1000000000) rows in a batch of (40)',
  'ar-node1-5.arrows': 'column (x) has (5) rows in a batch of (40)',
  'ar-dict-index-99.arrows': 'index (99) into a dictionary of (3)',
  'ar-validity-short.arrows': 'column (y) has (1) bytes of bits for (40) rows',
  'ar-file-early-end.arrow': 'its footer lists (3) batches, and (1) are there',
  'ar-file-unknown-message.arrow': 'a message is of an unknown kind (9)',
  'ar-two-schemas.arrows': 'a second schema follows the first',
  'ar-zstd-ulen-lies.arrows': 'a buffer of (320) bytes is said to have (16)',
  'ar-zstd-bomb-2.6GB.arrows': '(320)',
  'ar-buf-offset-neg.arrows': 'a buffer of (320) bytes begins at (-64)',
  'np-1e15rows-0cols.npy': 'its shape is (9007199254740991, 0), which no file can hold',
  'np-0-1e300.npy': 'its shape is (0, 1e+300), not a tuple of whole numbers',
  'np-nobrace.npy': 'its header is not a Python dict',
  'np-twoshapes.npy': 'key (shape) occurs twice',
};

/** Sound files: their rows, or the first of them, with `missing: 'drop'`; whether a row is missing. */
const sound: { readonly [file: string]: { rows: number; first: readonly number[]; dropped: number } } = {
  'pq-ok.parquet': { rows: 4, first: [1, 2, 3, 4], dropped: 0 },
  'pq-deflevel-half-null.parquet': { rows: 2, first: [1, 2], dropped: 2 },
  'ar-ok.arrows': { rows: 39, first: [0, 0, 0, 1, 1, 7], dropped: 1 },
  'np-fortran.npy': { rows: 3, first: [1, 5, 2, 8, 3, 14], dropped: 0 },
  'np-1d.npy': { rows: 6, first: [1, 2, 3, 5, 8, 14], dropped: 0 },
  'ar-no-end.arrows': { rows: 40, first: [1.5, 0, 2.5, 7], dropped: 0 },
};

test('Every file of the folder has its line here.', () => {
  const files = readdirSync(folder).filter((file) => /^(ar|np|pq)-/.test(file));
  assert.equal(files.sort(), [...Object.keys(refused), ...Object.keys(sound)].sort());
});

const codes = { ar: 'ERR_MALFORMED_ARROW', np: 'ERR_MALFORMED_NPY', pq: 'ERR_MALFORMED_PARQUET' } as const;

for (const [file, says] of Object.entries(refused))
  test(`${file} is refused, missing values dropped or not.`, async () => {
    const code = codes[file.slice(0, 2) as keyof typeof codes];
    for (const missing of ['error', 'drop'] as const) {
      const error = await throwsCode(code, says, () => readTable(folder + file, { missing }));
      assert.ok(error.message.includes(file), error.message);
      assert.is(error.path, folder + file);
    }
  });

for (const [file, { rows, first, dropped }] of Object.entries(sound))
  test(`${file} is read.`, async () => {
    const table = await readTable(folder + file, { missing: 'drop' });
    assert.equal([table.rows.rows, table.dropped], [rows, dropped]);
    assert.equal(Array.from(table.rows.data.slice(0, first.length)), first);
    if (dropped > 0) await throwsCode('ERR_NOT_FINITE', 'is missing', () => readTable(folder + file));
  });

// Short rounds of changed files; CONTRIBUTING.md has the commands for long ones.
for (const kind of mutatedKinds)
  test(`Changed files (${kind}) are refused, or give what they say, in bounded time and memory.`, async () => {
    const { findings, read, refused } = await mutateFiles(kind, { rounds: 200, seed: 1 });
    assert.equal(findings, []);
    assert.is(read + refused, 200);
    assert.ok(read > 5 && refused > 20, `(${read}) are read, (${refused}) are refused`);
  });

// Each field of one of our files is falsified, one at a time; CONTRIBUTING.md has the command for all files.
for (const format of ['npy', 'arrow', 'arrows', 'parquet'] as const)
  test(`A length, count, offset, width or type that is a lie (${format}) is refused, or does not matter.`, async () => {
    const file = 'covarium, float64';
    const { findings, read, refused } = await mutateFiles(format, { lies: format === 'npy' ? 3 : 23, file });
    assert.equal(findings, []);
    assert.ok(read > 0 && refused > 10, `(${read}) are read, (${refused}) are refused`);
  });

test.run();
