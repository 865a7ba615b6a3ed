// Our own decompressors: known answers, data that Node compresses if it can, and refusals.
import * as zlib from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Compression, decompress } from '../../../lib/table/compression/decompress.ts';
import { unlz4, unlz4Block } from '../../../lib/table/compression/lz4.ts';
import { unsnappy } from '../../../lib/table/compression/snappy.ts';
import { unzstd } from '../../../lib/table/compression/zstd.ts';
import { Contradiction } from '../../../lib/table/contradiction.ts';
import { runToEnd, type Work } from '../../../lib/work.ts';

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');
const refuses = (work: () => unknown, says: string) =>
  assert.throws(work, (error: unknown) => error instanceof Contradiction && error.message.includes(says), says);
const outOf = (
  bytes: readonly number[],
  length: number,
  take: (bytes: Uint8Array, out: Uint8Array) => Work<unknown>,
) => {
  const out = new Uint8Array(length);
  runToEnd(take(Uint8Array.from(bytes), out));
  return text(out);
};

test('Snappy: literals and copies, overlapping ones too; lengths and offsets that do not fit are refused.', () => {
  // "abc", then six bytes from three back.
  assert.is(outOf([9, 2 << 2, 97, 98, 99, (2 << 2) | 1, 3], 9, unsnappy), 'abcabcabc');
  assert.is(outOf([9, 2 << 2, 97, 98, 99, (5 << 2) | 2, 3, 0], 9, unsnappy), 'abcabcabc');
  assert.is(outOf([9, 2 << 2, 97, 98, 99, (5 << 2) | 3, 3, 0, 0, 0], 9, unsnappy), 'abcabcabc');
  refuses(() => outOf([9, 2 << 2, 97, 98, 99], 8, unsnappy), 'state (9) bytes');
  refuses(() => outOf([9, 2 << 2, 97, 98, 99], 9, unsnappy), 'hold (3) bytes, not (9)');
  refuses(() => outOf([9, 63 << 2, 255, 255, 255, 255, 0], 9, unsnappy), 'a literal of (4294967296)');
  refuses(() => outOf([9, 2 << 2, 97, 98, 99, (2 << 2) | 1, 4], 9, unsnappy), '(4) bytes back');
  refuses(() => outOf([9, 2 << 2, 97, 98, 99, (2 << 2) | 1, 0], 9, unsnappy), '(0) bytes back');
  refuses(() => outOf([4, 2 << 2, 97, 98, 99, (2 << 2) | 1, 3], 4, unsnappy), 'a copy of (6)');
  refuses(() => outOf([9, 2 << 2, 97, 98, 99, (5 << 2) | 2, 3], 9, unsnappy), 'end within a copy');
});

test('LZ4: blocks and frames; lengths and offsets that do not fit are refused.', () => {
  const block = [0x32, 97, 98, 99, 3, 0, 0x10, 100];
  assert.is(outOf(block, 10, unlz4Block), 'abcabcabcd');
  refuses(() => outOf(block, 9, unlz4Block), 'a literal of (1)');
  refuses(() => outOf([0x32, 97, 98, 99, 4, 0, 0x10, 100], 10, unlz4Block), '(4) bytes back');
  refuses(() => outOf([0xf0, 255, 255], 10, unlz4Block), 'within a length');
  refuses(() => outOf([0x32, 97, 98, 99, 3], 10, unlz4Block), 'within a copy');
  const frame = [0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0, block.length, 0, 0, 0, ...block, 0, 0, 0, 0];
  assert.is(outOf(frame, 10, unlz4), 'abcabcabcd');
  refuses(() => outOf(frame, 11, unlz4), 'hold (10) bytes, not (11)');
  refuses(() => outOf(frame.slice(0, -5), 10, unlz4), 'within a frame');
  refuses(() => outOf([1, ...frame.slice(1)], 10, unlz4), 'does not begin as one');
});

const numbers = (length: number) => Buffer.from(Float64Array.from({ length }, (_, i) => (i * i) % 97).buffer);
test('Zstandard: frames that Node compresses are decompressed, at every level; changed ones never end in another error.', () => {
  const { zstdCompressSync, constants } = zlib as unknown as {
    zstdCompressSync?: (bytes: Uint8Array, options: object) => Buffer;
    constants: { ZSTD_c_compressionLevel: number };
  };
  if (zstdCompressSync === undefined) {
    console.log('  (this Node has no Zstandard: files of pyarrow and Polars are the test of ours)');
    return;
  }
  const noise = Uint8Array.from({ length: 300_000 }, (_, i) => Math.imul(i, 2654435761) >>> 24);
  for (const bytes of [numbers(60), numbers(60_000), noise, Buffer.from('covarium '.repeat(20_000)), Buffer.alloc(0)])
    for (const level of [-5, 1, 3, 9, 19, 22]) {
      const packed = zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: level } });
      const out = Buffer.alloc(bytes.length);
      runToEnd(unzstd(packed, out));
      assert.ok(out.equals(bytes), `level ${level}`);
      if (bytes.length > 0) refuses(() => runToEnd(unzstd(packed, Buffer.alloc(bytes.length - 1))), '');
      refuses(() => runToEnd(unzstd(packed, Buffer.alloc(bytes.length + 1))), '');
      for (let change = 0; change < 300; change++) {
        const changed = Buffer.from(packed);
        changed[(change * 7919) % changed.length]! ^= 1 + (change % 255);
        try {
          runToEnd(unzstd(changed, out));
        } catch (error) {
          assert.match((error as Error).constructor.name, /^(Contradiction|NotTaken)$/, (error as Error).stack);
        }
      }
    }
});

test('gzip and brotli: exactly the bytes that are stated, and never more.', async () => {
  const bytes = numbers(100_000);
  for (const [compression, packed] of [
    ['gzip', zlib.gzipSync(bytes)],
    ['brotli', zlib.brotliCompressSync(bytes)],
  ] as [Compression, Buffer][]) {
    const out = new Uint8Array(bytes.length);
    await decompress(compression, packed, out, undefined);
    assert.ok(bytes.equals(out));
    const refused = async (bytes: Uint8Array, length: number) => {
      let error: unknown;
      await decompress(compression, bytes, new Uint8Array(length), undefined).catch((thrown) => {
        error = thrown;
      });
      assert.instance(error, Contradiction);
    };
    await refused(packed, bytes.length - 1);
    await refused(packed, bytes.length + 1);
    await refused(packed, 100);
    await refused(packed.subarray(0, 200), bytes.length);
    await refused(Buffer.from('no such data'), 12);
  }
});

test.run();
