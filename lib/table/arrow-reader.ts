import {
  type Column,
  CompressionType,
  type DataType,
  setCompressionCodec,
  type Table,
  Type,
  tableFromIPC,
} from '@uwdata/flechette';
import { decompress } from 'fzstd';
import { CovariumError } from '../covarium-error.ts';
import type { RealDtype } from '../dtype.ts';
import { type Real, zerosOf } from '../dtype.ts';
import { type InputSource, inputName } from '../file/input.ts';
import { ArrowMessages, malformedArrow } from './arrow-messages.ts';
import { chosenColumns } from './columns.ts';
import { CompleteRows, toNumber } from './complete-rows.ts';
import type { ReadRequest, TableReader } from './table.ts';

// Arrow's other compression, LZ4, is refused with its name.
setCompressionCodec(CompressionType.ZSTD, {
  encode: (bytes) => bytes,
  // The copy begins where numbers of any size may.
  decode: (bytes) => decompress(bytes).slice(),
});

/** Reads Arrow's IPC format, file or stream, one record batch after the other. */
export async function openArrow(
  path: InputSource,
  { columns: wanted, missing, signal }: ReadRequest,
): Promise<TableReader> {
  const name = inputName(path);
  const messages = new ArrowMessages(path, signal);
  const decoded = (parts: readonly Uint8Array[]): Table => {
    try {
      // 64-bit integers as they are, so that one that no number holds is seen.
      return tableFromIPC([...parts], { useBigInt: true });
    } catch (cause) {
      throw malformedArrow(name, (cause as Error).message, cause);
    }
  };
  try {
    const first = await messages.next();
    if (first?.type !== 'schema') throw malformedArrow(name, 'it does not begin with a schema');
    const { fields } = decoded([first.bytes]).schema;
    const names = fields.map((field) => String(field.name));
    const chosen = chosenColumns(name, names, names.length, wanted);
    for (const index of chosen) requireNumbers(name, names[index]!, valueType(fields[index]!.type));
    const isSingle = chosen.every((index) => isFloat32(valueType(fields[index]!.type)));
    const dtype: RealDtype = isSingle ? 'float32' : 'float64';
    const chosenNames = chosen.map((index) => names[index]!);
    const complete = new CompleteRows(name, chosen.length, chosenNames, missing);
    const blocks = async function* (): AsyncGenerator<Real> {
      const before = [first.bytes];
      let row = 0;
      for (let message = await messages.next(); message !== undefined; message = await messages.next()) {
        if (message.type === 'dictionary batch') before.push(message.bytes);
        if (message.type !== 'record batch') continue;
        const table = decoded([...before, message.bytes]);
        for (const [at, index] of chosen.entries())
          if (storedValues(table.getChildAt(index)) < table.numRows)
            throw malformedArrow(name, `column (${chosenNames[at]}) has fewer values than its batch rows`);
        const values = zerosOf(dtype, table.numRows * chosen.length) as Real;
        chosen.forEach((index, at) => {
          spread(table.getChildAt(index) as Column<unknown>, values, at, chosen.length, name, chosenNames[at]!, row);
        });
        row += table.numRows;
        const block = complete.of(values);
        if (block.length > 0) yield block;
      }
    };
    return {
      head: { names: chosenNames, columns: chosen.length, dtype, rows: undefined },
      get dropped() {
        return complete.dropped;
      },
      blocks,
      close: async () => messages.close(),
    };
  } catch (error) {
    messages.close();
    throw error;
  }
}

// Of a column of one batch, as decoded: a changed number of rows is seen before memory for them is asked for.
function storedValues(column: Column<unknown>): number {
  return (column.data[0]?.values as ArrayLike<unknown> | undefined)?.length ?? 0;
}

function valueType(type: DataType): DataType {
  return type.typeId === Type.Dictionary ? type.dictionary : type;
}

function requireNumbers(file: string, column: string, type: DataType): void {
  if (type.typeId === Type.Int || type.typeId === Type.Float) return;
  const kind = Object.entries(Type).find(([, id]) => id === type.typeId)?.[0] ?? type.typeId;
  throw new CovariumError(
    'ERR_INVALID_ARGUMENT',
    `Column (${column}) of file (${file}) holds no numbers (${kind}): choose others by their names.`,
    { path: file },
  );
}

function isFloat32(type: DataType): boolean {
  return type.typeId === Type.Float && type.values !== Float64Array;
}

/** A column of a batch as every `stride`th number of `values`, a null as NaN. */
function spread(
  column: Column<unknown>,
  values: Real,
  start: number,
  stride: number,
  file: string,
  name: string,
  firstRow: number,
): void {
  let at = start;
  let row = firstRow;
  for (const value of column.nullCount === 0 ? (column.toArray() as Iterable<unknown>) : column) {
    values[at] = value === null ? Number.NaN : toNumber(value as number | bigint, file, name, row);
    at += stride;
    row++;
  }
}
