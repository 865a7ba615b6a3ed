import { escapeMarkup, svgElement } from '../../lib/plot/svg.ts';
import { type Block, cellOf, type Table, type Tile, type Tone } from './block.ts';
import { pictureOptions } from './chart.ts';
import { page } from './page.ts';
import { pageScript } from './page-script.ts';

/** Blocks as one file that needs nothing else: pictures inside, no request to anywhere. */
export function html(title: string, blocks: readonly Block[]): string {
  // Tiles already link to their parts.
  const hasTiles = blocks.some(({ kind }) => kind === 'tiles');
  const sections = hasTiles ? [] : blocks.flatMap((block, i) => (isSection(block) ? [{ block, i }] : []));
  const links = sections.map(({ block, i }) => `<li><a href="#${idOf(block, i)}">${escapeMarkup(block.text)}</a></li>`);
  const contents = links.length > 2 ? `<nav aria-label="Contents"><ul>${links.join('')}</ul></nav>` : '';
  const [first, ...rest] = blocks.map(blockText);
  return page(title, [first, contents, ...rest].join('\n'), pageScript);
}

type Heading = Extract<Block, { readonly kind: 'heading' }>;

function isSection(block: Block): block is Heading {
  return block.kind === 'heading' && block.level === 2;
}

function idOf({ id }: Heading, index: number): string {
  return escapeMarkup(id ?? `part-${index}`);
}

function blockText(block: Block, index: number): string {
  switch (block.kind) {
    case 'heading': {
      const id = block.level === 2 ? ` id="${idOf(block, index)}"` : '';
      return `<h${block.level}${id}>${escapeMarkup(block.text)}</h${block.level}>`;
    }
    case 'paragraph':
      return `<p${block.tone === undefined ? '' : ` class="${block.tone}"`}>${escapeMarkup(block.text)}</p>`;
    case 'warnings':
      return `<aside class="warnings" aria-label="Warnings">${listText(block.items)}</aside>`;
    case 'list':
      return listText(block.items);
    case 'table':
      return tableText(block.table);
    case 'code':
      return block.wraps
        ? `<pre class="wraps"><code>${escapeMarkup(block.text)}</code></pre>`
        : scrolling(block.label, `<pre><code>${escapeMarkup(block.text)}</code></pre>`);
    case 'tiles':
      return `<nav aria-label="The answer by suite"><ul class="tiles">${block.tiles.map(tileText).join('\n')}</ul></nav>`;
    case 'pictures': {
      const figures = block.charts.map((chart) => `<figure>${svgElement(pictureOptions(chart, 'page'))}</figure>`);
      const text = block.text.length === 0 ? [] : [`<div>${partsText(block.text)}</div>`];
      return `<div class="pictures">${[...text, ...figures].join('\n')}</div>`;
    }
    case 'fold':
      return `<details><summary>${escapeMarkup(block.title)}</summary>\n${partsText(block.blocks)}\n</details>`;
  }
}

/** Blocks inside another block: their headings are not link targets. */
function partsText(blocks: readonly Block[]): string {
  return blocks.map(blockText).join('\n');
}

function tileText({ title, figure, text, tone, target }: Tile): string {
  const inside = `<span>${escapeMarkup(title)}</span><strong>${escapeMarkup(figure)}</strong><span>${escapeMarkup(text)}</span>`;
  return `<li><a class="tile ${tone}" href="#${escapeMarkup(target)}">${inside}</a></li>`;
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

/**
 * Content that may be wider than a phone goes into a box that scrolls, by the keyboard too. The script shows the hint
 * if the box scrolls.
 */
function scrolling(label: string, inside: string): string {
  return (
    '<p class="hint" hidden aria-hidden="true">Scroll sideways for more →</p>' +
    `<div class="wide" role="region" tabindex="0" aria-label="${escapeMarkup(label)}">${inside}</div>`
  );
}
