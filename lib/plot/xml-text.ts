// linkedom writes attributes as HTML does, with `<` and `&` as they are: a file with such a label is no XML, and no browser shows it. So the
// text of a picture is written here, in a form that means the same inside a page and as a file.

/** What XML cannot hold at all, not even escaped: control characters and halves of surrogate pairs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const unwritable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as it stands in XML or HTML, between tags or in a quoted attribute. */
export function escapeMarkup(text: string): string {
  return text.replace(unwritable, '\ufffd').replace(/[&<>"']/g, (letter) => entities[letter]!);
}

/** As much of the DOM as is read here. */
interface MarkupNode {
  readonly nodeType: number;
  readonly localName: string;
  readonly attributes: Iterable<{ readonly name: string; readonly value: string }>;
  readonly childNodes: Iterable<MarkupNode>;
  readonly textContent: string | null;
}

const elementNode = 1;
const textNode = 3;

/** An element with all that is in it; comments are left out. */
export function xmlText(node: MarkupNode): string {
  if (node.nodeType === textNode) return escapeMarkup(node.textContent ?? '');
  if (node.nodeType !== elementNode) return '';
  const attributes = [...node.attributes].map(({ name, value }) => ` ${name}="${escapeMarkup(value)}"`).join('');
  const inside = [...node.childNodes].map(xmlText).join('');
  return `<${node.localName}${attributes}${inside === '' ? '/>' : `>${inside}</${node.localName}>`}`;
}
