// Files that lie in one place: each length, count, offset, width and type that a sound file states is replaced by other
// values, one at a time. mutations.ts changes files at random; this file is exhaustive.
import type { TableFormat } from '../../lib/table/format.ts';
import { anatomyOf, type Field, interesting, large, type Region, statedBy, withValue } from './mutations.ts';

/** A sound file with one statement replaced. */
interface Lie {
  readonly what: string;
  readonly region: Region;
  bytes(): Buffer;
}

/** All lies about a sound file. */
export function liesAbout(format: TableFormat, sound: Buffer): Lie[] {
  const bytes: Buffer<ArrayBuffer> = Buffer.from(sound);
  if (format === 'csv') return [];
  if (format === 'npy') return isZip(bytes) ? zipLies(bytes) : npyLies(bytes);
  const { fields, parts, footer } = anatomyOf(format, bytes);
  const edges = format === 'parquet' ? parquetEdges(bytes, parts) : arrowEdges(bytes);
  return [...fields, ...edges].flatMap((field) => fieldLies(bytes, field, footer));
}

function fieldLies(sound: Buffer<ArrayBuffer>, field: Field, footer = sound.length): Lie[] {
  const told = statedBy(sound, field);
  const near = [1n, 2n, 4n, 8n, 16n, 64n].flatMap((step) => [told + step, told - step]);
  const values = [...near, 2n * told, told / 2n, -told, told ^ 1n, told ^ 0x80n, ...interesting, ...large];
  const lies = new Map<string, Lie>();
  for (const value of values) {
    const changed = withValue(sound, field, footer, value);
    if (changed.equals(sound)) continue;
    const key = changed.toString('latin1', field.at, changed.length - (sound.length - field.end));
    const what = `(${value}) for (${told}), ${field.kind} at ${field.at}`;
    lies.set(key, { what, region: field.region, bytes: () => withValue(sound, field, footer, value) });
  }
  return [...lies.values()];
}

/** Consecutive words. */
function wordsOf(start: number, end: number, width: 1 | 2 | 4 | 8, region: Region): Field[] {
  const kind = ({ 1: 'word8', 2: 'word16', 4: 'word32', 8: 'word64' } as const)[width];
  const fields: Field[] = [];
  for (let at = start; at + width <= end; at += width) fields.push({ at, end: at + width, kind, region });
  return fields;
}

// The magic words, the length of the footer, and in the first bytes of each page widths, lengths of levels and of runs.
function parquetEdges(bytes: Buffer, parts: readonly { at: number; region: Region }[]): Field[] {
  const pages = parts.filter(({ region, at }) => region === 'numbers' && at < bytes.length);
  return [
    ...wordsOf(0, 4, 1, 'structure'),
    ...wordsOf(bytes.length - 8, bytes.length - 4, 4, 'structure'),
    ...wordsOf(bytes.length - 4, bytes.length, 1, 'structure'),
    ...pages.flatMap(({ at }) => wordsOf(at, at + 12, 1, 'numbers')),
  ];
}

// The words before and after the messages; in a file also its magic words and the length of its footer.
function arrowEdges(bytes: Buffer): Field[] {
  const isFile = bytes.toString('latin1', 0, 6) === 'ARROW1';
  return [...wordsOf(0, 8, 1, 'structure'), ...wordsOf(bytes.length - (isFile ? 10 : 8), bytes.length, 1, 'structure')];
}

function isZip(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 2) === 'PK';
}

// The headers of an archive have their fields at even offsets; after a name, at any offset.
function zipLies(bytes: Buffer<ArrayBuffer>): Lie[] {
  const places: [start: number, end: number][] = [];
  for (const [signature, length] of [
    ['PK\x03\x04', 30],
    ['PK\x01\x02', 46],
    ['PK\x05\x06', 22],
  ] as const)
    for (let at = bytes.indexOf(signature, 0, 'latin1'); at >= 0; at = bytes.indexOf(signature, at + 1, 'latin1'))
      places.push([at, at + length]);
  const fields = places.flatMap(([start, end]) => [
    ...wordsOf(start, end, 2, 'structure'),
    ...wordsOf(start, end, 4, 'structure'),
    ...wordsOf(start + 2, end, 4, 'structure'),
  ]);
  return fields.flatMap((field) => fieldLies(bytes, field));
}

const types = ['i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8', 'f2', 'f4', 'f8', 'f16', 'b1', 'c8', 'c16', 'S8', 'U2']
  .flatMap((type) => [`'<${type}'`, `'>${type}'`, `'|${type}'`, `'=${type}'`])
  .concat(
    "'<M8[ns]'",
    "'|O'",
    "'|V8'",
    "'<f0'",
    "'<f-8'",
    "'<f8000000000'",
    "'f8'",
    "''",
    "[('a', '<f8')]",
    '8',
    'None',
  );
const booleans = ['True', 'False', '0', '1', 'None', "'True'", '()', 'true'];
const sizes = [
  '0',
  '1',
  '-1',
  '2',
  '9999',
  '65536',
  '4294967296',
  '9007199254740993',
  '9223372036854775808',
  '1e300',
].concat('1.5', '3L', 'True', 'None', "'3'", '', '()', `1${'0'.repeat(400)}`);

// The preamble, each value of the dict, and each size of the shape.
function npyLies(bytes: Buffer<ArrayBuffer>): Lie[] {
  const start = bytes[6] === 1 ? 10 : 12;
  const end = start + (bytes[6] === 1 ? bytes.readUInt16LE(8) : bytes.readUInt32LE(8));
  const header = bytes.toString('latin1', start, end);
  const preamble = [...wordsOf(0, start, 1, 'structure'), ...wordsOf(8, start, (start - 8) as 2 | 4, 'structure')];
  const lies = preamble.flatMap((field) => fieldLies(bytes, field));
  const replace = (from: number, to: number, text: string) => {
    const found = header.slice(from, to);
    if (found === text) return;
    // Padding compensates for a longer or shorter text, so that the numbers stay in place.
    const changed = header.slice(0, from) + text + header.slice(to).trimEnd();
    const fits = changed.length < header.length;
    const padded = fits ? `${changed.padEnd(header.length - 1)}\n` : `${changed}\n`;
    const length = Buffer.alloc(start - 8);
    if (length.length === 2) length.writeUInt16LE(padded.length);
    else length.writeUInt32LE(padded.length);
    lies.push({
      what: `${text.slice(0, 30)} for ${found}`,
      // Another type or order makes another file, which is also sound if its numbers take as many bytes.
      region: 'schema',
      bytes: () => Buffer.concat([bytes.subarray(0, 8), length, Buffer.from(padded, 'latin1'), bytes.subarray(end)]),
    });
  };
  const field = (key: string, value: RegExp, others: readonly string[]) => {
    const place = new RegExp(`'${key}': `).exec(header)!;
    const from = place.index + place[0].length;
    const [text] = value.exec(header.slice(from))!;
    for (const other of others) replace(from, from + text.length, other);
    return { from, text };
  };
  field('descr', /^('[^']*'|\[.*?\])/, types);
  field('fortran_order', /^\w+/, booleans);
  const shape = field('shape', /^\([^)]*\)/, [
    '()',
    '(0,)',
    '(3)',
    '3',
    '[2, 3]',
    'None',
    '(2, 3), ',
    '((2, 3),)',
    '(1,)',
  ]);
  for (const { index, 0: size } of shape.text.matchAll(/\d+/g)) {
    const told = Number(size);
    const all = [...sizes, `${told + 1}`, `${told - 1}`, `${2 * told}`, `${8 * told}`, `${told}, 1`, `${told}, 2`];
    for (const other of all) replace(shape.from + index, shape.from + index + size.length, other);
  }
  return lies;
}
