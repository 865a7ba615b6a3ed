import { CovariumError } from '../covarium-error.ts';
import type { RealDtype } from '../dtype.ts';
import { ByteSource, type InputSource } from '../file/input.ts';
import { randomAccess } from '../file/random-access.ts';
import { runSliced, Turns } from '../work.ts';
import { FileMessageBytes, type MessageBytes, PipeMessageBytes } from './arrow/message-bytes.ts';
import { ArrowMessages } from './arrow/messages.ts';
import { ArrowRows } from './arrow/rows.ts';
import { type ArrowField, readMetadata, readSchema } from './arrow/schema.ts';
import { CompleteRows } from './complete-rows.ts';
import { Contradiction, refusal } from './contradiction.ts';
import { chosenBesideIndex, pandasKey } from './pandas-index.ts';
import { RowTiles } from './row-tiles.ts';
import type { ReadRequest, TableReader } from './table.ts';

/**
 * Reads the numeric columns of Arrow's IPC format, file or stream: one record batch after the other, and a few thousand
 * rows of a batch at a time. Columns may be dictionary-encoded; batches may be compressed with LZ4 or Zstandard.
 */
export async function openArrow(
  input: InputSource,
  { columns: wanted, missing, signal, warn }: ReadRequest,
): Promise<TableReader> {
  const source = new ByteSource(input, signal);
  const { name } = source;
  let bytes: MessageBytes | undefined;
  try {
    const file = await randomAccess(source);
    bytes = file === undefined ? new PipeMessageBytes(source) : new FileMessageBytes(file);
    const messages = new ArrowMessages(bytes);
    const turns = new Turns(signal);
    const first = await messages.next();
    if (first?.type !== 'schema') throw new Contradiction('it does not begin with a schema');
    const fields = await runSliced(readSchema(first.flat, first.header, first.version), signal);
    await turns.take();
    const names = fields.map((field) => field.name);
    const pandas = await runSliced(readMetadata(first.flat, first.header, pandasKey), signal);
    const chosen = await runSliced(chosenBesideIndex(name, names, wanted, pandas, warn), signal);
    if (chosen.length === 0) throw new Contradiction('it has no columns');
    await turns.take();
    for (const index of chosen) requireNumbers(name, fields[index]!);
    const isSingle = chosen.every((index) => {
      const { kind, bits } = fields[index]!.number!;
      return kind === 'float' && bits <= 32;
    });
    const dtype: RealDtype = isSingle ? 'float32' : 'float64';
    const chosenNames = chosen.map((index) => names[index]!);
    const complete = new CompleteRows(name, chosen.length, chosenNames, missing);
    const tiles = new RowTiles(chosen.length, dtype, complete, signal);
    const rows = new ArrowRows(name, bytes, messages, { fields, chosen, dtype, tiles, signal });
    return {
      head: { names: chosenNames, columns: chosen.length, dtype, rows: undefined },
      get dropped() {
        return complete.dropped;
      },
      blocks: () => rows.blocks(),
      // The bodies in a pipe cannot be read twice.
      ...(file !== undefined && { whole: () => rows.all() }),
      close: () => source.close(),
    };
  } catch (error) {
    await source.close();
    throw refusal('Arrow', name, error, bytes && `byte ${bytes.offset}`);
  }
}

function requireNumbers(file: string, { name, number, type }: ArrowField): void {
  if (number !== undefined) return;
  throw new CovariumError(
    'ERR_INVALID_ARGUMENT',
    `Column (${name}) of file (${file}) has type (${type}), which is not read as numbers; pass \`columns\` to choose others.`,
    { path: file },
  );
}
