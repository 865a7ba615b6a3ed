import { CovariumError } from '../covarium-error.ts';
import { dtypeOf, type Real } from '../dtype.ts';
import { openArrowWriter } from './arrow-writer.ts';
import { openCsvWriter } from './csv-writer.ts';
import type { TableFormat } from './format.ts';
import { openNpyWriter } from './npy-writer.ts';
import type { Output } from './output-file.ts';
import { openParquetWriter } from './parquet-writer.ts';
import type { TableHead, TableWriter } from './table.ts';

/** What a format makes of rows. */
export type RowWriter = Pick<TableWriter, 'write' | 'finish'>;

/** Begins a table: `finish` writes what follows the rows, and leaves the output to its owner. */
type OpenWriter = (output: Output, head: TableHead) => Promise<RowWriter>;

const openers: { readonly [format in TableFormat]: OpenWriter } = {
  csv: openCsvWriter,
  npy: openNpyWriter,
  arrow: (output, head) => openArrowWriter(output, head, 'file'),
  arrows: (output, head) => openArrowWriter(output, head, 'stream'),
  parquet: openParquetWriter,
};

/**
 * A table that is written block by block, in bounded memory; it owns the output, and discards it if it can't begin. Throws
 * `ERR_INVALID_ARGUMENT` for names that the format can't hold or rows that it must know, `ERR_SHAPE` for rows that the head does not
 * tell of, and what the output throws.
 */
export async function openTableWriter(output: Output, format: TableFormat, head: TableHead): Promise<TableWriter> {
  try {
    if (head.names !== undefined && head.names.length !== head.columns)
      throw new CovariumError('ERR_SHAPE', `Names are (${head.names.length}), but columns (${head.columns}).`);
    return new CountedWriter(output, head, await openers[format](output, head));
  } catch (error) {
    await output.discard();
    throw error;
  }
}

/** Holds the rows to what the head says. */
class CountedWriter implements TableWriter {
  readonly #output: Output;
  readonly #head: TableHead;
  readonly #writer: RowWriter;
  #rows = 0;

  constructor(output: Output, head: TableHead, writer: RowWriter) {
    this.#output = output;
    this.#head = head;
    this.#writer = writer;
  }

  async write(values: Real): Promise<void> {
    const { columns, dtype, rows } = this.#head;
    if (values.length % columns !== 0)
      throw new CovariumError('ERR_SHAPE', `Values (${values.length}) are no whole rows of (${columns}).`);
    if (dtypeOf(values) !== dtype)
      throw new CovariumError('ERR_INVALID_ARGUMENT', `Values are of type (${dtypeOf(values)}), not (${dtype}).`);
    this.#rows += values.length / columns;
    if (rows !== undefined && this.#rows > rows)
      throw new CovariumError('ERR_SHAPE', `Table of (${rows}) rows is given (${this.#rows}).`);
    if (values.length > 0) await this.#writer.write(values);
  }

  async finish(): Promise<void> {
    const { rows } = this.#head;
    if (rows !== undefined && this.#rows !== rows)
      throw new CovariumError('ERR_SHAPE', `Table of (${rows}) rows is finished after (${this.#rows}).`);
    await this.#writer.finish();
    await this.#output.finish();
  }

  async discard(): Promise<void> {
    await this.#output.discard();
  }
}
