// Sources and destinations of tables: paths, URLs, bytes, streams, and blocks one after the other.
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  createReadStream,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { markAsUntransferable } from 'node:worker_threads';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Matrix, MultivariateNormal, openDevice, readTable, writeTable } from '../../lib/index.ts';
import { nativeParser, openCsv, plainParser } from '../../lib/table/csv-reader.ts';
import { tableFormats } from '../../lib/table/format.ts';
import { openTable } from '../../lib/table/read-table.ts';
import { closeResult, resultMemory } from '../../lib/table/result-memory.ts';
import { moduleUrl, nodeOptions, runNode } from '../harness/child.ts';
import { throwsCode } from '../harness/throws-code.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-sources-'));
const at = (name: string) => join(folder, name);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const names = ['a', 'b'];
const rows = [
  [1.5, 2],
  [-3, 4.25],
  [5, 1e-7],
];

for (const format of tableFormats)
  test(`A ${format} file is read from a path, a URL, bytes and streams.`, async () => {
    const path = at(`rows.${format}`);
    await writeTable(path, rows, { ...(format !== 'npy' && { names }) });
    const bytes = readFileSync(path);
    const slow = async function* () {
      for (const byte of bytes) yield Uint8Array.of(byte);
    };
    const server = createServer((_, response) => response.end(bytes)).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const sources = [
      pathToFileURL(path),
      bytes,
      new Uint8Array(bytes).buffer,
      createReadStream(path),
      slow(),
      new Blob([bytes]).stream() as unknown as AsyncIterable<Uint8Array>,
      new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/rows.${format}`),
    ];
    try {
      for (const source of sources) {
        const read = await readTable(source);
        assert.equal([read.names, read.rows.toArray()], [format === 'npy' ? undefined : names, rows]);
      }
      const plain = async function* () {
        yield bytes;
      };
      assert.equal((await readTable(plain(), { format })).rows.toArray(), rows);
    } finally {
      server.close();
    }
  });

test('Finding the format of a file takes little memory.', async () => {
  const path = at('begins.npy');
  await writeTable(path, Matrix.from(new Float64Array(1 << 19), { columns: 2 }));
  const before = process.memoryUsage().arrayBuffers;
  const table = await openTable(path);
  const taken = process.memoryUsage().arrayBuffers - before;
  await table.close();
  assert.ok(taken < 1 << 18, `(${taken}) bytes`);
});

test('The memory of the table that was closed last survives a garbage collection.', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const length = 2 << 20;
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  closeResult(resultMemory('float64', length).fill(7));
  // Weak references hold until this turn of the event loop ends.
  await turn();
  collect();
  await turn();
  assert.is(resultMemory('float64', length)[5], 7);
});

test('V8 does not collect its heap for tables that are read and closed one after the other.', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heap = Array.from({ length: 100_000 }, (_, i) => ({ i, list: [i] }));
  const path = at('in-turn.npy');
  await writeTable(path, Matrix.from(new Float64Array(6 << 20), { columns: 8 }));
  // V8 lowers its limits to the heap's size.
  for (let i = 0; i < 3; i++) collect();
  let collections = 0;
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as unknown as { detail: { kind: number } }[])
      collections += Number(entry.detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR);
  });
  observer.observe({ entryTypes: ['gc'] });
  for (let i = 0; i < 30; i++) (await readTable(path)).rows.close();
  await new Promise((resolve) => setTimeout(resolve, 50));
  observer.disconnect();
  assert.ok(heap.length > 0 && collections < 10, `(${collections}) of 30 reads`);
});

test('The next table of the same size reuses the memory of a closed table, unless native code may have its address.', async () => {
  const path = at('large.npy');
  const count = 1 << 20;
  const large = Float64Array.from({ length: 2 * count }, (_, i) => Math.sin(i * i));
  await writeTable(path, Matrix.from(large, { columns: 2 }));
  const { rows } = await readTable(path);
  const data = rows.data as Float64Array;
  assert.equal([data.length, data[5], data.at(-1)], [2 * count, large[5], large.at(-1)]);
  rows.close();
  assert.is(data.length, 0);
  await throwsCode('ERR_CLOSED', async () => rows.data);
  // Another file of that size is read over it, and every number is its own.
  await writeTable(path, Matrix.from(large.map((value) => -value) as Float64Array<ArrayBuffer>, { columns: 2 }));
  const again = await readTable(path);
  assert.ok((again.rows.data as Float64Array).every((value, i) => value === -large[i]!));
  const values = resultMemory('float64', 2 * count).fill(7);
  closeResult(values);
  // Weak references hold until this turn of the event loop ends.
  const next = resultMemory('float64', 2 * count);
  assert.equal([values.length, next.length, next[0], next.at(-1)], [0, 2 * count, 7, 7]);
  assert.equal(Array.from(new Set(resultMemory('float64', 2 * count))), [0], 'none is left for a second');
  assert.is(resultMemory('float32', 2 * count)[0], 0, 'nor for another size');
  markAsUntransferable(next.buffer);
  closeResult(next);
  assert.is(resultMemory('float64', 2 * count)[0], 0);
  const small = resultMemory('float64', 100);
  closeResult(small);
  assert.is(small.length, 100, 'Small memory stays.');
  const device = openDevice();
  const used = (await readTable(path)).rows;
  const kept = used.data;
  await MultivariateNormal.fit({ rows: used, device });
  used.close();
  await throwsCode('ERR_CLOSED', async () => used.data);
  if (device.kind !== 'reference') assert.is(kept.length, 2 * count, 'native code had its address');
  device.close();
});

test('A stream may give strings; a stream of other values, or no source at all, is refused.', async () => {
  assert.equal((await readTable(Readable.from(['a,b\n1.5,', '2\n']))).rows.toArray(), [[1.5, 2]]);
  const numbers = Readable.from([1, 2]) as unknown as AsyncIterable<Uint8Array>;
  await throwsCode('ERR_INVALID_ARGUMENT', '(1)', () => readTable(numbers));
  for (const source of [undefined, null, 7, {}, [1, 2], Promise.resolve()])
    await throwsCode('ERR_INVALID_ARGUMENT', 'Pass a path', () => readTable(source as unknown as string));
  await throwsCode('ERR_FILE_NOT_FOUND', '`new URL(address)`', () => readTable('https://example.org/x.csv'));
  await throwsCode('ERR_FILE_UNREADABLE', 'it is a folder', () => readTable(tmpdir()));
  for (const url of ['file:///a%ff.csv', 'file:///a%2Fb.csv'])
    await throwsCode('ERR_INVALID_ARGUMENT', url, () => readTable(new URL(url)));
  await throwsCode('ERR_INVALID_ARGUMENT', 'ftp://', () => readTable(new URL('ftp://user:secret@example.org/x.csv')));
  const failing = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from('a,b\n1,2\n');
    throw new Error('the source fails');
  };
  await throwsCode('ERR_FILE_UNREADABLE', 'the source fails', () => readTable(failing()));
});

test('What has a stream is refused with how to get it, and so is a stream that was read already.', async () => {
  const text = 'a,b\n1,2\n';
  const [response, nodeStream] = [new Response(text), Readable.from([text])];
  await throwsCode('ERR_INVALID_ARGUMENT', 'what its stream() returns', () => readTable(new Blob([text]) as never));
  await throwsCode('ERR_INVALID_ARGUMENT', 'Pass its body', () => readTable(response as never));
  for (const stream of [response.body as never, nodeStream]) {
    assert.equal((await readTable(stream)).rows.toArray(), [[1, 2]]);
    await throwsCode('ERR_INVALID_ARGUMENT', 'was read already', () => readTable(stream));
  }
});

test('If a server does not have the file, the error has its answer, but no password.', async () => {
  const server = createServer((_, response) => response.writeHead(404).end()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const url = new URL(`http://127.0.0.1:${port}/x.csv?token=secret`);
  const { message } = await throwsCode('ERR_FILE_NOT_FOUND', '(404 Not Found)', () => readTable(url));
  assert.not.match(message, 'secret');
  server.close();
  await throwsCode('ERR_FILE_NOT_FOUND', 'absent', () => readTable(pathToFileURL(at('absent.csv'))));
});

/** Runs `check` with a server that answers by `answer`; `url` names a CSV file there. */
async function served(answer: RequestListener, check: (url: URL) => Promise<unknown>): Promise<void> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  try {
    await check(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/x.csv`));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('Redirects are followed; a server that lies, fails or disappears gives an error with the reason.', async () => {
  await served(
    ({ url }, response) =>
      url === '/there.csv' ? response.end('a,b\n1,2\n') : response.writeHead(302, { location: '/there.csv' }).end(),
    async (url) => {
      assert.equal((await readTable(url)).rows.toArray(), [[1, 2]]);
      // Bytes that are not UTF-8 are a valid path, too.
      assert.equal((await readTable(new URL('/%ff.csv', url))).rows.toArray(), [[1, 2]]);
    },
  );
  for (const [reason, answer] of [
    ['redirect count exceeded', (_, response) => response.writeHead(302, { location: '/x.csv' }).end()],
    ['500', (_, response) => response.writeHead(500).end('a,b\n1,2\n')],
    [
      'terminated',
      (_, response) => response.writeHead(200, { 'content-length': 100 }).write('a,b\n1,2\n', () => response.destroy()),
    ],
    ['terminated', (_, response) => response.write('a,b\n1,2\n', () => response.destroy())],
    ['fetch failed', (request) => request.socket.destroy()],
    ['fetch failed', (request) => request.socket.end('HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\na,b\n')],
  ] as [string, RequestListener][])
    await served(answer, (url) => throwsCode('ERR_FILE_UNREADABLE', reason, () => readTable(url)));
  // A body longer than its stated length is cut there.
  await served(
    (request) => request.socket.end('HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\na,b\n1,2\n3,4\n'),
    async (url) => assert.equal((await readTable(url)).rows.toArray(), [[1, 2]]),
  );
  const gone = new URL('http://127.0.0.1:9/x.csv');
  await throwsCode('ERR_FILE_UNREADABLE', 'cannot be read (fetch failed: ', () => readTable(gone));
});

test('A signal ends the reading of a source that never answers, and of one that never ends.', async () => {
  const never = new Promise<never>(() => {});
  async function* stalled() {
    yield Buffer.from('a,b\n1,2\n');
    await never;
  }
  const mute = (): AsyncIterable<Uint8Array> => ({ [Symbol.asyncIterator]: () => ({ next: () => never }) });
  async function* endless() {
    for (yield Buffer.from('a,b\n'); ; await new Promise((resolve) => setImmediate(resolve)))
      yield Buffer.from('1,2\n');
  }
  const stops = (source: Parameters<typeof readTable>[0], options = {}) =>
    throwsCode('ERR_ABORTED', 'enough', () => {
      const abort = new AbortController();
      setTimeout(() => abort.abort(new Error('enough')), 30);
      return readTable(source, { ...options, signal: abort.signal });
    });
  for (const format of tableFormats) await stops(mute(), { format });
  await stops(stalled());
  await stops(endless());
  await stops(new Readable({ read() {} }));
  await stops(new ReadableStream<Uint8Array>({}) as unknown as AsyncIterable<Uint8Array>);
  await served(
    () => {},
    (url) => stops(url),
  );
  await served(
    (_, response) => response.write('a,b\n1,2\n'),
    (url) => stops(url),
  );
  const pipe = at('pipe.csv');
  if (spawnSync('mkfifo', [pipe]).status !== 0) return console.log('skipped  a pipe: mkfifo is not here.');
  // Open for reading and writing, so that a reader waits for bytes, and ends when this file is closed.
  const held = openSync(pipe, 'r+');
  await stops(pipe);
  closeSync(held);
  // Without a writer, opening waits. More of them than libuv has threads do not keep the process from ending.
  await Promise.all(Array.from({ length: 6 }, () => stops(pipe)));
});

test('An error of a stream before its format is loaded rejects the call.', async () => {
  const script = `
    import { createReadStream } from 'node:fs';
    import { readTable } from '${moduleUrl('lib/index.ts')}';
    for (const format of ['csv', 'npy', 'arrow', 'parquet', undefined])
      await readTable(createReadStream('no-such-file'), { format }).catch(({ code }) => console.log(code));`;
  const { stdout, stderr } = await runNode([...nodeOptions, '--input-type=module', '--eval', script]);
  assert.equal(stdout.split('\n'), Array(5).fill('ERR_FILE_NOT_FOUND'), stderr);
});

test('A stream may throw anything.', async () => {
  for (const thrown of [null, undefined, 'cut', Symbol('cut')]) {
    const failing = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('a,b\n1,2\n');
      throw thrown;
    };
    await throwsCode('ERR_FILE_UNREADABLE', String(thrown), () => readTable(failing()));
  }
});

const count = 30_000;
const value = (i: number) => Math.sin(i) * 2 ** (i % 50);
async function* blocks(sizes: readonly number[]) {
  let row = 0;
  for (const size of sizes) {
    yield Matrix.from(
      Float64Array.from({ length: 2 * size }, (_, i) => value(2 * row + i)),
      { columns: 2 },
    );
    row += size;
  }
}

for (const format of tableFormats)
  test(`Blocks that come one after the other are written as ${format}, with any numbers of rows.`, async () => {
    const path = at(`blocks.${format}`);
    await writeTable(path, blocks([1, 9_999, 0, 20_000]), { ...(format !== 'npy' && { names }) });
    const { rows: read } = await readTable(path);
    assert.is(read.rows, count);
    assert.ok((read.data as Float64Array).every((each, i) => each === value(i)));
    const whole = at(`whole.${format}`);
    await writeTable(whole, Matrix.from(read.data as Float64Array, { columns: 2 }), {
      ...(format !== 'npy' && { names }),
    });
    if (format === 'csv') assert.equal(readFileSync(path), readFileSync(whole));
    const failing = async function* () {
      yield* blocks([5]);
      throw new Error('no more');
    };
    const before = readFileSync(path);
    await writeTable(path, failing()).then(
      () => assert.unreachable(),
      (error) => assert.is(error.message, 'no more'),
    );
    const mixed = async function* () {
      yield [[1, 2]];
      yield [[1, 2, 3]];
    };
    await throwsCode('ERR_SHAPE', '(3) columns, but the first has (2)', () => writeTable(path, mixed()));
    const abort = new AbortController();
    const endless = async function* () {
      for (;;) {
        yield* blocks([1000]);
        abort.abort();
      }
    };
    await throwsCode('ERR_ABORTED', '', () => writeTable(path, endless(), { signal: abort.signal }));
    assert.equal(readFileSync(path), before, 'the old file stays');
    assert.not.ok(readdirSync(folder).some((name) => name.includes('partial')));
  });

test('Without blocks a table has no rows, and `names` gives its columns.', async () => {
  const none = async function* (): AsyncGenerator<Matrix> {};
  await writeTable(at('none.csv'), none(), { names });
  assert.is(readFileSync(at('none.csv'), 'utf8'), 'a,b\n');
  await throwsCode('ERR_SHAPE', '(0) blocks', () => writeTable(at('nothing.csv'), none()));
  assert.not.ok(existsSync(at('nothing.csv')));
  await throwsCode('ERR_INVALID_ARGUMENT', 'pass `count`', () => writeTable('-', blocks([1]), { format: 'npy' }));
  await throwsCode('ERR_SHAPE', '(3)', () => writeTable(at('counted.npy'), blocks([2, 2]), { count: 3 }));
});

/** How often the event loop turns while `work` is under way. */
async function turnsOf(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const turn = () => {
    turns++;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isDone = true;
  return turns;
}

test('The event loop turns at least once per megabyte: no call holds it for a whole file.', async () => {
  const megabytes = 24;
  const values = Float64Array.from({ length: (megabytes << 20) / 8 }, (_, i) => value(i));
  const matrix = Matrix.from(values, { columns: 8 });
  for (const format of tableFormats) {
    const path = at(`large.${format}`);
    const written = await turnsOf(() => writeTable(path, matrix));
    assert.ok(written >= megabytes / 8, `${format} is written in ${written} turns`);
    const read = await turnsOf(() => readTable(path));
    assert.ok(read >= megabytes / 4, `${format} is read in ${read} turns`);
  }
  for (const parser of [nativeParser(), plainParser]) {
    if (parser === undefined) continue;
    const read = await turnsOf(async () => {
      const reader = await openCsv(at('large.csv'), { columns: undefined, missing: 'error' }, parser);
      for await (const _ of reader.blocks());
      await reader.close();
    });
    assert.ok(read >= megabytes, `CSV is read in ${read} turns`);
  }
});

test('A signal ends reading between two blocks, and while a table is read whole.', async () => {
  for (const format of tableFormats) {
    const path = at(`large.${format}`);
    const abort = new AbortController();
    const reader = await openTable(path, { signal: abort.signal });
    let seen = 0;
    await throwsCode('ERR_ABORTED', 'enough', async () => {
      for await (const _ of reader.blocks()) if (++seen === 1) abort.abort(new Error('enough'));
    });
    await reader.close();
    assert.ok(seen < 4, format);
    await throwsCode('ERR_ABORTED', 'before', () =>
      readTable(path, { signal: AbortSignal.abort(new Error('before')) }),
    );
    let turns = 0;
    const later = new AbortController();
    const turn = () => (++turns === 2 ? later.abort(new Error('later')) : setImmediate(turn));
    setImmediate(turn);
    await throwsCode('ERR_ABORTED', 'later', () => readTable(path, { signal: later.signal }));
  }
});

test('A signal ends writing, and the old file stays.', async () => {
  const matrix = Matrix.from(new Float64Array(1 << 20), { columns: 8 });
  for (const format of tableFormats) {
    const path = at(`kept.${format}`);
    await writeTable(path, rows);
    const before = readFileSync(path);
    const abort = new AbortController();
    let turns = 0;
    const turn = () => (++turns === 3 ? abort.abort(new Error('enough')) : setImmediate(turn));
    setImmediate(turn);
    await throwsCode('ERR_ABORTED', 'enough', () => writeTable(path, matrix, { signal: abort.signal }));
    assert.equal(readFileSync(path), before);
    assert.equal(
      readdirSync(folder).filter((name) => name.startsWith('.')),
      [],
    );
  }
});

test('A stream of an unknown format is destroyed if reading ends early.', async () => {
  const path = at('ended.csv');
  await writeTable(path, rows);
  const abort = new AbortController();
  const stream = createReadStream(path);
  const reading = readTable(stream, { signal: abort.signal });
  abort.abort();
  await throwsCode('ERR_ABORTED', '', () => reading);
  assert.is(stream.destroyed, true);
});

test.run();
