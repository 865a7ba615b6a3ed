import * as Plot from '@observablehq/plot';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseHTML } from '../../lib/plot/library.ts';
import { escapeMarkup, pictureStyle, seriesColours, svgElement, svgFile, xmlText } from '../../lib/plot/svg.ts';

const options = {
  label: 'Time & "size"',
  description: 'Two points.',
  marks: [
    Plot.lineY([1, 4]),
    Plot.dotY([1, 4], { stroke: seriesColours[1]!, title: (value: number) => `${value} ms` }),
  ],
};

test('A picture is one labelled svg element that takes its colours from the page.', () => {
  const { document } = parseHTML(`<!doctype html><html><body>${svgElement(options)}</body></html>`);
  const svg = document.querySelector('svg')!;
  assert.is(document.body.children.length, 1);
  assert.is(svg.getAttribute('role'), 'img');
  assert.is(svg.getAttribute('aria-label'), 'Time & "size"');
  assert.is(svg.getAttribute('aria-description'), 'Two points.');
  assert.is(document.querySelectorAll('circle').length, 2);
  assert.is(document.querySelector('circle title')!.textContent, '1 ms');
  assert.not.match(svgElement(options), /--series-1:/, 'colours are the page’s');
});

test('A file whose label has XML special characters is still XML.', () => {
  const text = svgFile({ ...options, label: 'a > b & c < d', description: '"&"' });
  assert.match(text, 'aria-label="a &gt; b &amp; c &lt; d"');
  assert.match(text, 'aria-description="&quot;&amp;&quot;"');
  assert.match(text, /^<svg [^>]*><style>:root/);
});

test('A picture with a legend is still one svg element.', () => {
  const coloured = { ...options, color: { legend: true, domain: ['a', 'b'], range: ['red', 'blue'] } };
  const text = svgElement(coloured);
  assert.ok(text.startsWith('<svg') && text.endsWith('</svg>'));
  assert.match(text, /<circle/, 'it is the picture, not a swatch of the legend');
});

test('A file has its colours for both schemes, and makes no network request.', () => {
  const text = svgFile(options);
  assert.ok(text.includes(pictureStyle(':root')));
  assert.match(text, /prefers-color-scheme:dark/);
  const addresses = [...text.matchAll(/https?:\/\/[^"') ]+/g)].map(([address]) => address);
  assert.equal(new Set(addresses), new Set(['http://www.w3.org/2000/svg']));
});

test('Points with labels can be reached by the keyboard, one of them by Tab.', () => {
  const marks = [Plot.dotY([1, 4, 9], { ariaLabel: (value: number) => `${value} ms` }), Plot.lineY([1, 4, 9])];
  const { document } = parseHTML(`<!doctype html><html><body>${svgElement({ label: 'Squares', marks })}</body></html>`);
  assert.is(
    document.querySelector('svg')!.getAttribute('role'),
    'group',
    'screen readers do not read what is inside an image',
  );
  const points = [...document.querySelectorAll('[tabindex]')];
  assert.equal(
    points.map((point) => [
      point.getAttribute('aria-label'),
      point.getAttribute('tabindex'),
      point.getAttribute('role'),
    ]),
    [
      ['1 ms', '0', 'img'],
      ['4 ms', '-1', 'img'],
      ['9 ms', '-1', 'img'],
    ],
  );
});

test('Markup in a text stays text, and a file stays XML.', () => {
  const hostile = '</svg><script>alert("1")</script> & \'x\' \u0000\u001b\ud800 \u00a0😀';
  assert.is(
    escapeMarkup(hostile),
    '&lt;/svg&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39; \ufffd\ufffd\ufffd \u00a0😀',
  );
  const text = svgFile({ label: hostile, marks: [Plot.text([hostile]), Plot.dotY([1], { ariaLabel: () => hostile })] });
  assert.not.match(text, /<script/);
  assert.is(text.match(/<\/svg>/g)!.length, 1);
  assert.is(text.split(escapeMarkup(hostile)).length - 1, 3);
  assert.match(text, /^<svg [^<>]*><style>/, 'the style is first inside of the element');
  const { document } = parseHTML('<p title="a &lt; b">1 &lt; 2<!-- no --><br></p>');
  assert.is(xmlText(document.querySelector('p')!), '<p title="a &lt; b">1 &lt; 2<br/></p>');
});

/** Contrast of two colours, as WCAG 2.1 defines it. */
function contrast(a: string, b: string): number {
  const luminance = (colour: string) => {
    const [r, g, blue] = [1, 3, 5].map((at) => {
      const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * blue!;
  };
  const [low, high] = [luminance(a), luminance(b)].sort((p, q) => p - q);
  return (high! + 0.05) / (low! + 0.05);
}

test('Every colour has a contrast of 4.5:1 or more with its ground, in both schemes.', () => {
  const schemes = pictureStyle(':root').split('@media');
  assert.is(schemes.length, 2);
  for (const scheme of schemes) {
    const colours = [...scheme.matchAll(/--(ground|ink|series-\d):(#[0-9a-f]{6})/g)];
    assert.is(colours.length, 2 + seriesColours.length);
    const ground = colours[0]![2]!;
    for (const [, name, colour] of colours.slice(1)) assert.ok(contrast(ground, colour!) >= 4.5, `${name} ${colour}`);
  }
});

test.run();
