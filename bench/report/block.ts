// A report, or a comparison of runs, is a row of blocks, made once and written as Markdown, as HTML and for a terminal;
// their texts are plain, and each writer escapes them.
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
  /** A text alone is plain. */
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

/** The table without columns that say nothing in any row. */
function withoutEmptyColumns({ caption, columns, rows }: Table): Table {
  const kept = columns.flatMap((_, i) => (rows.some((row) => cellOf(row[i]!).text !== '') ? [i] : []));
  const pick = <T>(cells: readonly T[]) => kept.map((i) => cells[i]!);
  return { caption, columns: pick(columns), rows: rows.map(pick) };
}

/** One suite's answer in a few words, which leads to its part of the report. */
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
  /** What a reader must know before the figures: it stands out. */
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
