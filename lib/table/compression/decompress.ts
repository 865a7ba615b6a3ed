import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { runSliced, runToEnd, type Work } from '../../work.ts';
import { Contradiction } from '../contradiction.ts';
import { unlz4, unlz4Block } from './lz4.ts';
import { unsnappy } from './snappy.ts';
import { unzstd } from './zstd.ts';

/** Ways to compress bytes that are read. `lz4-block` has no frame. */
export type Compression = 'snappy' | 'gzip' | 'brotli' | 'zstd' | 'lz4' | 'lz4-block';

const works: { readonly [compression in Compression]?: (bytes: Uint8Array, out: Uint8Array) => Work } = {
  snappy: unsnappy,
  zstd: unzstd,
  lz4: unlz4,
  'lz4-block': function* (bytes, out) {
    const end = yield* unlz4Block(bytes, out);
    if (end !== out.length) throw new Contradiction(`LZ4 data hold (${end}) bytes, not (${out.length})`);
  },
};

type Options = { readonly maxOutputLength: number };
interface Zlib {
  readonly sync: (bytes: Uint8Array, options: Options) => Buffer;
  readonly async: (bytes: Uint8Array, options: Options) => Promise<Buffer>;
}
// Node 22.15 and later have Zstandard too.
const {
  zstdDecompressSync,
  zstdDecompress,
}: { zstdDecompressSync?: Zlib['sync']; zstdDecompress?: typeof zlib.gunzip } = zlib as object;
const zlibs: { readonly [compression in Compression]?: Zlib } = {
  gzip: { sync: zlib.gunzipSync, async: promisify(zlib.gunzip) },
  brotli: { sync: zlib.brotliDecompressSync, async: promisify(zlib.brotliDecompress) },
  ...(zstdDecompressSync &&
    zstdDecompress && { zstd: { sync: zstdDecompressSync, async: promisify(zstdDecompress) as Zlib['async'] } }),
};

// Up to here a decompressor takes a few milliseconds, and needs no turns.
const shortBytes = 1 << 18;

/**
 * Decompresses `bytes` into all of `out`: no byte more is kept, however many there are. Long ones are decompressed in
 * turns, or on a thread of Node's. Throws a {@link Contradiction} where they do not hold exactly as many.
 */
export async function decompress(
  compression: Compression,
  bytes: Uint8Array,
  out: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<void> {
  const isShort = out.length <= shortBytes;
  const native = zlibs[compression];
  if (native === undefined) {
    const work = works[compression]!(bytes, out);
    if (isShort) runToEnd(work);
    else await runSliced(work, signal);
    return;
  }
  const options = { maxOutputLength: Math.max(1, out.length) };
  let found: Buffer;
  try {
    found = isShort ? native.sync(bytes, options) : await native.async(bytes, options);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const why = code === 'ERR_BUFFER_TOO_LARGE' ? `hold more than (${out.length}) bytes` : `are damaged (${code})`;
    throw new Contradiction(`its ${compression} data ${why}`, { cause });
  }
  if (found.length !== out.length)
    throw new Contradiction(`its ${compression} data hold (${found.length}) bytes, not (${out.length})`);
  out.set(found);
}
