// `covarium plot`, as users run it.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decode } from 'fast-png';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { pairsPlot } from '../../lib/plot/pairs.ts';
import { evenRows } from '../../lib/plot/points.ts';
import { npyBytes, npyHeader } from '../../lib/table/npy.ts';
import { nodeOptions } from '../harness/child.ts';
import { main, outcomeOf, run, succeeds } from '../harness/command-line.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-plot-'));
const at = (name: string) => join(folder, name);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const distribution = {
  mean: [1, -1, 5],
  covariance: [
    [2, 0.5, 0],
    [0.5, 1, 0.25],
    [0, 0.25, 3],
  ],
};
const columns = ['a', 'b "c", d', 'e'];
const model = modelFile('model.json', { columns });
const draws = file('draws.csv', '1,2,3\n2,1,4\n0,-1,5\n');

test('plot draws what sample and fit wrote: dots for exactly these rows, under the names of the model.', async () => {
  await succeeds('sample', '--model', model, '--count', '5000', '--seed', '1', '--output', at('many.npy'));
  await succeeds('sample', '--model', model, '--count', '30', '--seed', '2', '--output', at('data.csv'));
  assert.is(
    await succeeds(
      'plot',
      '--model',
      model,
      '--draws',
      at('many.npy'),
      '--data',
      at('data.csv'),
      '--output',
      at('p.svg'),
    ),
    '',
  );
  const picture = readFileSync(at('p.svg'), 'utf8');
  assert.match(picture, 'aria-label="many.npy and data.csv, with the normal of model.json"');
  assert.match(picture, '\u25cf 1,500 of 5,000 draws<');
  assert.match(picture, '30 rows of data');
  assert.match(picture, '>b &quot;c&quot;, d</text>');
  assert.match(picture, 'a and b &quot;c&quot;, d: model 0.35');
  const dots = [...picture.matchAll(/ d="((?:M[^"]*?h0)+)"/g)].map(([, shape]) => shape!.split('h0').length - 1);
  assert.equal(dots, [1500, 30, 1500, 30, 1500, 30]);
  const all = new Float32Array(Uint8Array.from(readFileSync(at('many.npy')).subarray(128)).buffer);
  const shown = evenRows(5000, 1500).flatMap((row) => [...all.subarray(row * 3, row * 3 + 3)]);
  const rows = readFileSync(at('data.csv'), 'utf8').trimEnd().split('\n').slice(1);
  assert.is(
    picture,
    pairsPlot({
      title: 'many.npy and data.csv, with the normal of model.json',
      columns,
      ...distribution,
      draws: { values: shown, rows: 1500, of: 5000 },
      data: { values: rows.join().split(',').map(Number), rows: 30 },
    }),
  );
});

test('plot takes chosen columns in their order, generates names, and writes to standard output.', async () => {
  const chosen = await succeeds(
    'plot',
    '--model',
    model,
    '--draws',
    draws,
    '--columns',
    'e,"b ""c"", d"',
    '--output',
    '-',
  );
  assert.match(chosen, /^<svg [\s\S]*<\/svg>\n$/);
  // 0.25 / sqrt(3), and the correlation of the draws.
  assert.match(chosen, 'Correlations: e and b &quot;c&quot;, d: model 0.14, draws \u22120.98.');
  const nameless = modelFile('nameless.json', {});
  assert.match(
    await succeeds('plot', '--model', nameless, '--draws', draws, '--columns', 'x3,x1', '--output', '-'),
    'Correlations: x3 and x1: model 0.00, draws \u22120.50.',
  );
});

test('plot takes a title, and says in the picture which rows are left out.', async () => {
  const titled = await succeeds(
    'plot',
    '--model',
    model,
    '--draws',
    draws,
    '--title',
    'Mine & <yours>',
    '--output',
    '-',
  );
  assert.match(titled, 'aria-label="Mine &amp; &lt;yours&gt;"');
  assert.match(titled, '>Mine &amp; &lt;yours&gt;</text>');
  assert.not.match(titled, 'draws.csv');
  assert.match(titled, '\u25cf 3 draws<');
});

test('A name that ends in .png makes a PNG of twice the pixels, in the light colours, with the texts.', async () => {
  const paths = [at('words.png'), at('none.png'), at('words.svg')];
  for (const [i, path] of paths.entries())
    await succeeds('plot', '--model', model, '--draws', draws, '--title', i === 1 ? ' ' : 'A title', '--output', path);
  const [, width, height] = /width="(\d+)" height="(\d+)"/.exec(readFileSync(paths[2]!, 'utf8'))!.map(Number);
  const [png, untitled] = paths.slice(0, 2).map((path) => decode(readFileSync(path)));
  assert.equal([png!.width, png!.height], [2 * width!, 2 * height!]);
  const pixels = (image: typeof png, from: number, to: number) => {
    const found = new Map<string, number>();
    for (let at = from * image!.width; at < to * image!.width; at++) {
      const [r, g, b] = image!.data.subarray(at * image!.channels, at * image!.channels + 3);
      found.set(`${r} ${g} ${b}`, (found.get(`${r} ${g} ${b}`) ?? 0) + 1);
    }
    return found;
  };
  const all = pixels(png, 0, png!.height);
  assert.ok(all.get('255 255 255')! > 0.5 * png!.width * png!.height, 'the ground is white');
  assert.ok(all.get('31 98 196')! > 10, 'the legend has the colour of the draws');
  // The title is in the first 30 pixels.
  assert.ok((pixels(png, 0, 60).get('26 26 26') ?? 0) > 100, 'letters');
  assert.is(pixels(untitled, 0, 60).get('26 26 26'), undefined);
});

/** Runs `covarium plot` with a module of that name that cannot be loaded. */
function plotWithout(module: RegExp, code: string) {
  const hooks = `export async function resolve(name, context, next) {
    if (${module}.test(name)) throw Object.assign(new Error('${code}: not this one'), { code: '${code}' });
    return next(name, context);
  }`;
  const url = (text: string) => `data:text/javascript,${encodeURIComponent(text)}`;
  const register = url(`import { register } from 'node:module'; register(${JSON.stringify(url(hooks))});`);
  const command = ['plot', '--model', model, '--draws', draws, '--output', at('refused.png')];
  return outcomeOf(spawn(process.execPath, [...nodeOptions, '--import', register, main, ...command]));
}

test('If the package that makes PNG files is missing, plot says which to install, and leaves no file.', async () => {
  const { code, stderr } = await plotWithout(/^@resvg.resvg-js$/, 'ERR_MODULE_NOT_FOUND');
  assert.is(code, 1);
  assert.match(stderr, /\(@resvg\/resvg-js\).*npm install @resvg\/resvg-js.*\[ERR_UNSUPPORTED\]\n$/);
  assert.not.ok(readdirSync(folder).some((name) => name.startsWith('refused')));
});

test('A module that cannot be loaded because of a temporary shortage is reported with the reason.', async () => {
  // The command's own code is one file of the bundle.
  for (const module of [/^@resvg.resvg-js$/, /\/plot(\.ts|-\w+\.js)$/]) {
    const { code, stderr } = await plotWithout(module, 'EMFILE');
    assert.is(code, 1, `${module}`);
    assert.match(stderr, /cannot be loaded \(EMFILE: not this one\).*\n$/, `${module}`);
    assert.not.match(stderr, /npm install|\n {4}at /, `${module}`);
  }
});

test('plot shows a singular model, whose ellipses are lines.', async () => {
  // Rounded to float32, the second variable is twice the first; in float64 the difference would count.
  const line = modelFile('line.json', {
    mean: [0, 0],
    covariance: [
      [0.333333, 0.666667],
      [0.666667, 1.333333],
    ],
  });
  const path = file('line.csv', 'x1,x2\n1,2\n-0.5,-1\n0.25,0.5\n');
  const picture = await succeeds('plot', '--model', line, '--draws', path, '--output', '-');
  assert.match(picture, 'Correlations: x1 and x2: model 1.00');
  assert.not.match(picture, /NaN/);
});

test("plot takes the model's columns from a CSV file that has others, too.", async () => {
  const bare = file('bare.csv', 'a,"b ""c"", d",e\n1,2,3\n2,1,4\n0,-1,5\n');
  const frame = file('frame.csv', 'e,name,"b ""c"", d",a\n3,x,2,1\n4,y,1,2\n5,z,-1,0\n');
  const [alone, among] = await Promise.all(
    [bare, frame].map((path) => succeeds('plot', '--model', model, '--draws', path, '--output', '-')),
  );
  assert.is(among!.replaceAll('frame.csv', 'bare.csv'), alone);
});

const plotting = (...rest: string[]) => [
  'plot',
  '--model',
  model,
  '--draws',
  draws,
  '--output',
  at('refused.svg'),
  ...rest,
];
const wide = {
  mean: Array(9).fill(0),
  covariance: Array.from({ length: 9 }, (_, i) => Array.from({ length: 9 }, (_, j) => Number(i === j))),
};

// If an option is given twice, the last one counts.
const refusals: [sentence: string, shown: RegExp, command: () => string[]][] = [
  ['a missing model', /none\.json.*\[ERR_FILE_NOT_FOUND\]$/, () => plotting('--model', at('none.json'))],
  ['missing draws', /none\.npy.*\[ERR_FILE_NOT_FOUND\]$/, () => plotting('--draws', at('none.npy'))],
  ['missing data', /none\.csv.*\[ERR_FILE_NOT_FOUND\]$/, () => plotting('--data', at('none.csv'))],
  ['empty draws', /is empty\. \[ERR_MALFORMED_CSV\]$/, () => plotting('--draws', file('empty.csv', ''))],
  [
    'draws without rows',
    /no rows\. \[ERR_SHAPE\]$/,
    () => plotting('--draws', file('empty.csv', 'a,"b ""c"", d",e\n')),
  ],
  ['empty NPY draws', /is empty\. \[ERR_MALFORMED_NPY\]$/, () => plotting('--draws', file('empty.npy', ''))],
  [
    'NPY draws without rows',
    /no rows\. \[ERR_SHAPE\]$/,
    () => {
      writeFileSync(at('none.rows.npy'), npyHeader('float32', 0, 3));
      return plotting('--draws', at('none.rows.npy'));
    },
  ],
  [
    'draws of too few columns',
    /\(2\) columns.*\(3\).*\[ERR_SHAPE\]$/,
    () => plotting('--draws', file('two.csv', '1,2\n')),
  ],
  [
    'data of other columns',
    /\(2\).*\(f\).*\(b "c", d\).*\[ERR_INVALID_ARGUMENT\]$/,
    () => plotting('--data', file('other.csv', 'a,f,e\n1,2,3\n')),
  ],
  [
    'a number that is not one',
    /\(nan\).*: line 2, character 3.*\[ERR_MALFORMED_CSV\]$/,
    () => plotting('--draws', file('nan.csv', '1,2,3\n1,nan,2\n')),
  ],
  [
    'a number that is not finite',
    /Row \(0\), column \(1\).*\(NaN\).*\[ERR_NOT_FINITE\]$/,
    () => {
      writeFileSync(
        at('nan.npy'),
        Buffer.concat([npyHeader('float32', 1, 3), npyBytes(Float32Array.of(1, Number.NaN, 3))]),
      );
      return plotting('--draws', at('nan.npy'));
    },
  ],
  [
    'a folder of draws',
    /it is a folder.*\[ERR_FILE_UNREADABLE\]$/,
    () => {
      mkdirSync(at('folder.npy'));
      return plotting('--draws', at('folder.npy'));
    },
  ],
  ['draws of another kind', /draws\.txt.*\[ERR_INVALID_ARGUMENT\]$/, () => plotting('--draws', at('draws.txt'))],
  ['an output of another kind', /p\.jpg.*\[ERR_INVALID_ARGUMENT\]$/, () => plotting('--output', at('p.jpg'))],
  ['an output in no folder', /its folder.*\[ERR_FILE_UNWRITABLE\]$/, () => plotting('--output', at('nowhere/p.svg'))],
  ['an unknown column', /\(z\).*\(a, b "c", d, e\).*\[ERR_INVALID_ARGUMENT\]$/, () => plotting('--columns', 'a,z')],
  ['a column twice', /\(a,e,a\).*\[ERR_INVALID_ARGUMENT\]$/, () => plotting('--columns', 'a,e,a')],
  ['no column', /--columns.*\[ERR_INVALID_ARGUMENT\]$/, () => plotting('--columns', '')],
  ['a quote that does not end', /--columns is malformed.*\[ERR_INVALID_ARGUMENT\]$/, () => plotting('--columns', '"a')],
  [
    'nine columns',
    /\(9\).*\(8\) with --columns.*\[ERR_INVALID_ARGUMENT\]$/,
    () => plotting('--model', modelFile('wide.json', wide)),
  ],
  [
    'a column without variance',
    /Column \(x2\) has a variance of \(0\).*--columns.*\[ERR_OUT_OF_RANGE\]$/,
    () =>
      plotting(
        '--model',
        modelFile('constant.json', {
          mean: [0.1, 0.1, 0],
          covariance: [
            [1, 0, 0],
            [0, 0, 0],
            [0, 0, 1],
          ],
        }),
      ),
  ],
  [
    'a covariance that is not positive definite',
    /\(1\).*\[ERR_NOT_POSITIVE_DEFINITE\]$/,
    () =>
      plotting(
        '--model',
        modelFile('bad.json', {
          covariance: [
            [1, 2, 0],
            [2, 1, 0],
            [0, 0, 1],
          ],
        }),
      ),
  ],
  [
    'a covariance that is not symmetric',
    /\[ERR_NOT_SYMMETRIC\]$/,
    () =>
      plotting(
        '--model',
        modelFile('bad.json', {
          covariance: [
            [1, 0, 0],
            [0.5, 1, 0],
            [0, 0, 1],
          ],
        }),
      ),
  ],
  [
    "numbers that can't be drawn",
    /\(x1\).*\[ERR_OUT_OF_RANGE\]$/,
    () => plotting('--model', modelFile('far.json', { mean: [1e30, 0, 0] }), '--draws', file('far.csv', '1e30,0,0\n')),
  ],
  ['a missing option', /required option '--draws <file>'/, () => ['plot', '--model', model, '--output', '-']],
];

for (const [sentence, shown, command] of refusals)
  test(`plot refuses ${sentence} with one line, exit code 1, and no file.`, async () => {
    const { code, stdout, stderr } = await run(command());
    assert.equal([code, stdout], [1, '']);
    assert.match(stderr.split('\n')[0]!, shown);
    assert.is(stderr.trimEnd().split('\n').length, 1, stderr);
    assert.not.ok(readdirSync(folder).some((name) => name.includes('partial') || name.startsWith('refused')));
  });

function modelFile(name: string, fields: object): string {
  return file(name, JSON.stringify({ covarium: 1, dtype: 'float32', ...distribution, ...fields }));
}

function file(name: string, text: string): string {
  writeFileSync(at(name), text);
  return at(name);
}

test.run();
