// NPY and NPZ: files by NumPy are read, and files that contradict themselves are refused before memory is allocated.
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadAddon } from '../../lib/addon/native.ts';
import { type ErrorCode, readTable } from '../../lib/index.ts';
import { npyHeader } from '../../lib/table/npy.ts';
import { openNpyRows } from '../../lib/table/npy-rows.ts';
import { pythonLiteral } from '../../lib/table/python-literal.ts';
import { openTable } from '../../lib/table/read-table.ts';
import { throwsCode } from '../harness/throws-code.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-npy-'));
const at = (name: string) => join(folder, name);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const file = (name: string, bytes: Uint8Array): string => {
  writeFileSync(at(name), bytes);
  return at(name);
};

interface NumpyTables {
  readonly arrays: { readonly [name: string]: { readonly rows: number[][]; readonly base64: string } };
  readonly archives: { readonly [name: string]: string };
  readonly unsupported: { readonly [name: string]: string };
}
const numpy = JSON.parse(readFileSync(new URL('../answers/numpy-tables.json', import.meta.url), 'utf8')) as NumpyTables;
const bytesOf = (base64: string) => Buffer.from(base64, 'base64');

for (const [name, { rows, base64 }] of Object.entries(numpy.arrays))
  test(`Of NumPy (${name}): the numbers are read from a file, from bytes, from a stream, and row by row.`, async () => {
    const bytes = bytesOf(base64);
    const path = file('numpy.npy', bytes);
    const width = base64 === numpy.arrays['no rows']!.base64 ? 3 : rows[0]!.length;
    const pieces = async function* () {
      for (let start = 0; start < bytes.length; start += 7) yield bytes.subarray(start, start + 7);
    };
    for (const source of [path, bytes, pieces()]) {
      const read = await readTable(source);
      assert.equal(read.rows.toArray(), rows);
      assert.is(read.rows.columns, width);
      assert.is(read.rows.dtype, /f[24]|Fortran order, /.test(name) ? 'float32' : 'float64');
    }
    const one = await openNpyRows(path);
    for (const [row, numbers] of rows.entries())
      assert.equal(Array.from(await one.read([row], [width - 1, 0])), [numbers[width - 1], numbers[0]]);
    await one.close();
  });

test('An array of an archive is read by its name; a single array needs no name.', async () => {
  const { rows } = numpy.arrays['f8']!;
  for (const name of ['stored', 'deflated']) {
    const path = file(`${name}.npz`, bytesOf(numpy.archives[name]!));
    assert.equal((await readTable(path, { member: 'a' })).rows.toArray(), rows);
    assert.equal((await readTable(readFileSync(path), { member: 'a.npy' })).rows.toArray(), rows);
    assert.equal((await readTable(path, { member: 'b' })).rows.toArray(), [
      [1, 2, 3],
      [4, 5, 127],
    ]);
    await throwsCode('ERR_INVALID_ARGUMENT', 'choose one', () => readTable(path));
    await throwsCode('ERR_INVALID_ARGUMENT', 'member (c): (a, b', () => readTable(path, { member: 'c' }));
  }
  const stream = async function* () {
    yield bytesOf(numpy.archives['deflated']!);
  };
  assert.equal((await readTable(stream(), { member: 'zeros' })).rows.data, new Float64Array(1200));
  assert.equal((await readTable(file('one.npz', bytesOf(numpy.archives['one member']!)))).rows.toArray(), rows);
  await throwsCode('ERR_INVALID_ARGUMENT', '(a) is for .npz files', () => readTable(at('x.csv'), { member: 'a' }));
});

/** A deflated archive of one array. */
function archiveOf(npy: Uint8Array): Buffer {
  const packed = deflateRawSync(npy);
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(8, 4);
  fields.writeUInt32LE(crc32(npy), 10);
  fields.writeUInt32LE(packed.length, 14);
  fields.writeUInt32LE(npy.length, 18);
  fields.writeUInt16LE(5, 22);
  const name = Buffer.from('a.npy');
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, name, packed]);
  const directory = Buffer.concat([Buffer.from('PK\x01\x02\0\0'), fields, Buffer.alloc(14), name]);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, directory, end]);
}

test('Reading a compressed archive can be stopped, and may fail, in the middle.', async () => {
  const values = Float64Array.from({ length: 400_000 }, (_, i) => Math.sin(i));
  const npy = Buffer.concat([npyHeader('float64', 200_000, 2), new Uint8Array(values.buffer)]);
  assert.equal((await readTable(archiveOf(npy))).rows.data, values);
  const path = file('stopped.npz', archiveOf(npy));
  const abort = new AbortController();
  const reader = await openTable(path, { signal: abort.signal });
  await throwsCode('ERR_ABORTED', 'enough', async () => {
    for await (const _ of reader.blocks()) abort.abort(new Error('enough'));
  });
  await reader.close();
  // A file that becomes shorter while it is unpacked.
  const shorter = await openTable(path);
  truncateSync(path, 1 << 20);
  await throwsCode('ERR_MALFORMED_NPY', 'shorter', async () => {
    for await (const _ of shorter.blocks());
  });
  await shorter.close();
});

for (const [name, base64] of Object.entries(numpy.unsupported))
  test(`Of NumPy (${name}): a well-formed file that we do not read is refused as unsupported.`, async () => {
    await throwsCode('ERR_UNSUPPORTED', 'is not supported', () => readTable(bytesOf(base64)));
  });

/** An NPY file of version 1 with any header and any bytes as numbers. */
function npy(header: string, bytes = new Uint8Array(0)): Buffer {
  const start = Buffer.from(`\x93NUMPY\x01\x00\x00\x00${header}\n`, 'latin1');
  start.writeUInt16LE(header.length + 1, 8);
  return Buffer.concat([start, bytes]);
}

const head = (shape: string, rest = '') => `{'descr': '<f8', 'fortran_order': False, 'shape': ${shape}${rest}}`;
const six = new Uint8Array(Float64Array.of(1, 2, 3, 4, 5, 6).buffer);
const refused: [sentence: string, shown: string, bytes: Buffer, code?: ErrorCode][] = [
  ['with rows of no columns', '(9000000000000000, 0)', npy(head('(9000000000000000, 0)'))],
  ['without columns', 'it has no columns (its shape is (3, 0))', npy(head('(3, 0)')), 'ERR_UNSUPPORTED'],
  ['with columns of no rows', '(0, 1000000000000000)', npy(head('(0, 1000000000000000)'))],
  ['with a thousand million columns of no rows', '(0, 1000000000)', npy(head('(0, 1000000000)'))],
  ['with a shape of float', '(0, 1e+300)', npy(head('(0, 1e300)'))],
  ['with more rows than the file holds', 'its header describes', npy(head('(125000000000, 1)'), six)],
  ['with a negative size', '(-1, 3)', npy(head('(-1, 3)'))],
  ['with a shape of bools', 'not a tuple', npy(head('(True, 3)'))],
  ['with a shape that is no tuple', 'not a tuple', npy(head('6'), six)],
  ['with two shapes', '(shape) occurs twice', npy(head('(3, 2)', ", 'shape': (2, 3)"), six)],
  [
    'with a shape in another text',
    'its header has the keys (descr, fortran_order)',
    npy("{'descr': '<f8', 'fortran_order': False}"),
  ],
  ['with a key that NumPy does not have', '(color, descr', npy(head('(3, 2)', ", 'color': 1"), six)],
  ['without a brace', 'a key is not a string', npy(head('(3, 2)').replace('{', '{{'), six)],
  ['without the last brace', 'is missing', npy(head('(3, 2)').slice(0, -1), six)],
  ['with text after the header', 'text follows', npy(`${head('(3, 2)')} x`, six)],
  ['with a name that is no literal', '(false)', npy(head('(3, 2)').replace('False', 'false'), six)],
  ['with an order that is no bool', '(1), not a bool', npy(head('(3, 2)').replace('False', '1'), six)],
  ['with brackets without end', 'nesting is too deep', npy('('.repeat(60_000))],
  ['with a type that NumPy does not have', '(float)', npy(head('(3, 2)').replace('<f8', 'float'), six)],
  ['with a boolean of 7', 'a boolean of (7)', npy(head('(1, 2)').replace('<f8', '|b1'), Buffer.from([1, 7]))],
  [
    'with an integer beyond float64',
    '(9007199254740993)',
    npy(head('(1, 1)').replace('<f8', '<i8'), new Uint8Array(BigInt64Array.of(2n ** 53n + 1n).buffer)),
    'ERR_OUT_OF_RANGE',
  ],
];
for (const [sentence, shown, bytes, code = 'ERR_MALFORMED_NPY'] of refused)
  test(`An NPY file ${sentence} is refused.`, async () => {
    await throwsCode(code, shown, () => readTable(file('refused.npy', bytes)));
    const pieces = async function* () {
      yield bytes;
    };
    await throwsCode(code, '', () => readTable(pieces(), { format: 'npy' }));
  });

test('An archive that contradicts itself is refused.', async () => {
  const sound = bytesOf(numpy.archives['deflated']!);
  const says = (bytes: Buffer, shown: string, code: ErrorCode = 'ERR_MALFORMED_NPY') =>
    throwsCode(code, shown, () => readTable(bytes, { member: 'a' }));
  const changed = (place: number, change: (bytes: Buffer, at: number) => void) => {
    const bytes = Buffer.from(sound);
    change(bytes, place);
    return bytes;
  };
  const directory = sound.readUInt32LE(sound.length - 6);
  await says(sound.subarray(0, -1), 'cut short');
  await says(Buffer.concat([Buffer.from('PK\x05\x06'), Buffer.alloc(18)]), 'its archive is empty');
  await says(
    changed(sound.length - 6, (bytes, place) => bytes.writeUInt32LE(0xfffffff0, place)),
    'outside',
  );
  await says(
    changed(directory, (bytes, place) => bytes.writeUInt8(0, place)),
    'directory',
  );
  await says(
    changed(directory + 16, (bytes, place) => bytes.writeUInt32LE(1, place)),
    'checksum',
  );
  await says(
    changed(directory + 24, (bytes, place) => bytes.writeUInt32LE(1e9, place)),
    'bytes can hold',
  );
  await says(
    changed(directory + 24, (bytes, place) => bytes.writeUInt32LE(300, place)),
    'describes',
  );
  await says(
    changed(directory + 42, (bytes, place) => bytes.writeUInt32LE(5, place)),
    'is not where',
  );
  await says(
    changed(directory + 20, (bytes, place) => bytes.writeUInt32LE(1e6, place)),
    'outside',
  );
  await says(
    changed(directory + 8, (bytes, place) => bytes.writeUInt16LE(1, place)),
    'encrypted',
    'ERR_UNSUPPORTED',
  );
  await says(
    changed(directory + 10, (bytes, place) => bytes.writeUInt16LE(14, place)),
    '(14)',
    'ERR_UNSUPPORTED',
  );
  const data = 30 + sound.readUInt16LE(26) + sound.readUInt16LE(28);
  await says(
    changed(data, (bytes, place) => bytes.writeUInt8(0xff, place)),
    'decompressed',
  );
});

test('An integer that float64 does not hold is refused with its row and column, in C and Fortran order.', async () => {
  const bytes = new Uint8Array(BigInt64Array.of(1n, 2n, 3n, 4n, 2n ** 53n + 1n, 6n).buffer);
  for (const [isFortran, place] of [
    ['False', 'Row (2), column (0)'],
    ['True', 'Row (1), column (1)'],
  ] as const) {
    const header = head('(3, 2)').replace('<f8', '<i8').replace('False', isFortran);
    await throwsCode('ERR_OUT_OF_RANGE', `${place} of file (`, () => readTable(npy(header, bytes)));
  }
});

test('The header is a Python literal.', () => {
  const dict = pythonLiteral(
    `{"a": (1, -2, 3L), 'b\\'c': [True, None], "d": 'shape', 'e': (), 'f': (4), 'g': 1e3, } \n`,
  );
  assert.equal(Object.fromEntries(dict as Map<string, unknown>), {
    a: [1n, -2n, 3n],
    "b'c": [true, null],
    d: 'shape',
    e: [],
    f: 4n,
    g: 1000,
  });
  for (const text of ['', '{', "{'a' 1}", '{1: 2}', '(1 2)', "'a", "'a\n'", '1.2.3', '--1', "'\\x00'"])
    assert.throws(() => pythonLiteral(text), /at character \(\d+\)$/, text);
});

test('Rows with missing numbers are dropped from files that are read directly into memory, across slices.', async () => {
  const [rows, columns] = [300_000, 8];
  const values = Float64Array.from({ length: rows * columns }, (_, i) => i);
  for (let row = 0; row < rows; row += 1000) values[row * columns + 3] = Number.NaN;
  const path = file('holes.npy', Buffer.concat([npyHeader('float64', rows, columns), new Uint8Array(values.buffer)]));
  const read = await readTable(path, { missing: 'drop' });
  assert.equal([read.rows.rows, read.dropped], [rows - rows / 1000, rows / 1000]);
  const expected = values.filter((_, i) => Math.floor(i / columns) % 1000 !== 0);
  assert.equal(
    Buffer.compare(Buffer.from(read.rows.data.buffer, 0, read.rows.data.byteLength), Buffer.from(expected.buffer)),
    0,
  );
  const error = await throwsCode('ERR_NOT_FINITE', 'Row (0)', () => readTable(path));
  assert.equal([error.row, error.column], [0, 3]);
  const signal = AbortSignal.abort();
  await throwsCode('ERR_ABORTED', '', () => readTable(path, { signal }));
});

test('The addon reads columns of a file as rows, says whether all numbers are finite, and refuses a file that ends too early.', async () => {
  const { addon } = loadAddon();
  if (addon === undefined) return;
  const values = Float64Array.from({ length: 100_000 }, (_, i) => i / 7);
  const write = (name: string, numbers: Float64Array | Float32Array) =>
    file(name, Buffer.concat([Buffer.from('head'), new Uint8Array(numbers.buffer)]));
  const readOf = async (path: string, position: number, out: Float64Array | Float32Array) => {
    const handle = await open(path);
    try {
      return await addon.readColumns(handle.fd, [position], out.length, out, 0);
    } finally {
      await handle.close();
    }
  };
  const path = write('sound.bin', values);
  const out = new Float64Array(values.length);
  assert.is(await readOf(path, 4, out), true);
  assert.equal(out, values);
  assert.is(await readOf(path, 4 + 8 * 99_999, out.subarray(0, 1)), true);
  assert.is(out[0], values[99_999]);
  await throwsCode('ERR_FILE_UNREADABLE', () => readOf(path, 12, out));
  await throwsCode('ERR_FILE_UNREADABLE', () => readOf(path, 1e15, out));
  for (const at of [0, 50_000, 99_999])
    for (const odd of [Number.NaN, Infinity, -Infinity]) {
      const doubles = values.slice();
      doubles[at] = odd;
      assert.is(await readOf(write('odd.bin', doubles), 4, out), false);
      const floats = Float32Array.from(doubles);
      assert.is(await readOf(write('odd.bin', floats), 4, new Float32Array(values.length)), false);
    }
  const extremes = Float64Array.of(Number.MAX_VALUE, -0, 5e-324);
  assert.is(await readOf(write('extremes.bin', extremes), 4, out.subarray(0, 3)), true);
  const handle = await open(path);
  const columns = [4 + 8 * 60_000, 4, 4 + 8 * 7];
  const rows = new Float64Array(40_001 * 3);
  assert.is(await addon.readColumns(handle.fd, columns, 40_000, rows, 2), true);
  for (const row of [0, 1, 10_921, 10_922, 10_923, 39_999])
    assert.equal(
      Array.from(rows.slice(2 + 3 * row, 5 + 3 * row)),
      [60_000, 0, 7].map((from) => values[from + row]!),
    );
  assert.equal([rows[1], rows[120_002]], [0, 0], 'Its neighbours are left alone.');
  await throwsCode('ERR_FILE_UNREADABLE', () => addon.readColumns(handle.fd, columns, 40_001, rows, 0));
  await handle.close();
  const call =
    (...[descriptor, positions, count, to, at]: Parameters<typeof addon.readColumns>) =>
    () =>
      addon.readColumns(descriptor, positions, count, to, at);
  await throwsCode('ERR_FILE_UNREADABLE', call(1 << 20, [0], 1, out, 0));
  for (const position of [-1, Number.NaN, Infinity, '0' as never])
    await throwsCode('ERR_INVALID_ARGUMENT', call(0, [0, position], 1, out, 0));
  await throwsCode('ERR_INVALID_ARGUMENT', call(0, [0], 1, [1] as never, 0));
  await throwsCode('ERR_INVALID_ARGUMENT', call(0, Float64Array.of(0) as never, 1, out, 0));
  await throwsCode('ERR_SHAPE', call(0, [], 1, out, 0));
  await throwsCode('ERR_SHAPE', call(0, [0], 2, out.subarray(0, 2), 1));
  await throwsCode('ERR_SHAPE', call(0, [0], 1, out, -1));
});

test('A file that becomes shorter while it is read is refused.', async () => {
  const path = file('shrinks.npy', Buffer.concat([npyHeader('float64', 1 << 20, 2), new Uint8Array(1 << 24)]));
  const reader = await openTable(path);
  truncateSync(path, 1 << 23);
  await throwsCode('ERR_MALFORMED_NPY', 'ends in row (', () => reader.whole!());
  await reader.close();
});

test.run();
