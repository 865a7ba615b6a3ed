import { bytesOf } from '../dtype.ts';
import type { Output } from '../file/output.ts';
import { StagedOutput } from '../file/staged-output.ts';
import { runSliced, Turns, type Work } from '../work.ts';
import { ColumnGroup, columnNames } from './columns.ts';
import { CompactThrift } from './compact-thrift.ts';
import type { RowWriter, TableHead } from './table.ts';

// Readers distribute row groups among their threads. A writer holds one group in memory.
const groupBytes = 32 << 20;
const pageBytes = 1 << 20;

const magic = Buffer.from('PAR1');
// Values of the format's enumerations:
// https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
const physicalType = { float32: 4, float64: 5 } as const;
const repetition = { required: 0 } as const;
const encoding = { plain: 0, rle: 3 } as const;
const codec = { uncompressed: 0 } as const;
const pageType = { data: 0 } as const;

interface Chunk {
  readonly offset: number;
  readonly bytes: number;
}

interface RowGroup {
  readonly rows: number;
  readonly chunks: readonly Chunk[];
}

/**
 * Parquet with required columns, plain and uncompressed (normals do not compress), in row groups of 32 MiB. The footer,
 * kept until the end, takes about 60 bytes for each column of a group.
 */
export async function openParquetWriter(output: Output, head: TableHead): Promise<RowWriter> {
  const names = await runSliced(columnNames(head), undefined);
  const { columns, dtype } = head;
  const staged = new StagedOutput(output);
  const groupRows = Math.max(1, Math.floor(groupBytes / (columns * bytesOf(dtype))));
  const group = await ColumnGroup.open(columns, dtype, Math.min(groupRows, Math.max(1, head.rows ?? groupRows)));
  const groups: RowGroup[] = [];
  await staged.write(magic);
  const writeGroup = async () => {
    const chunks: Chunk[] = [];
    const turns = new Turns(undefined);
    // The pages of each column are as long as those of the others.
    const pages: { readonly at: number; readonly length: number; readonly header: Uint8Array }[] = [];
    const columnBytes = group.rows * bytesOf(dtype);
    for (let at = 0; at < columnBytes; at += pageBytes) {
      const length = Math.min(pageBytes, columnBytes - at);
      pages.push({ at, length, header: pageHeader(length, length / bytesOf(dtype)) });
    }
    for (let column = 0; column < columns; column++) {
      const offset = staged.bytes;
      const { buffer, byteOffset } = group.column(column);
      for (const { at, length, header } of pages) {
        await staged.write(header);
        await staged.write(new Uint8Array(buffer, byteOffset + at, length));
      }
      chunks.push({ offset, bytes: staged.bytes - offset });
      await turns.take();
    }
    groups.push({ rows: group.rows, chunks });
    group.clear();
  };
  return {
    write: async (values) => {
      for (let row = 0; row < values.length / columns; ) {
        row += group.take(values, row);
        if (group.isFull) await writeGroup();
      }
    },
    finish: async () => {
      if (group.rows > 0) await writeGroup();
      const footer = await runSliced(fileMetaData(names, physicalType[dtype], groups, head.metadata ?? {}), undefined);
      await staged.write(footer);
      const lengthBytes = Buffer.alloc(4);
      lengthBytes.writeUInt32LE(footer.length);
      await staged.write(lengthBytes);
      await staged.write(magic);
      await staged.flush();
    },
  };
}

function pageHeader(bytes: number, values: number): Uint8Array {
  return new CompactThrift()
    .int32(1, pageType.data)
    .int32(2, bytes)
    .int32(3, bytes)
    .struct(5, (page) => page.int32(1, values).int32(2, encoding.plain).int32(3, encoding.rle).int32(4, encoding.rle))
    .finish();
}

function* fileMetaData(
  names: readonly string[],
  type: number,
  groups: readonly RowGroup[],
  metadata: { readonly [name: string]: string },
): Work<Uint8Array> {
  const root = { name: 'schema', children: names.length };
  const thrift = new CompactThrift().int32(1, 1);
  const elements = [root, ...names.map((name) => ({ name, children: 0 }))];
  yield* thrift.structs(2, elements, (element, { name, children }) => {
    if (children > 0) element.text(4, name).int32(5, children);
    else element.int32(1, type).int32(3, repetition.required).text(4, name);
  });
  thrift.int64(3, total(groups.map(({ rows }) => rows)));
  yield* thrift.structs(4, groups, function* (element, { rows, chunks }) {
    const named = chunks.map((chunk, column) => ({ ...chunk, name: names[column]! }));
    yield* element.structs(1, named, (each, chunk) => {
      each.int64(2, chunk.offset).struct(3, (data) => columnMetaData(data, chunk, type, rows));
    });
    element.int64(2, total(chunks.map((chunk) => chunk.bytes))).int64(3, rows);
  });
  const texts = Object.entries(metadata);
  if (texts.length > 0)
    yield* thrift.structs(5, texts, (element, [key, value]) => {
      element.text(1, key).text(2, value);
    });
  return thrift.text(6, 'covarium').finish();
}

function columnMetaData(thrift: CompactThrift, chunk: Chunk & { name: string }, type: number, rows: number): void {
  thrift
    .int32(1, type)
    .int32s(2, [encoding.plain, encoding.rle])
    .texts(3, [chunk.name])
    .int32(4, codec.uncompressed)
    .int64(5, rows)
    .int64(6, chunk.bytes)
    .int64(7, chunk.bytes)
    .int64(9, chunk.offset);
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
