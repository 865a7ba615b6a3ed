import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { shortened, textWidth, wrapped } from '../../lib/plot/letters.ts';
import { parseHTML } from '../../lib/plot/library.ts';
import { pairsPlot } from '../../lib/plot/pairs.ts';

const long = ['数'.repeat(60), 'W'.repeat(60), `${'width of the petal '.repeat(3)}in 1`, `عنوان ${'طويل '.repeat(12)}`];

test('A name that is too long keeps its beginning and its end, and is as wide as allowed at most.', () => {
  assert.is(shortened('length', 20), 'length');
  const names = [1, 2, 3].map((i) => shortened(`body mass index on admission ${i}`, 8));
  assert.is(new Set(names).size, 3, names.join());
  for (const name of long)
    for (const width of [1, 2, 6.25, 20]) assert.ok(textWidth(shortened(name, width)) <= width, `${name} ${width}`);
  // A letter with its accent, and an emoji of several parts, are not parted.
  assert.is(shortened('e\u0301'.repeat(20), 3), 'e\u0301e\u0301\u2026e\u0301');
  assert.is(shortened('👩‍🔬'.repeat(9), 3), '👩‍🔬\u2026👩‍🔬');
});

test('Text is parted at spaces, and a word that is longer than a line within.', () => {
  assert.equal(wrapped('', 9), ['']);
  assert.equal(wrapped('a title', 9), ['a title']);
  assert.equal(wrapped('a title of three short lines', 7), ['a title of', 'three short', 'lines']);
  for (const text of long) {
    const lines = wrapped(text, 10);
    assert.is(lines.join('').replaceAll(' ', ''), text.replaceAll(' ', ''));
    for (const line of lines) assert.ok(textWidth(line) <= 10, line);
  }
});

test('Title, legend and names stay within the picture, and names beside each other, on a phone too.', () => {
  const rows = 3;
  for (const n of [1, 2, 4]) {
    const covariance = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => Number(i === j)));
    const values = Array.from({ length: rows * n }, (_, i) => Math.sin(i));
    const columns = long.slice(0, n);
    const text = pairsPlot({
      title: 'A long title of many words about these data. '.repeat(4).trim(),
      columns,
      mean: columns.map(() => 0),
      covariance,
      draws: { values, rows, of: 1e9, dropped: 123_456_789 },
      data: { values, rows, of: 1e9, dropped: 123_456_789 },
    });
    const svg = parseHTML(text).document.querySelector('svg')!;
    const width = Number(svg.getAttribute('width'));
    const titles = [...svg.querySelectorAll('.title')];
    assert.ok(titles.length > 1);
    const lines = [...titles, ...svg.querySelectorAll('.words[text-anchor=start]')];
    assert.is(new Set(lines.map((line) => line.getAttribute('y'))).size, lines.length);
    for (const line of lines) {
      const size = line.getAttribute('class') === 'title' ? 20 : 16;
      assert.ok(8 + textWidth(line.textContent) * size <= width, line.textContent);
    }
    const pitch = Math.min(440, Math.round(640 / n)) + 8;
    const names = [...svg.querySelectorAll('.words[transform]')];
    assert.is(names.length, 2 * n - 1);
    for (const name of names) {
      const room = name.getAttribute('transform')!.includes('rotate') ? pitch : pitch + 42;
      assert.ok(textWidth(name.lastChild!.textContent!) * 16 <= room, name.textContent);
    }
  }
});

test.run();
