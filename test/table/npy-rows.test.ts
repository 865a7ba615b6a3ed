import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { npyBytes, npyHeader } from '../../lib/table/npy.ts';
import { openNpyRows } from '../../lib/table/npy-rows.ts';
import { throwsCode } from '../harness/throws-code.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-npy-rows-'));
const at = (name: string) => join(folder, name);
test.after(() => rmSync(folder, { recursive: true, force: true }));

test('Single rows of an NPY file are read from their place, in float32 and float64.', async () => {
  for (const [dtype, values] of [
    ['float32', Float32Array.from({ length: 30 }, (_, i) => i / 3)],
    ['float64', Float64Array.from({ length: 30 }, (_, i) => i / 3)],
  ] as const) {
    writeFileSync(at('rows.npy'), Buffer.concat([npyHeader(dtype, 10, 3), npyBytes(values)]));
    const rows = await openNpyRows(at('rows.npy'));
    assert.equal([rows.rows, rows.columns], [10, 3]);
    const expected = [29, 27, 2, 0, 2, 0].map((index) => values[index]!);
    assert.equal(Array.from(await rows.read([9, 0, 0], [2, 0])), expected);
    await rows.close();
  }
});

test('An NPY file of version 2 or 3 is read; rows of a file larger than memory can be read.', async () => {
  for (const version of [2, 3]) {
    writeFileSync(at('later.npy'), npy("{'shape': (1, 2), 'fortran_order': False, 'descr': '<f8'}", 16, version));
    const rows = await openNpyRows(at('later.npy'));
    assert.equal(Array.from(await rows.read([0], [0, 1])), [0, 0]);
    await rows.close();
  }
  // A sparse file takes no space on the disk.
  const [count, bytes] = [2 ** 36, 128 + 2 ** 38];
  writeFileSync(at('huge.npy'), npyHeader('float32', count, 1));
  truncateSync(at('huge.npy'), bytes);
  const rows = await openNpyRows(at('huge.npy'));
  assert.is(rows.rows, count);
  assert.equal(Array.from(await rows.read([0, count - 1], [0])), [0, 0]);
  await rows.close();
});

const header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
const malformed: [sentence: string, shown: string, bytes: Buffer][] = [
  ['that is empty', 'it is empty', Buffer.alloc(0)],
  ['that is text', 'does not begin', Buffer.from('1,2,3\n4,5,6\n')],
  ['of eight bytes', 'does not begin', npy(header, 24).subarray(0, 8)],
  ['of version 4', '(4)', npy(header, 24, 4)],
  [
    'whose header is longer than the file',
    'its header has (65545) bytes, but the file has (34)',
    npy(header, 24).subarray(0, 34).fill(0xff, 8, 10),
  ],
  [
    'whose header is longer than NumPy reads',
    'its header has (4294967307) bytes',
    npy(header, 24, 2).fill(0xff, 8, 12),
  ],
  ['of negative size', '(-2, 3)', npy(header.replace('(2, 3)', '(-2, 3)'), 24)],
  ['of no shape', 'form', npy(header.replace('shape', 'form'), 24)],
  ['that is cut', '(93) bytes', npy(header, 23)],
  ['with bytes left over', '(95) bytes', npy(header, 25)],
  [
    'of more rows than there are numbers',
    '(70)',
    npy(header.replace('(2, 3)', `(${'9'.repeat(30)}, 3)`), 24).subarray(0, 70),
  ],
];

for (const [sentence, shown, bytes] of malformed)
  test(`An NPY file ${sentence} is not opened for its rows.`, async () => {
    writeFileSync(at('malformed.npy'), bytes);
    const { path } = await throwsCode('ERR_MALFORMED_NPY', shown, () => openNpyRows(at('malformed.npy')));
    assert.is(path, at('malformed.npy'));
  });

test('A number of an NPY file that is not finite is refused with its position in the file.', async () => {
  const values = Float32Array.of(1, 2, 3, 4, Number.NEGATIVE_INFINITY, 6);
  writeFileSync(at('infinite.npy'), Buffer.concat([npyHeader('float32', 3, 2), npyBytes(values)]));
  const rows = await openNpyRows(at('infinite.npy'));
  const { row, column } = await throwsCode('ERR_NOT_FINITE', '(-Infinity)', () => rows.read([0, 2], [0]));
  assert.equal([row, column], [2, 0]);
  await rows.close();
});

/** An NPY file of this header and of `bytes` zeros. */
function npy(text: string, bytes: number, version = 1): Buffer {
  const length = Buffer.alloc(version === 1 ? 2 : 4);
  length.writeUIntLE(text.length + 1, 0, length.length);
  const magic = Buffer.from('\x93NUMPY\x00\x00', 'latin1');
  magic[6] = version;
  return Buffer.concat([magic, length, Buffer.from(`${text}\n`), Buffer.alloc(bytes)]);
}

test.run();
