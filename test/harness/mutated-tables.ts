// Mutates sound CSV and NPY files, and holds their readers to: numbers or a CovariumError, within seconds and a bounded
// memory, and the same answer from the addon's CSV reader and from TypeScript. A long round, and each format alone:
//   node --import tsx test/harness/mutated-tables.ts 10000 csv npy
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { CovariumError } from '../../lib/covarium-error.ts';
import { nativeParser, openCsv, plainParser } from '../../lib/table/csv-reader.ts';
import { openNpy } from '../../lib/table/npy-reader.ts';
import type { ReadRequest, TableReader } from '../../lib/table/table.ts';

type Random = (below: number) => number;

function randomOf(seed: number): Random {
  let state = seed >>> 0;
  // Mulberry32
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * below);
  };
}

const csvWords = [
  '"',
  '""',
  ',',
  ';',
  '\t',
  '\n',
  '\r',
  '\r\n',
  '#',
  'NA',
  '1e400',
  '-',
  '.',
  'e',
  '0x10',
  ' ',
  '\0',
  '\ufeff',
  '1',
];
const npyWords = [
  '(',
  ')',
  ',',
  "'",
  '{',
  '}',
  '9'.repeat(18),
  '-1',
  '1e300',
  'True',
  "'shape': (2, 3)",
  '<i8',
  '|b1',
  '>f2',
  ' ',
];

const csvFiles = [
  'a,b\n1,2\n3.5,-4e3\n,6\n',
  '"x ""y""",z\r\n"1","2"\r\n3,"4\r\n"\r\n',
  '1.0e+00 2.0e+00\n3.0e+00 4.0e+00\n',
  '# c\na;b;c\n1;2;3\nNA;5;6\n',
  Array.from({ length: 400 }, (_, i) => `${i / 7},${i * 1e10},-${i}`).join('\n'),
].map((text) => Buffer.from(text));

function npyFiles(): Buffer[] {
  const path = new URL('../answers/numpy-tables.json', import.meta.url);
  const { arrays, archives } = JSON.parse(readFileSync(path, 'utf8')) as {
    readonly arrays: { readonly [name: string]: { readonly base64: string } };
    readonly archives: { readonly [name: string]: string };
  };
  const all = [...Object.values(arrays).map(({ base64 }) => base64), ...Object.values(archives)];
  return all.map((base64) => Buffer.from(base64, 'base64'));
}

function mutated(file: Buffer, words: readonly string[], random: Random): Buffer {
  let bytes = Buffer.from(file);
  for (let count = 1 + random(4); count > 0; count--) {
    const at = random(bytes.length + 1);
    const rest = bytes.subarray(at);
    const word = Buffer.from(words[random(words.length)]!);
    const kind = random(6);
    if (kind === 0 && bytes.length > 0) bytes[random(bytes.length)] = random(256);
    else if (kind === 1) bytes = Buffer.concat([bytes.subarray(0, at), word, rest]);
    else if (kind === 2) bytes = Buffer.concat([bytes.subarray(0, at), word, rest.subarray(word.length)]);
    else if (kind === 3) bytes = Buffer.concat([bytes.subarray(0, at), rest.subarray(random(20))]);
    else if (kind === 4) bytes = Buffer.from(bytes.subarray(0, at));
    else if (bytes.length >= at + 4)
      bytes.writeUInt32LE([0, 1, 0xffffffff, 0x7fffffff, random(2 ** 31)][random(5)]!, at);
  }
  return bytes;
}

async function answerOf(reader: Promise<TableReader>): Promise<string> {
  let open: TableReader | undefined;
  try {
    open = await reader;
    const { columns, names, rows } = open.head;
    const hash: number[] = [];
    let count = 0;
    for await (const block of open.blocks()) {
      if (block.some((value) => !Number.isFinite(value))) throw new Error('a number that is not finite is let through');
      for (const value of block) hash.push(value);
      count += block.length / columns;
    }
    if (!Number.isInteger(count) || (rows !== undefined && rows !== count + open.dropped))
      throw new Error(`the head tells of (${rows}) rows, but there are (${count})`);
    return JSON.stringify([columns, names, open.dropped, hash]);
  } catch (error) {
    if (
      error instanceof CovariumError &&
      /^ERR_(MALFORMED_|UNSUPPORTED$|NOT_FINITE$|OUT_OF_RANGE$|INVALID_ARGUMENT$)/.test(error.code)
    )
      return `${error.code} ${error.message}`;
    throw error;
  } finally {
    await open?.close();
  }
}

const native = nativeParser();
const mostSeconds = 5;
const mostBytes = 600 << 20;

/** Reads so many mutations of each file's format; throws at the first that is not held, with the file as base64. */
export async function readMutated(format: 'csv' | 'npy', count: number, seed = 1): Promise<{ readonly read: number }> {
  const random = randomOf(seed);
  const files = format === 'csv' ? csvFiles : npyFiles();
  const before = process.memoryUsage().rss;
  let read = 0;
  for (let i = 0; i < count; i++) {
    const bytes = mutated(files[random(files.length)]!, format === 'csv' ? csvWords : npyWords, random);
    const begin = performance.now();
    const request: ReadRequest = {
      columns: undefined,
      missing: random(2) === 0 ? 'error' : 'drop',
      ...(format === 'csv' && random(3) === 0 && { comment: '#' }),
      ...(format === 'npy' && random(2) === 0 && { member: 'a' }),
    };
    try {
      const answer = await answerOf(format === 'csv' ? openCsv(bytes, request, plainParser) : openNpy(bytes, request));
      if (!answer.startsWith('ERR_')) read++;
      if (format === 'csv' && native !== undefined) {
        const other = await answerOf(openCsv(bytes, request, native));
        if (other !== answer) throw new Error(`TypeScript: ${answer}\naddon: ${other}`);
      }
      if (performance.now() - begin > mostSeconds * 1000) throw new Error('reading takes too long');
      if (process.memoryUsage().rss - before > mostBytes) throw new Error('reading takes too much memory');
    } catch (error) {
      throw new Error(`Mutation (${i}) of ${format}: ${bytes.toString('base64')}`, { cause: error });
    }
  }
  return { read };
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [count = '10000', ...formats] = process.argv.slice(2);
  for (const format of (formats.length > 0 ? formats : ['csv', 'npy']) as ('csv' | 'npy')[]) {
    const begin = performance.now();
    const { read } = await readMutated(format, Number(count));
    const seconds = ((performance.now() - begin) / 1000).toFixed(1);
    console.log(`${format}: ${count} mutations, ${read} read as tables, the others refused, ${seconds} s`);
  }
}
