import { bytesOf } from '../dtype.ts';
import type { Output } from '../file/output.ts';
import { StagedOutput } from '../file/staged-output.ts';
import { inPieces, runSliced, Turns, type Work } from '../work.ts';
import { ColumnGroup, columnNames } from './columns.ts';
import { type FlatTable, flatbuffer } from './flatbuffer.ts';
import type { RowWriter, TableHead } from './table.ts';

// The memory that a writer holds, and the amount that a reader reads at once.
const batchBytes = 8 << 20;

const magic = Buffer.from('ARROW1');
const endOfStream = Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
// Values of the format's enumerations: https://github.com/apache/arrow/tree/main/format
const metadataV5 = 4;
const header = { schema: 1, recordBatch: 3 } as const;
const floatingPoint = 3;
const precision = { float32: 1, float64: 2 } as const;

/** The position of a record batch in a file. */
interface Block {
  readonly offset: number;
  readonly metadataBytes: number;
  readonly bodyBytes: number;
}

/**
 * Arrow's IPC format: columns without nulls, in record batches of 8 MiB. The file format is the stream between two
 * magic words, with a footer that lists the batches.
 */
export async function openArrowWriter(output: Output, head: TableHead, kind: 'file' | 'stream'): Promise<RowWriter> {
  const { columns, dtype } = head;
  const schema = schemaOf(await runSliced(columnNames(head), undefined), precision[dtype], head.metadata ?? {});
  const staged = new StagedOutput(output);
  const batchRows = Math.max(1, Math.floor(batchBytes / (columns * bytesOf(dtype))));
  const group = await ColumnGroup.open(columns, dtype, Math.min(batchRows, Math.max(1, head.rows ?? batchRows)));
  const blocks: Block[] = [];
  if (kind === 'file') await staged.write(Buffer.concat([magic, Buffer.alloc(2)]));
  await staged.write(await message(header.schema, schema, 0));
  const writeBatch = async () => {
    const columnBytes = aligned(group.rows * bytesOf(dtype));
    const bodyBytes = columns * columnBytes;
    const batch = await runSliced(recordBatch(group.rows, columns, columnBytes, bytesOf(dtype)), undefined);
    const metadata = await message(header.recordBatch, batch, bodyBytes);
    blocks.push({ offset: staged.bytes, metadataBytes: metadata.length, bodyBytes });
    await staged.write(metadata);
    const turns = new Turns(undefined);
    for (let column = 0; column < columns; column++) {
      const { buffer, byteOffset, byteLength } = group.column(column);
      await staged.write(new Uint8Array(buffer, byteOffset, byteLength));
      await staged.write(new Uint8Array(columnBytes - byteLength));
      await turns.take();
    }
    group.clear();
  };
  return {
    write: async (values) => {
      for (let row = 0; row < values.length / columns; ) {
        row += group.take(values, row);
        if (group.isFull) await writeBatch();
      }
    },
    finish: async () => {
      if (group.rows > 0) await writeBatch();
      await staged.write(endOfStream);
      if (kind === 'file') {
        const listed: FlatTable = [
          ['int16', metadataV5],
          ['table', schema],
          ['structs', 0, new Uint8Array(0)],
          ['structs', blocks.length, blockStructs(blocks)],
        ];
        const footer = await runSliced(flatbuffer(listed), undefined);
        await staged.write(footer);
        await staged.write(int32(footer.length));
        await staged.write(magic);
      }
      await staged.flush();
    },
  };
}

// Little-endian, like every platform that we support.
function schemaOf(names: readonly string[], bits: number, metadata: { readonly [name: string]: string }): FlatTable {
  const type: FlatTable = [['int16', bits]];
  const texts = Object.entries(metadata).map(
    ([key, value]): FlatTable => [
      ['text', key],
      ['text', value],
    ],
  );
  const fields = names.map(
    (name): FlatTable => [
      ['text', name],
      ['uint8', 0],
      ['uint8', floatingPoint],
      ['table', type],
      undefined,
      ['tables', []],
    ],
  );
  return [['int16', 0], ['tables', fields], texts.length > 0 ? ['tables', texts] : undefined];
}

// The encapsulated message: continuation, length of the metadata, metadata; the body follows.
async function message(type: number, content: FlatTable, bodyBytes: number): Promise<Uint8Array> {
  const table: FlatTable = [
    ['int16', metadataV5],
    ['uint8', type],
    ['table', content],
    ['int64', bodyBytes],
  ];
  const metadata = await runSliced(flatbuffer(table), undefined);
  return Buffer.concat([endOfStream.subarray(0, 4), int32(metadata.length), metadata]);
}

// Each column has a node (length, nulls) and two buffers (offset, length): an empty validity bitmap, and the numbers.
function* recordBatch(rows: number, columns: number, columnBytes: number, numberBytes: number): Work<FlatTable> {
  const nodes = new BigInt64Array(2 * columns);
  const buffers = new BigInt64Array(4 * columns);
  yield* inPieces(columns, (from, to) => {
    for (let column = from; column < to; column++) {
      nodes[2 * column] = BigInt(rows);
      const offset = BigInt(column * columnBytes);
      buffers.set([offset, 0n, offset, BigInt(rows * numberBytes)], 4 * column);
    }
  });
  return [
    ['int64', rows],
    ['structs', columns, new Uint8Array(nodes.buffer)],
    ['structs', 2 * columns, new Uint8Array(buffers.buffer)],
  ];
}

function blockStructs(blocks: readonly Block[]): Uint8Array {
  const words = new BigInt64Array(3 * blocks.length);
  blocks.forEach(({ offset, metadataBytes, bodyBytes }, index) => {
    words.set([BigInt(offset), BigInt(metadataBytes), BigInt(bodyBytes)], 3 * index);
  });
  return new Uint8Array(words.buffer);
}

// Columns begin at multiples of 64 bytes, as the format recommends.
function aligned(bytes: number): number {
  return Math.ceil(bytes / 64) * 64;
}

function int32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}
