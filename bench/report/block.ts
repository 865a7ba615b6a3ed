// A report, or a comparison of runs, is a list of blocks, made once and written as Markdown, as HTML and for a
// terminal. Their texts are plain; each writer escapes them.
import type { Chart } from './chart.ts';

export type Tone = 'good' | 'bad' | 'quiet' | 'plain';

export interface Cell {
  readonly text: string;
  readonly tone: Tone;
}

export interface Table {
  /** What the rows are, for those who jump from table to table. */
  readonly caption: string;
  readonly columns: readonly Column[];
  /** A string is a cell in the plain tone. */
  readonly rows: readonly (readonly (Cell | string)[])[];
}

export interface Column {
  readonly title: string;
  /** Figures stand at the right. */
  readonly isFigure?: boolean;
}

export function cellOf(cell: Cell | string): Cell {
  return typeof cell === 'string' ? { text: cell, tone: 'plain' } : cell;
}

/** The table without the columns that are empty in every row. */
function withoutEmptyColumns({ caption, columns, rows }: Table): Table {
  const kept = columns.flatMap((_, i) => (rows.some((row) => cellOf(row[i]!).text !== '') ? [i] : []));
  const pick = <T>(cells: readonly T[]) => kept.map((i) => cells[i]!);
  return { caption, columns: pick(columns), rows: rows.map(pick) };
}

/** One suite's answer in a few words, with a link to its part of the report. */
export interface Tile {
  readonly title: string;
  /** `1.7×` */
  readonly figure: string;
  readonly text: string;
  readonly tone: Tone;
  /** The `id` of a heading. */
  readonly target: string;
}

export type Block =
  | { readonly kind: 'heading'; readonly level: 1 | 2 | 3; readonly text: string; readonly id?: string }
  | { readonly kind: 'paragraph'; readonly text: string; readonly tone?: 'quiet' }
  /** What a reader must know before the figures; it is highlighted. */
  | { readonly kind: 'warnings'; readonly items: readonly string[] }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | { readonly kind: 'table'; readonly table: Table }
  | { readonly kind: 'code'; readonly text: string; readonly label: string; readonly wraps?: true }
  | { readonly kind: 'tiles'; readonly tiles: readonly Tile[] }
  /** Text with pictures beside it. */
  | { readonly kind: 'pictures'; readonly text: readonly Block[]; readonly charts: readonly Chart[] }
  /** What only some readers want: folded away under its title. */
  | { readonly kind: 'fold'; readonly title: string; readonly blocks: readonly Block[] };

export function tableBlock(table: Table): Block {
  return { kind: 'table', table: withoutEmptyColumns(table) };
}

export function heading(level: 1 | 2 | 3, text: string, id?: string): Block {
  return { kind: 'heading', level, text, ...(id !== undefined && { id }) };
}

export function paragraph(text: string): Block {
  return { kind: 'paragraph', text };
}

export function quiet(text: string): Block {
  return { kind: 'paragraph', text, tone: 'quiet' };
}

export function fold(title: string, ...blocks: readonly Block[]): Block {
  return { kind: 'fold', title, blocks };
}
