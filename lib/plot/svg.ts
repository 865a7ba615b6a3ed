import type { PlotOptions } from '@observablehq/plot';
import * as Plot from './library.ts';
import { parseHTML } from './library.ts';

/** Options of Observable Plot; `label` is the name of the picture for a screen reader. */
export interface PictureOptions extends PlotOptions {
  readonly label: string;
  /** A description of the picture, longer than the label. */
  readonly description?: string;
}

/**
 * Colours that distinguish series in both colour schemes, as CSS (contrast 3:1 or more on both backgrounds). Series
 * take them in order, and also differ in shape or dash, so that nobody has to tell colours apart.
 */
export const seriesColours: readonly string[] = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => `var(--series-${i})`);

const light = ['#1f62c4', '#c2410c', '#15803d', '#8b2fb5', '#a16207', '#0e7490', '#be185d', '#525252'];
// Muted, because saturated colours glare on a dark background.
const dark = ['#74a9ee', '#dd8f5a', '#6bbf85', '#bd95dc', '#c9a94e', '#57b3c4', '#d88fb4', '#a3a7ad'];

const grounds = { light: ['#ffffff', '#1a1a1a'], dark: ['#17191c', '#d3d6da'] } as const;

/** The custom properties of the pictures by name, without their leading hyphens, in the light scheme. */
export function lightColours(): Map<string, string> {
  return properties(light, grounds.light);
}

function properties(colours: readonly string[], [ground, ink]: readonly [string, string]): Map<string, string> {
  return new Map([['ground', ground], ['ink', ink], ...colours.map((colour, i) => [`series-${i}`, colour] as const)]);
}

/**
 * The custom properties of the pictures, for both colour schemes (paper uses the light one); `root` is the selector
 * that gets them.
 */
export function pictureStyle(root: string): string {
  const text = (of: Map<string, string>) => [...of].map(([name, colour]) => `--${name}:${colour}`).join(';');
  return (
    `${root}{${text(lightColours())}}` +
    `@media screen and (prefers-color-scheme:dark){${root}{${text(properties(dark, grounds.dark))}}}`
  );
}

/**
 * A picture as an `<svg>` element, which takes its colours from its page ({@link pictureStyle}). Points with their own
 * label (Plot's `ariaLabel`) can be reached by the keyboard: the first by Tab, the others by a script that moves the
 * focus.
 */
export function svgElement({ label, description, ...options }: PictureOptions): string {
  const { document } = parseHTML('<html></html>');
  const picture = Plot.plot({
    ...options,
    document,
    ariaLabel: label,
    ...(description === undefined ? {} : { ariaDescription: description }),
    style: { background: 'transparent', color: 'var(--ink)', ...(options.style as object) },
  });
  // With a legend or a title, the picture is the last part of a figure; a legend's swatches are svg elements too, but
  // nested deeper.
  const svg = picture.tagName.toLowerCase() === 'svg' ? picture : picture.lastElementChild!;
  const points = labelledPoints(svg);
  // A screen reader ignores the content of an image, so a picture with labelled points is a group.
  svg.setAttribute('role', points.length > 0 ? 'group' : 'img');
  points.forEach((point, i) => {
    point.setAttribute('role', 'img');
    point.setAttribute('tabindex', i === 0 ? '0' : '-1');
  });
  svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  return xmlText(svg).replaceAll('--plot-background: white', '--plot-background: var(--ground)');
}

type PlotElement = ReturnType<typeof Plot.plot>;

/** The marks with labels. Plot also labels each mark as a whole, which is a `<g>`. */
function labelledPoints(svg: PlotElement): PlotElement[] {
  return [...svg.children].flatMap((element) => [
    ...(element.hasAttribute('aria-label') && element.tagName.toLowerCase() !== 'g' ? [element] : []),
    ...labelledPoints(element),
  ]);
}

/** A picture as a separate file, which follows the reader's colour scheme. */
export function svgFile(options: PictureOptions): string {
  return svgFileOf(svgElement(options));
}

/** An `<svg>` element that takes its colours from the page ({@link pictureStyle}), as a separate file. */
export function svgFileOf(element: string): string {
  const style = `<style>${pictureStyle(':root')}svg{background:var(--ground)!important}</style>`;
  return `${element.replace('>', `>${style}`)}\n`;
}

/** Characters that XML cannot hold, even escaped: control characters and halves of surrogate pairs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for them
const unwritable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text escaped for XML and HTML, between tags or in a quoted attribute. */
export function escapeMarkup(text: string): string {
  return text.replace(unwritable, '\ufffd').replace(/[&<>"']/g, (letter) => entities[letter]!);
}

/** The part of the DOM that {@link xmlText} reads. */
interface MarkupNode {
  readonly nodeType: number;
  readonly localName: string;
  readonly attributes: Iterable<{ readonly name: string; readonly value: string }>;
  readonly childNodes: Iterable<MarkupNode>;
  readonly textContent: string | null;
}

const elementNode = 1;
const textNode = 3;

/**
 * An element and its content as XML, without comments. linkedom writes attributes as HTML does, with `<` and `&`
 * unescaped; such a file is not XML, and browsers refuse it. This text means the same in a page and in a file.
 */
export function xmlText(node: MarkupNode): string {
  if (node.nodeType === textNode) return escapeMarkup(node.textContent ?? '');
  if (node.nodeType !== elementNode) return '';
  const attributes = [...node.attributes].map(({ name, value }) => ` ${name}="${escapeMarkup(value)}"`).join('');
  const inside = [...node.childNodes].map(xmlText).join('');
  return `<${node.localName}${attributes}${inside === '' ? '/>' : `>${inside}</${node.localName}>`}`;
}
