import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MultivariateNormal, openDevice } from '../../lib/index.ts';
import { ellipse, ellipseRadius, type PairMargin } from '../../lib/plot/ellipse.ts';
import { histogram, normalDensity } from '../../lib/plot/histogram.ts';
import { parseHTML } from '../../lib/plot/library.ts';
import { dotsShown, maximumColumns, pairsPlot } from '../../lib/plot/pairs.ts';
import { captions, correlationLines } from '../../lib/plot/pairs-captions.ts';
import { type Pairs, rangeOf } from '../../lib/plot/pairs-panels.ts';
import { correlations, evenRows } from '../../lib/plot/points.ts';
import { escapeMarkup } from '../../lib/plot/svg.ts';
import { ticks, ticksThatFit, tickText } from '../../lib/plot/ticks.ts';
import { throwsCode } from '../harness/throws-code.ts';

const margin: PairMargin = { mean: [3, -200], covariance: [4, -33, 900] };

/** (x - mean)' inverse(covariance) (x - mean), with the inverse written out. */
function quadraticForm({ mean, covariance: [xx, xy, yy] }: PairMargin, x: number, y: number): number {
  const [dx, dy] = [x - mean[0], y - mean[1]];
  return (yy * dx * dx - 2 * xy * dx * dy + xx * dy * dy) / (xx * yy - xy * xy);
}

test('The points of an ellipse satisfy its quadratic form.', () => {
  // Quantiles of chi-squared with 2 degrees of freedom, from tables.
  for (const [share, quantile] of [
    [0.5, 1.386294361],
    [0.95, 5.991464547],
    [0.99, 9.210340372],
  ] as const) {
    assert.ok(Math.abs(ellipseRadius(share) ** 2 - quantile) < 1e-8);
    const points = ellipse(margin, share, 100);
    assert.is(new Set(points.map(String)).size, 100);
    for (const [x, y] of points) assert.ok(Math.abs(quadraticForm(margin, x, y) / quantile - 1) < 1e-6, `${x}, ${y}`);
    // They go all the way around: their centre is the mean.
    for (const axis of [0, 1] as const)
      assert.ok(Math.abs(points.reduce((sum, point) => sum + point[axis], 0) / 100 - margin.mean[axis]) < 1e-9);
  }
});

test('50% of a million draws lie inside of the 50% ellipse, and 95% inside of the other.', () => {
  using device = openDevice();
  const [xx, xy, yy] = margin.covariance;
  const covariance = [
    [xx, xy],
    [xy, yy],
  ];
  using normal = MultivariateNormal.fromCovarianceSync({ device, mean: margin.mean, covariance });
  const count = 1_000_000;
  using draws = normal.sampleSync(count, { seed: 5 });
  const { data } = draws;
  for (const share of [0.5, 0.95]) {
    const [x, y] = ellipse(margin, share)[7]!;
    const edge = quadraticForm(margin, x, y);
    let inside = 0;
    for (let at = 0; at < data.length; at += 2) if (quadraticForm(margin, data[at]!, data[at + 1]!) <= edge) inside++;
    const standardErrors = (inside - share * count) / Math.sqrt(share * (1 - share) * count);
    assert.ok(Math.abs(standardErrors) < 5, `${inside} of ${count} inside of ${share}: ${standardErrors}`);
  }
});

test('Rows are chosen evenly.', () => {
  assert.equal(evenRows(3, 5), [0, 1, 2]);
  assert.equal(evenRows(10, 4), [0, 2, 5, 7]);
  assert.equal(evenRows(0, 4), []);
  const rows = evenRows(1_000_003, 1500);
  assert.is(rows.length, 1500);
  const steps = new Set(rows.slice(1).map((row, i) => row - rows[i]!));
  assert.equal([...steps].sort(), [666, 667]);
});

test('A histogram has the area of the share that it shows.', () => {
  const values = [0, 9, 1, 9, 1.5, 9, 4, 9, 5, 9, -1, 9];
  const bars = histogram({ values, rows: 6 }, 0, 2, [0, 4], 4);
  assert.equal(
    bars.map(({ from, to, density }) => [from, to, density * 6]),
    [
      [0, 1, 1],
      [1, 2, 2],
      [2, 3, 0],
      [3, 4, 1],
    ],
  );
});

test('The density of a normal agrees with tables, and its area is 1.', () => {
  assert.ok(Math.abs(normalDensity(0, 0, 1) - 0.3989422804) < 1e-10);
  assert.ok(Math.abs(normalDensity(7, 3, 4) - 0.0539909665 / 2) < 1e-10);
  let area = 0;
  for (let x = -60; x < 60; x += 0.01) area += normalDensity(x, 3, 25) * 0.01;
  assert.ok(Math.abs(area - 1) < 1e-9);
});

test('Correlations are those of the rows; there is none for a column that does not vary.', () => {
  const values = [1, 2, 7, 2, 1, 7, 3, 5, 7, 4, 4, 7].map((value) => value + 1e6);
  const found = correlations({ values, rows: 4 }, 3);
  // Deviations -1.5, -0.5, 0.5, 1.5 and -1, -2, 2, 1: 5 / sqrt(5 x 10).
  assert.ok(Math.abs(found[1]! - 5 / Math.sqrt(50)) < 1e-9);
  assert.is(found[3], found[1]);
  assert.ok(Math.abs(found[0]! - 1) < 1e-12);
  assert.equal([found[2], found[8]], [Number.NaN, Number.NaN]);
  // In float64 the sum of ten tenths is not 1.
  const constant = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? 0.1 : at));
  assert.equal([...correlations({ values: constant, rows: 10 }, 2).subarray(0, 2)], [Number.NaN, Number.NaN]);
});

test('Ticks are round, few, and within the range.', () => {
  assert.equal(ticks(157, 258, 5), [160, 180, 200, 220, 240]);
  assert.equal(ticks(-0.1, 0.32, 5), [-0.1, 0, 0.1, 0.2, 0.3]);
  assert.equal(ticks(1700, 6700, 4), [2000, 4000, 6000]);
  assert.equal(ticks(0, 1, 1), [0]);
  for (const [low, high] of [
    [-3e-9, 4e-9],
    [1e16, 1e16 + 8],
    [-1e300, 1e300],
    [1e-310, 3e-310],
    [99.9, 100.1],
  ] as const)
    for (const count of [1, 2, 3, 5]) {
      const found = ticks(low, high, count);
      assert.ok(found.length <= count && found.every((tick) => tick >= low && tick <= high), `${low}: ${found}`);
      assert.is(new Set(found).size, found.length);
    }
});

test('An axis has two ticks or more; long numbers are shortened if that loses nothing.', () => {
  const told = (low: number, high: number, side: number) => ticksThatFit(low, high, side).map(({ text }) => text);
  assert.equal(told(100_000, 500_000, 440), ['100,000', '200,000', '300,000', '400,000', '500,000']);
  assert.equal(told(100_000, 500_000, 100), ['200K', '400K']);
  assert.equal(told(-48_000, 26_000, 100), ['\u221240K', '20K'], 'where four have no room, the outermost');
  assert.equal(told(1_234_561, 1_234_566, 100), ['1.234562e6', '1.234566e6'], 'not 1.23M and 1.23M');
  for (const [low, high] of [
    [-3e-9, 4e-9],
    [0.1, 0.35],
    [99_999, 1_100_001],
    [-1e300, 1e300],
    [1e-310, 3e-310],
    [99.9, 100.1],
    [7, 7.0001],
  ] as const)
    for (const side of [80, 100, 160, 440]) {
      const found = ticksThatFit(low, high, side);
      assert.ok(found.length >= 2 && found.length <= 5, `${low} to ${high}: ${JSON.stringify(found)}`);
      assert.is(new Set(found.map(({ text }) => text)).size, found.length, 'numbers differ');
      for (const { value } of found) assert.ok(value >= low && value <= high);
    }
});

test('Labels of ticks are short.', () => {
  const told = [0, -2, 0.1, 1234.5, -0.00025, 2e6, 3e-9, 100.0001].map(tickText);
  assert.is(told.join(' '), '0 \u22122 0.1 1,234.5 \u22122.5e\u22124 2e6 3e\u22129 100.0001');
});

test('Text is escaped for XML.', () => {
  assert.is(
    escapeMarkup('<a b="c">&\u0000\u001f\n\ud800 \ud83d\udc27\u00a0'),
    '&lt;a b=&quot;c&quot;&gt;&amp;\ufffd\ufffd\n\ufffd \ud83d\udc27\u00a0',
  );
});

/** A small normal of n columns, with draws and data that are not normal: a picture shows what it is given. */
function example(n: number, rows: number): Pairs & { title: string; data: NonNullable<Pairs['data']> } {
  const spread = (i: number, j: number) => 0.8 ** Math.abs(i - j) * (i + 1) * (j + 1);
  const indices = Array.from({ length: n }, (_, i) => i);
  const values = (factor: number) =>
    Float32Array.from({ length: rows * n }, (_, at) => 10 * (at % n) + 2.9 * Math.sin(factor * at) * ((at % n) + 1));
  return {
    title: 'Title',
    columns: indices.map((i) => `column ${i}`),
    mean: indices.map((i) => 10 * i),
    covariance: indices.map((i) => indices.map((j) => spread(i, j))),
    draws: { values: values(1.7), rows },
    data: { values: values(2.3), rows },
  };
}

const parsed = (svg: string) => parseHTML(`<!doctype html><html><body>${svg}</body></html>`).document;
/** The points of a path, and the number of its subpaths. */
function pointsOf(shape: string): [x: number, y: number][] {
  return [...shape.matchAll(/[ML]([\d.-]+)[ ,]([\d.-]+)/g)].map(([, x, y]) => [Number(x), Number(y)]);
}

for (const rows of [40, 5000])
  test(`Every point is drawn in its place: (${rows}) rows.`, () => {
    const pairs = example(3, rows);
    const limit = dotsShown(3);
    const panels = [...parsed(pairsPlot(pairs)).querySelectorAll('svg > g')];
    assert.is(panels.length, 6);
    const side = 213;
    const pixels = (i: number) => {
      const [low, high] = rangeOf(pairs, i, limit);
      return (value: number) => 4 + ((side - 8) * (value - low)) / (high - low);
    };
    const scatter: [panel: number, i: number, j: number][] = [
      [1, 1, 0],
      [3, 2, 0],
      [4, 2, 1],
    ];
    for (const [panel, i, j] of scatter)
      for (const [cap, points] of [
        ['round', pairs.draws],
        ['square', pairs.data],
      ] as const) {
        const found = panels[panel]!.querySelectorAll(`path[stroke-opacity][stroke-linecap=${cap}]`);
        assert.is(found.length, 1);
        const places = pointsOf(found[0]!.getAttribute('d')!);
        const chosen = evenRows(rows, limit);
        assert.is(places.length, Math.min(rows, 1500));
        chosen.forEach((row, at) => {
          const x = pixels(j)(points.values[row * 3 + j]!);
          const y = side - pixels(i)(points.values[row * 3 + i]!);
          const [foundX, foundY] = places[at]!;
          assert.ok(
            Math.abs(foundX - x) < 0.06 && Math.abs(foundY - y) < 0.06,
            `row ${row}: ${places[at]} for ${x}, ${y}`,
          );
        });
      }
  });

test('A scatter panel has both ellipses, the outer one dashed, in their places.', () => {
  const pairs = example(2, 10);
  const [, panel] = parsed(pairsPlot(pairs)).querySelectorAll('svg > g');
  const lines = [...panel!.querySelectorAll('g[aria-label=line]')];
  assert.equal(
    lines.map((line) => line.getAttribute('stroke-dasharray')),
    [null, '5 3'],
  );
  const [xLow, xHigh] = rangeOf(pairs, 0, 10);
  const [yLow, yHigh] = rangeOf(pairs, 1, 10);
  lines.forEach((line, which) => {
    const places = pointsOf(line.querySelector('path')!.getAttribute('d')!);
    assert.is(places.length, 65);
    for (const [left, top] of places) {
      const x = xLow + ((left - 4) / 312) * (xHigh - xLow);
      const y = yHigh - ((top - 4) / 312) * (yHigh - yLow);
      const form = quadraticForm({ mean: [0, 10], covariance: [1, 1.6, 4] }, x, y);
      assert.ok(Math.abs(Math.sqrt(form) - ellipseRadius([0.5, 0.95][which]!)) < 0.01, `${form}`);
    }
  });
});

test('A histogram panel has the draws filled, the data as an outline and the density of the normal, on one scale.', () => {
  const pairs = example(2, 100);
  const panel = parsed(pairsPlot(pairs)).querySelectorAll('svg > g')[2]!;
  const range = rangeOf(pairs, 1, 100);
  const variance = pairs.covariance[1]![1]!;
  const bars = [pairs.draws, pairs.data].map((points) => histogram(points, 1, 2, range));
  const top = Math.max(normalDensity(0, 0, variance), ...bars.flat().map(({ density }) => density)) * (1.05 + 2 / 32);
  const place = (x: number, density: number) => [
    4 + ((x - range[0]) / (range[1] - range[0])) * 312,
    316 - (density / top) * 312,
  ];
  const [drawn, data] = bars.map((each) =>
    each.flatMap(({ from, to, density }) => [place(from, density), place(to, density)]),
  );
  const curve = Array.from({ length: 257 }, (_, k) => {
    const x = range[0] + (k / 256) * (range[1] - range[0]);
    return place(x, normalDensity(x, 10, variance));
  });
  // The outline of an area returns along its lower edge.
  const area = [...drawn!, ...drawn!.map(([x]) => [x!, 316]).reverse()];
  const shapes = [...panel.querySelectorAll('[aria-label=area] path, [aria-label=line] path')];
  assert.is(shapes.length, 3);
  [area, data!, curve].forEach((expected, which) => {
    const found = pointsOf(shapes[which]!.getAttribute('d')!);
    assert.is(found.length, expected.length);
    expected.forEach(([x, y], at) => {
      assert.ok(Math.abs(found[at]![0] - x!) < 0.06 && Math.abs(found[at]![1] - y!) < 0.06, `${which}: ${found[at]}`);
    });
  });
});

test('Ticks are at their numbers: at the left and at the bottom of the picture, and right of each density.', () => {
  const pairs = example(3, 50);
  const panels = [...parsed(pairsPlot(pairs)).querySelectorAll('svg > g')];
  const labels = (panel: ReturnType<typeof parsed>['body'], axis: string) => [
    ...panel.querySelectorAll(`[aria-label="${axis}-axis tick label"] text`),
  ];
  const density = 'density';
  const expected: [panel: number, x: number | undefined, y: number | undefined | typeof density][] = [
    [0, undefined, density],
    [1, undefined, 1],
    [2, undefined, density],
    [3, 0, 2],
    [4, 1, undefined],
    [5, 2, density],
  ];
  for (const [panel, ...columns] of expected)
    columns.forEach((column, which) => {
      const found = labels(panels[panel]!, 'xy'[which]!);
      assert.is(found.length > 1, column !== undefined, `panel ${panel}`);
      if (column === undefined) return;
      const numberOf = (label: (typeof found)[number]) => Number(label.textContent.replace('\u2212', '-'));
      const placeOf = (label: (typeof found)[number]) =>
        Number(/translate\(([\d.]+),([\d.]+)\)/.exec(label.getAttribute('transform')!)![which + 1]);
      if (column === density) {
        // The lowest tick is 0 and is at the bottom; the others lie above it in proportion to their values.
        assert.is(numberOf(found[0]!), 0);
        assert.ok(Math.abs(placeOf(found[0]!) - 209) < 0.6);
        const scale = (209 - placeOf(found.at(-1)!)) / numberOf(found.at(-1)!);
        for (const label of found) assert.ok(Math.abs(209 - placeOf(label) - scale * numberOf(label)) < 0.6);
        return;
      }
      const [low, high] = rangeOf(pairs, column, 50);
      for (const label of found) {
        const share = (numberOf(label) - low) / (high - low);
        assert.ok(share >= 0 && share <= 1, `${label.textContent} lies in the panel`);
        const place = 4 + (which === 0 ? share : 1 - share) * (213 - 8);
        assert.ok(Math.abs(placeOf(label) - place) < 0.6, `${label.textContent}: ${placeOf(label)} for ${place}`);
      }
    });
  const words = [...parsed(pairsPlot(pairs)).querySelectorAll('text')].filter((text) => text.textContent === density);
  assert.is(words.length, 3);
});

test('The picture says what it shows, for eyes and for screen readers.', () => {
  const pairs = { ...example(2, 2000), title: 'a < b', columns: ['width', `${'long '.repeat(30)}& "odd"`] };
  const document = parsed(pairsPlot({ ...pairs, draws: { ...pairs.draws, of: 1_000_000 } }));
  const svg = document.querySelector('svg')!;
  assert.is(svg.getAttribute('role'), 'img');
  assert.is(svg.getAttribute('aria-label'), 'a < b');
  const description = svg.getAttribute('aria-description')!;
  assert.match(description, '2,000 of 1,000,000 draws and 2,000 rows of data');
  assert.match(description, 'width: 0 and 1; long');
  assert.match(description, /Correlations: width and long .*: model 0\.80, data \S+, draws \S+\.$/);
  const texts = [...svg.querySelectorAll('text')].map((text) => text.textContent);
  for (const part of [
    'a < b',
    '2,000 of 1,000,000 draws, 1,500 of them as dots',
    '2,000 rows of data, 1,500 of them as dots',
    'model 0.80',
  ])
    assert.ok(
      texts.some((text) => text.includes(part)),
      part,
    );
  // A long name is cut, but complete in its title.
  const [name] = [...svg.querySelectorAll('text')].filter((text) => text.textContent.includes('odd'));
  assert.is(name!.querySelector('title')!.textContent, pairs.columns[1]);
  assert.match(name!.textContent.slice(pairs.columns[1]!.length), /^long .{8,20}\u2026.{8,20} & "odd"$/);
});

test('The legend says how much is shown, and the picture says which correlation is undefined.', () => {
  const { data: _, ...pairs } = example(2, 30);
  const told = (limit: number, shown: Pairs) => captions(shown, limit).flatMap((line) => line.map(({ text }) => text));
  assert.equal(told(30, pairs), [
    '\u25cf 30 draws',
    '\u2014 density and 50% ellipse of the normal',
    '\u2013 \u2013 95% ellipse',
  ]);
  assert.is(told(20, pairs)[0], '\u25cf 30 draws, 20 of them as dots');
  const data = { values: [1, 5, 1, 6], rows: 2, of: 1e6 };
  assert.is(told(20, { ...pairs, data })[1], '\u25a0 2 of 1,000,000 rows of data');
  const lines = correlationLines({ ...pairs, data, draws: { values: [1, 3, 2, 1], rows: 2 } })(1, 0);
  assert.equal(
    lines.map(({ text }) => text),
    ['correlation', 'model 0.80', 'data none', 'draws \u22121.00'],
  );
});

test('A correlation that rounds to 0 has no sign.', () => {
  const { data: _, ...pairs } = example(2, 30);
  const told = (correlation: number) =>
    correlationLines({
      ...pairs,
      covariance: [
        [1, correlation],
        [correlation, 1],
      ],
    })(1, 0)[1]!.text;
  assert.equal([-0.004, 0.004, -0.006, -1].map(told), [
    'model 0.00',
    'model 0.00',
    'model \u22120.01',
    'model \u22121.00',
  ]);
});

test('The picture counts rows beyond the panels, and has no such line if there are none.', () => {
  const values = Array.from({ length: 4000 }, (_, i) => (i % 3) - 1);
  const normal = {
    columns: ['a', 'b'],
    mean: [0, 0],
    covariance: [
      [1, 0],
      [0, 1],
    ],
    title: '',
  };
  const draws = { values, rows: 2000 };
  assert.not.match(pairsPlot({ ...normal, draws }), /Beyond/);
  // Row 1 is not a dot: the even choice of 1,500 of 2,000 rows leaves it out. It is beyond in two columns, but counts
  // once.
  const far = values.with(2, 99).with(3, -99);
  assert.not.ok(evenRows(2000, 1500).includes(3));
  const placed = values.with(6, 99).with(7, -99);
  assert.match(
    pairsPlot({ ...normal, draws: { ...draws, values: placed } }),
    'Beyond the panels, not shown whole: 1 draw<',
  );
  assert.not.match(pairsPlot({ ...normal, draws: { ...draws, values: far } }), /Beyond/, 'a dot widens its panel');
});

test('Without data the picture has none; one column has only a histogram.', () => {
  const { data: _, ...pairs } = example(2, 50);
  const text = pairsPlot(pairs);
  assert.not.match(text, 'square');
  assert.not.match(text, /\bdata\b/);
  const alone = pairsPlot(example(1, 50));
  assert.is(parsed(alone).querySelectorAll('svg > g').length, 1);
  assert.not.match(alone, /ellipse|correlation/i);
  assert.match(pairsPlot(example(1, 2000)), '\u25cf 2,000 draws', 'a histogram shows all of them');
});

/** Throws if tags do not match, or if text has a character that XML requires to be escaped. */
function requireXml(text: string): void {
  const open: string[] = [];
  const attribute = String.raw`\s+[\w:-]+="[^"<]*"`;
  const tag = new RegExp(`^<(/?)([a-z]+)((?:${attribute})*)\\s*(/?)>$`, 'i');
  for (const [token] of text.matchAll(/<[^>]*>|[^<]+/g)) {
    assert.not.match(token, /&(?!(?:lt|gt|amp|quot|#\d+);)/);
    if (!token.startsWith('<')) continue;
    const found = tag.exec(token);
    assert.ok(found, token.slice(0, 200));
    if (found[1] === '/') assert.is(open.pop(), found[2]);
    else if (found[4] !== '/') open.push(found[2]!);
  }
  assert.equal(open, []);
}

test('The file is XML below 300 kB, with colours for both schemes.', () => {
  for (const n of [1, 4, maximumColumns]) {
    const columns = Array.from({ length: n }, (_, i) => `<${i}> & "\u0007"`);
    const text = pairsPlot({ ...example(n, 20_000), title: '</svg> & ]]>', columns });
    assert.ok(text.length < 300_000, `${n} columns: ${text.length}`);
    assert.match(text, 'prefers-color-scheme:dark');
    assert.not.match(text, 'NaN');
    requireXml(text);
  }
});

test('A column that is too narrow or too wide to draw is refused.', async () => {
  const { columns, covariance } = example(2, 1);
  const drawing = (mean: number[], ...values: number[]) =>
    pairsPlot({ title: '', columns, mean, covariance, draws: { values, rows: values.length / 2 } });
  await throwsCode('ERR_OUT_OF_RANGE', '(column 0)', () => drawing([1e20, 0], 1e20, 1));
  await throwsCode('ERR_OUT_OF_RANGE', '(column 1)', () => drawing([0, 0], 0, -1e308, 0, 1e308));
});

test.run();
