// Draws the figures of docs/ as SVG into a folder, this one by default: node --import tsx docs/figures/draw.ts. Each
// figure has a ground of its own, so that it is legible on any page, and follows the reader's colour scheme.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MultivariateNormal, openDevice } from '../../lib/index.ts';

const style = `<style>
svg{--ground:#fff;--ink:#1f2328;--soft:#57606a;--line:#8c959f;--a:#0969da;--b:#bc4c00;--c:#1a7f37;--wash:#f3f5f8}
@media(prefers-color-scheme:dark){svg{--ground:#161b22;--ink:#e6edf3;--soft:#9da7b3;--line:#6e7781;--a:#6cb6ff;--b:#f0883e;--c:#57ab5a;--wash:#21262d}}
.ground{fill:var(--ground)}text{fill:var(--ink)}.soft{fill:var(--soft)}.strong{font-weight:600}
.box{fill:var(--wash);stroke:var(--line)}.a{fill:var(--a)}.b{fill:var(--b)}.c{fill:var(--c)}
.on{fill:var(--ground)}.line{stroke:var(--line);fill:none}.sa{stroke:var(--a)}.sb{stroke:var(--b)}
.dots{stroke:var(--soft);stroke-width:3.2;stroke-linecap:round;stroke-opacity:.35}
</style>`;

type Anchor = 'start' | 'middle' | 'end';

const text = (x: number, y: number, words: string, kind = '', anchor: Anchor = 'middle'): string =>
  `<text x="${x}" y="${y}" class="${kind}" text-anchor="${anchor}">${words}</text>`;

const box = (x: number, y: number, width: number, height: number, kind = 'box'): string =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="4" class="${kind}"/>`;

const line = (points: string, kind = ''): string => `<path d="M${points}" class="line ${kind}"/>`;

const arrow = (points: string): string => `<path d="M${points}" class="line" marker-end="url(#head)"/>`;

function figure(width: number, height: number, title: string, parts: readonly string[]): string {
  const head =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" ` +
    `role="img" aria-label="${title}" font-family="system-ui, sans-serif" font-size="13">`;
  const marker =
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">' +
    '<path d="M0 0L8 4L0 8Z" style="fill:var(--line)"/></marker></defs>';
  return `${head}\n${style}\n${marker}\n<rect width="${width}" height="${height}" class="ground"/>\n${parts.join('\n')}\n</svg>\n`;
}

/** Elements of a stream, the rows and parts that they make, and the shards that draw them. */
function streams(): string {
  const parts = [
    text(20, 28, 'One stream of normals: element i depends on seed, stream and i alone', 'strong', 'start'),
  ];
  const [left, cell] = [20, 30];
  for (let i = 0; i < 24; i++) {
    parts.push(box(left + i * cell, 42, cell - 3, 26), text(left + i * cell + 13, 60, `${i}`));
  }
  parts.push(text(20, 100, 'Rows of dimension 3: row r takes elements 3 r to 3 r + 2', 'strong', 'start'));
  for (let r = 0; r < 8; r++) {
    const x = left + r * 3 * cell;
    parts.push(box(x, 112, 3 * cell - 3, 26), text(x + 43, 130, `row ${r}`));
  }
  parts.push(text(20, 170, 'Parts of a run: two rows each here, about 256 MiB in practice', 'strong', 'start'));
  const shards = ['a', 'b', 'a', 'b'];
  shards.forEach((kind, p) => {
    const x = left + p * 6 * cell;
    parts.push(box(x, 182, 6 * cell - 3, 28, kind));
    parts.push(text(x + 88, 201, `part-00000${p}`, 'on strong'));
  });
  parts.push(
    text(20, 242, 'Shards: shard i of n draws every n-th part, on any machine, at any time', 'strong', 'start'),
  );
  const machines = [
    ['a', 'shard 1/2: parts 0 and 2'],
    ['b', 'shard 2/2: parts 1 and 3'],
  ] as const;
  machines.forEach(([kind, words], i) => {
    parts.push(box(left + i * 12 * cell, 254, 12 * cell - 3, 28, kind));
    parts.push(text(left + i * 12 * cell + 178, 273, words, 'on strong'));
  });
  return figure(757, 300, 'How the elements of a stream become rows, parts and shards', parts);
}

/** The threads that a commit passes through. */
function commit(): string {
  const lanes = ['JavaScript thread', "Device's thread", 'Pool of threads, or GPU'];
  const parts = lanes.map((name, i) => text(20, 60 + i * 90, name, 'strong', 'start'));
  for (let i = 0; i < 3; i++) parts.push(line(`20 ${104 + i * 90}H740`));
  const step = (x: number, lane: number, width: number, first: string, second: string, kind = 'box') => {
    const [y, words] = [35 + lane * 90, kind === 'box' ? '' : 'on'];
    parts.push(box(x, y, width, 46, kind), text(x + width / 2, y + 20, first, `${words} strong`));
    parts.push(text(x + width / 2, y + 37, second, words));
  };
  step(200, 0, 110, 'record', 'commands', 'a');
  step(330, 0, 90, 'commit()', 'a Promise');
  step(440, 0, 160, 'free', 'the event loop runs on');
  step(620, 0, 120, 'await goes on', 'timings', 'a');
  step(310, 1, 130, 'queue', 'commits in order', 'b');
  step(590, 1, 130, 'done, or error', 'settles', 'b');
  step(420, 2, 180, 'run', 'normals, factor, product', 'c');
  parts.push(arrow('310 58H328'), arrow('375 81V123'), arrow('440 148H510V213'), arrow('600 240H645V173'));
  parts.push(
    arrow('680 125V83'),
    text(
      20,
      310,
      'A synchronous call runs on the JavaScript thread itself, after the commits before it.',
      'soft',
      'start',
    ),
  );
  return figure(760, 326, 'How a commit travels through the threads of a process', parts);
}

/** What the members of `Timings` measure. The lengths are not measured. */
function timeline(): string {
  const parts = [text(20, 28, "What a commit's timings measure (not to scale)", 'strong', 'start')];
  const bars = [
    [60, 150, 'record', 'a'],
    [210, 120, 'earlier commits', 'box'],
    [330, 270, 'device computes', 'c'],
    [600, 90, 'wake up', 'box'],
  ] as const;
  for (const [x, width, words, kind] of bars) {
    parts.push(box(x, 76, width, 34, kind), text(x + width / 2, 98, words, kind === 'box' ? '' : 'on strong'));
  }
  const span = (from: number, to: number, y: number, name: string) => {
    parts.push(line(`${from} ${y - 5}V${y + 5}`), line(`${to} ${y - 5}V${y + 5}`), line(`${from} ${y}H${to}`));
    parts.push(text((from + to) / 2, y + 18, name, 'strong'));
  };
  span(60, 210, 128, 'encodeMs');
  span(330, 600, 128, 'deviceMs');
  span(210, 690, 166, 'wallMs');
  parts.push(text(60, 62, 'first command', 'soft', 'start'), text(210, 62, 'commit()', 'soft'));
  parts.push(text(690, 62, 'the Promise settles', 'soft', 'end'));
  return figure(757, 200, 'The timeline of a commit: encodeMs, deviceMs and wallMs', parts);
}

/** Draws of a normal, and how many of them each ellipse holds. */
function coverage(): string {
  const count = 2000;
  using device = openDevice('reference');
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance: [[1, 0.6], [0.6, 1]] }); // biome-ignore format: a matrix
  using draws = normal.sampleSync(count, { seed: 42 });
  const distances = [...normal.mahalanobisSync(draws).data].map(Number);
  const [centreX, centreY, scale] = [230, 225, 48];
  const at = ([x, y]: readonly number[]): string =>
    `${(centreX + scale * x!).toFixed(1)} ${(centreY - scale * y!).toFixed(1)}`;
  const ellipses = [0.5, 0.95].map((probability) => {
    const { radius, axes } = normal.ellipsoidSync({ probability });
    const [[a, b], [c, d]] = axes.toArray() as [[number, number], [number, number]];
    const angles = Array.from({ length: 97 }, (_, i) => (i * 2 * Math.PI) / 96);
    const points = angles.map((t) => at([a * Math.cos(t) + b * Math.sin(t), c * Math.cos(t) + d * Math.sin(t)]));
    return { probability, points: points.join('L'), inside: distances.filter((each) => each <= radius).length };
  });
  const dots = draws.toArray().map((row) => `M${at(row)}h0`);
  const parts = [
    text(20, 28, `${count.toLocaleString('en')} draws and the ellipses of the normal`, 'strong', 'start'),
    `<path d="${dots.join('')}" class="dots"/>`,
    ...ellipses.map(({ points }, i) => `<path d="M${points}Z" class="line ${['sa', 'sb'][i]}" stroke-width="2.5"/>`),
    ...ellipses.flatMap(({ probability, inside }, i) => [
      box(470, 130 + i * 80, 14, 14, ['a', 'b'][i]),
      text(494, 142 + i * 80, `ellipsoid({ probability: ${probability} })`, 'strong', 'start'),
      text(494, 162 + i * 80, `holds ${((100 * inside) / count).toFixed(1)}% of these draws`, '', 'start'),
    ]),
  ];
  return figure(757, 420, 'How many draws the 50% and 95% ellipses hold', parts);
}

const figures = { streams, commit, timeline, coverage };
const folder = process.argv[2] ?? fileURLToPath(new URL('.', import.meta.url));
for (const [name, draw] of Object.entries(figures)) writeFileSync(join(folder, `${name}.svg`), draw());
