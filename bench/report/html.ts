import { escapeMarkup, svgElement } from '../../lib/plot/svg.ts';
import { type Block, cellOf, type Table, type Tone } from './block.ts';
import { page } from './page.ts';
import { pageScript } from './page-script.ts';

/** Blocks as one file that needs nothing else: pictures inside, no request to anywhere. */
export function html(title: string, blocks: readonly Block[]): string {
  const sections = blocks.flatMap((block, i) => (block.kind === 'heading' && block.level === 2 ? [{ block, i }] : []));
  const links = sections.map(({ block, i }) => `<li><a href="#part-${i}">${escapeMarkup(block.text)}</a></li>`);
  const contents = links.length > 2 ? `<nav aria-label="Contents"><ul>${links.join('')}</ul></nav>` : '';
  const [first, ...rest] = blocks.map(blockText);
  // Without pictures there is nothing to point at.
  const script = blocks.some(({ kind }) => kind === 'pictures') ? pageScript : '';
  return page(title, [first, contents, ...rest].join('\n'), script);
}

function blockText(block: Block, index: number): string {
  switch (block.kind) {
    case 'heading': {
      const id = block.level === 2 ? ` id="part-${index}"` : '';
      return `<h${block.level}${id}>${escapeMarkup(block.text)}</h${block.level}>`;
    }
    case 'paragraph':
      return `<p>${escapeMarkup(block.text)}</p>`;
    case 'warnings':
      return `<aside class="warnings" aria-label="Warnings">${listText(block.items)}</aside>`;
    case 'list':
      return listText(block.items);
    case 'table':
      return tableText(block.table);
    case 'code':
      return scrolling(block.label, `<pre><code>${escapeMarkup(block.text)}</code></pre>`);
    case 'pictures':
      return `<div class="pictures">${block.charts.map(({ options }) => `<figure>${svgElement(options)}</figure>`).join('\n')}</div>`;
  }
}

function listText(items: readonly string[]): string {
  return `<ul>${items.map((item) => `<li>${escapeMarkup(item)}</li>`).join('')}</ul>`;
}

function tableText({ caption, columns, rows }: Table): string {
  const attribute = (i: number, tone: Tone) => {
    const classes = [...(columns[i]!.isFigure ? ['figure'] : []), ...(tone === 'plain' ? [] : [tone])];
    return classes.length === 0 ? '' : ` class="${classes.join(' ')}"`;
  };
  const head = columns.map(({ title }, i) => `<th scope="col"${attribute(i, 'plain')}>${escapeMarkup(title)}</th>`);
  const body = rows.map((cells) => {
    const row = cells.map(cellOf).map(({ text, tone }, i) => `<td${attribute(i, tone)}>${escapeMarkup(text)}</td>`);
    return `<tr>${row.join('')}</tr>`;
  });
  const top = `<caption>${escapeMarkup(caption)}</caption><thead><tr>${head.join('')}</tr></thead>`;
  return scrolling(caption, `<table>${top}<tbody>\n${body.join('\n')}\n</tbody></table>`);
}

/** What may be wider than a phone scrolls in a box of its own, by the keyboard too. */
function scrolling(label: string, inside: string): string {
  return `<div class="wide" role="region" tabindex="0" aria-label="${escapeMarkup(label)}">${inside}</div>`;
}
