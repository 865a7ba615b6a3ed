import { stripVTControlCharacters } from 'node:util';
import colors from 'picocolors';
import { type Block, type Cell, cellOf, type Table, type Tone } from '../report/block.ts';

const paint: Readonly<Record<Tone, (text: string) => string>> = {
  good: colors.green,
  bad: colors.red,
  quiet: colors.dim,
  plain: (text) => text,
};

/** Blocks of a comparison for a terminal: columns padded with spaces, colours where the terminal has them. */
export function terminalText(blocks: readonly Block[]): string {
  const sections = blocks.flatMap((block) => {
    if (block.kind === 'heading') return block.level === 1 ? [] : ['', colors.bold(clean(block.text))];
    if (block.kind === 'paragraph') return [clean(block.text)];
    return block.kind === 'table' ? tableLines(block.table) : [];
  });
  return `${sections.slice(1).join('\n')}\n`;
}

function tableLines({ columns, rows }: Table): string[] {
  const head = columns.map(({ title }): Cell => ({ text: title, tone: 'quiet' }));
  // Text from a file must not move the cursor or colour the terminal.
  const lines = [head, ...rows].map((row) => row.map(cellOf).map(({ text, tone }) => ({ text: clean(text), tone })));
  const widths = columns.map((_, i) => Math.max(...lines.map((row) => row[i]!.text.length)));
  return lines.map((row) =>
    row
      .map(({ text, tone }, i) => {
        const padding = ' '.repeat(widths[i]! - text.length);
        return columns[i]!.isFigure ? padding + paint[tone](text) : paint[tone](text) + padding;
      })
      .join('  ')
      .trimEnd(),
  );
}

/** The text in one line, without control characters. */
function clean(text: string): string {
  return stripVTControlCharacters(text).replace(/\p{Cc}+/gu, ' ');
}
