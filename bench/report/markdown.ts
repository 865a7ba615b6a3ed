import { escapeMarkup } from '../../lib/plot/svg.ts';
import { type Block, type Cell, cellOf, type Table } from './block.ts';

/** Blocks as GitHub's Markdown. Pictures are the files beside it. */
export function markdown(blocks: readonly Block[]): string {
  return `${blocks.map(blockText).join('\n\n')}\n`;
}

function blockText(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `${'#'.repeat(block.level)} ${escapeMarkdown(block.text)}`;
    case 'paragraph':
      return escapeMarkdown(block.text);
    case 'warnings':
      return block.items.map((item) => `> - ${escapeMarkdown(item)}`).join('\n');
    case 'list':
      return block.items.map((item) => `- ${escapeMarkdown(item)}`).join('\n');
    case 'table':
      return tableText(block.table);
    case 'code':
      return codeText(block.text);
    case 'tiles':
      return block.tiles
        .map(
          ({ title, figure, text }) =>
            `- ${escapeMarkdown(title)}: **${escapeMarkdown(figure)}** ${escapeMarkdown(text)}`,
        )
        .join('\n');
    case 'pictures':
      return [
        ...block.text.map(blockText),
        block.charts.map(({ name, label }) => `![${escapeMarkdown(label)}](${name}.svg)`).join('\n'),
      ].join('\n\n');
    case 'fold':
      // Markdown within a tag begins after an empty line.
      return `<details><summary>${escapeMarkup(block.title)}</summary>\n\n${block.blocks.map(blockText).join('\n\n')}\n\n</details>`;
  }
}

function tableText({ columns, rows }: Table): string {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = `| ${columns.map(({ isFigure }) => (isFigure ? '--:' : '---')).join(' | ')} |`;
  return [
    row(columns.map(({ title }) => escapeMarkdown(title))),
    rule,
    ...rows.map((cells) => row(cells.map(cellText))),
  ].join('\n');
}

function cellText(cell: Cell | string): string {
  const { text, tone } = cellOf(cell);
  return tone === 'bad' ? `**${escapeMarkdown(text)}**` : escapeMarkdown(text);
}

/** The fence is longer than any in the text. */
function codeText(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/** Text that stays text: one line without markup, links, entities or GitHub's formulas. */
export function escapeMarkdown(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const marked = line
    .replace(/[\\`*[\]|~$]/g, '\\$&')
    // An underscore within a word is not markup; left alone, names with underscores stay readable.
    .replace(/(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\_')
    .replace(/^(\d+)([.)])(?= |$)/, '$1\\$2')
    .replace(/^[#+=-]/, '\\$&');
  return escapeMarkup(marked).replaceAll('&#39;', "'").replaceAll('&quot;', '"');
}
