// `covarium sample`, `fit` and `plot` with every format, as users run them.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readTable } from '../../lib/index.ts';
import { tableFormats } from '../../lib/table/format.ts';
import { npyBytes, npyHeader } from '../../lib/table/npy.ts';
import { outcomeOf, run, start, succeeds } from '../harness/command-line.ts';
import { noCpu } from '../harness/cpu-backend.ts';

// The model is float64, which the best device may not support.
Object.assign(process.env, { COVARIUM_DEVICE: noCpu === '' ? 'cpu' : 'reference' });

const folder = mkdtempSync(join(tmpdir(), 'covarium-table-cli-'));
const at = (name: string) => join(folder, name);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const data = join(dirname(createRequire(import.meta.url).resolve('vega-datasets')), '..', 'data');

const model = at('model.json');
const columns = ['a', 'b "c", d'];
const covariance = [
  [2, 0.5],
  [0.5, 1],
];
writeFileSync(model, JSON.stringify({ covarium: 1, dtype: 'float64', columns, mean: [1, -1], covariance }));

/** The standard output, as bytes, of a command with these bytes as standard input. */
async function piped(command: string[], input: Uint8Array = Buffer.alloc(0)): Promise<Buffer> {
  const child = start(command);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stdin.end(input);
  const { code, stderr } = await outcomeOf(child);
  assert.equal([code, stderr], [0, '']);
  return Buffer.concat(chunks);
}

for (const format of tableFormats)
  test(`sample writes ${format} to a file and the same to standard output; fit reads it from both.`, async () => {
    const path = at(`draws.${format}`);
    const drawing = ['sample', '--model', model, '--count', '500', '--seed', '3', '--output'];
    await succeeds(...drawing, path);
    assert.equal(await piped([...drawing, '-', '--format', format]), readFileSync(path));
    const read = await readTable(path);
    assert.equal(read.names, format === 'npy' ? undefined : columns);
    assert.equal([read.rows.rows, read.rows.dtype], [500, 'float64']);
    const chosen = format === 'npy' ? [] : ['--columns', '"b ""c"", d",a'];
    await succeeds('fit', path, ...chosen, '--output', at('fitted.json'));
    const fitted = JSON.parse(readFileSync(at('fitted.json'), 'utf8'));
    assert.equal(fitted.columns, format === 'npy' ? undefined : ['b "c", d', 'a']);
    const second = Array.from({ length: 500 }, (_, row) => read.rows.data[2 * row + 1]!);
    const mean = second.reduce((sum, value) => sum + value, 0) / 500;
    assert.ok(Math.abs(fitted.mean[format === 'npy' ? 1 : 0] - mean) < 1e-12);
    await piped(['fit', '-', '--format', format, ...chosen, '--output', at('again.json')], readFileSync(path));
    assert.equal(readFileSync(at('again.json')), readFileSync(at('fitted.json')));
  });

test('A model, and a part of a fit, may go through a pipe: sample, verify and merge read what fit and merge write.', async () => {
  const data = 'x,y\n1,2\n3,2\n5,8\n4,4\n';
  const piece = await piped(['fit', '-', '--output', '-'], Buffer.from(data));
  await piped(['fit', '-', '--output', at('file.json')], Buffer.from(data));
  assert.equal(piece, readFileSync(at('file.json')));
  const drawing = ['--count', '9', '--seed', '1', '--output'];
  await succeeds('sample', '--model', at('file.json'), ...drawing, at('nine.csv'));
  assert.equal(await piped(['sample', '--model', '-', ...drawing, '-'], piece), readFileSync(at('nine.csv')));
  assert.match(String(await piped(['verify', at('nine.csv'), '--model', '-'], piece)), /9 rows/);
  const part = await piped(['fit', '-', '--partial', '-'], Buffer.from(data));
  writeFileSync(at('part.json'), part);
  assert.equal(await piped(['merge', at('part.json'), '--output', '-']), piece);
  assert.equal(await piped(['merge', '-', '--output', '-'], part), piece);
  const mistaken = await run(['sample', '--model', at('part.json'), ...drawing, '-']);
  assert.match(mistaken.stderr, /part of a fit, of which `covarium merge` makes a model\. \[ERR_MALFORMED_MODEL\]\n$/);
  const child = start(['sample', '--model', '-', ...drawing, '-']);
  child.stdin.end('{');
  const { code, stderr } = await outcomeOf(child);
  assert.is(code, 1);
  assert.match(stderr, /^error: Model \(standard input\) is malformed: .*\[ERR_MALFORMED_MODEL\]\n$/);
  assert.not(existsSync('-'));
});

test("fit takes chosen columns of other tools' files, and drops rows with missing values if told to.", async () => {
  await succeeds(
    'fit',
    join(data, 'flights-200k.arrow'),
    '--columns',
    'distance,delay',
    '--output',
    at('flights.json'),
  );
  const flights = JSON.parse(readFileSync(join(data, 'flights-200k.json'), 'utf8')) as { readonly delay: number }[];
  const mean = flights.reduce((sum, flight) => sum + flight.delay, 0) / flights.length;
  const fitted = JSON.parse(readFileSync(at('flights.json'), 'utf8'));
  assert.equal(fitted.columns, ['distance', 'delay']);
  assert.ok(Math.abs(fitted.mean[1] - mean) < 1e-9, `${fitted.mean[1]} ${mean}`);

  const holes = at('holes.csv');
  writeFileSync(holes, 'a,b,c\n1,x,2\n3,y,\n5,z,7\n,v,1\n6,w,0\n');
  const refused = await run(['fit', holes, '--columns', 'a,c', '--output', at('refused.json')]);
  assert.match(refused.stderr, /line 3, character 5 of .*\[ERR_MALFORMED_CSV\]\n$/);
  const dropped = await run(['fit', holes, '--columns', 'a,c', '--missing', 'drop', '--output', at('holes.json')]);
  assert.equal([dropped.code, dropped.stdout], [0, '']);
  assert.match(dropped.stderr, /^Left out \(2\) rows with missing values; \(3\) observations remain\.\n$/);
  assert.equal(JSON.parse(readFileSync(at('holes.json'), 'utf8')).mean, [4, 3]);
});

test('A column of text, an unknown format and a truncated file are refused with one line.', async () => {
  await succeeds('sample', '--model', model, '--count', '9', '--output', at('cut.parquet'));
  writeFileSync(at('cut.parquet'), readFileSync(at('cut.parquet')).subarray(0, 200));
  const refusals: [RegExp, string[]][] = [
    [
      /Column \(origin\) .*\[ERR_INVALID_ARGUMENT\]\n$/,
      ['fit', join(data, 'flights-3m.parquet'), '--columns', 'origin'],
    ],
    [/--format is \('xls'\)\. .*\[ERR_INVALID_ARGUMENT\]\n$/, ['fit', at('cut.parquet'), '--format', 'xls']],
    [/cut short.*\[ERR_MALFORMED_PARQUET\]\n$/, ['fit', at('cut.parquet')]],
    [/\('keep'\).*\[ERR_INVALID_ARGUMENT\]\n$/, ['fit', at('cut.parquet'), '--missing', 'keep']],
  ];
  for (const [shown, command] of refusals) {
    const { code, stdout, stderr } = await run([...command, '--output', at('refused.json')]);
    assert.equal([code, stdout], [1, '']);
    assert.match(stderr, shown);
  }
  assert.not.ok(readdirSync(folder).some((name) => name.startsWith('refused') || name.includes('partial')));
});

test('CSV is read as options say: names that are numbers, other delimiters, comments; each doubtful case gives a line.', async () => {
  const fitted = async (text: string, ...options: string[]) => {
    writeFileSync(at('dialect.csv'), text);
    const { code, stderr } = await run(['fit', at('dialect.csv'), ...options, '--output', at('dialect.json')]);
    assert.is(code, 0, stderr);
    const { columns: found, mean } = JSON.parse(readFileSync(at('dialect.json'), 'utf8'));
    return { columns: found, mean, stderr };
  };
  const told = await fitted('2020,2021\n1,2\n3,5\n5,3\n', '--header');
  assert.equal(told, { columns: ['2020', '2021'], mean: [3, 10 / 3], stderr: '' });
  const asNumbers = await fitted('2020,2021\n1,2\n3,5\n5,3\n');
  assert.is(asNumbers.columns, undefined);
  assert.match(asNumbers.stderr, /^warning: First row .* pass --header if it holds names of columns\.\n$/);
  assert.is((await fitted('2020,2021\n1.5,2.5\n3.5,5.5\n5.5,3.5\n', '--no-header')).columns, undefined);
  const semicolons = await fitted('# of 2020\na;b\n1;2\n3;5\n5;3\n', '--delimiter', ';', '--comment', '#');
  assert.equal(semicolons, { columns: ['a', 'b'], mean: [3, 10 / 3], stderr: '' });
  assert.match((await fitted('a\tb\n1\t2\n3\t5\n5\t3\n')).stderr, /^warning: .* tabs between its fields.*--delimiter/);
  assert.is((await fitted('a\tb\n1\t2\n3\t5\n5\t3\n', '--delimiter', 'tab')).stderr, '');
  writeFileSync(at('only.csv'), 'a,b\n');
  const { stderr } = await run(['fit', at('only.csv'), '--output', at('only.json')]);
  assert.match(
    stderr,
    /^error: File \(.*only\.csv\) has a header \(a, b\) and no rows: there is nothing to fit\. \[ERR_SHAPE\]\n$/,
  );
  writeFileSync(at('gone.csv'), 'a,b\n1,\n,2\n');
  const gone = await run(['fit', at('gone.csv'), '--missing', 'drop', '--output', at('only.json')]);
  assert.match(gone.stderr, /has \(2\) rows, and a missing value in each\. \[ERR_SHAPE\]\n$/);
});

test('plot shows draws and data of any format, whose columns it finds by their names.', async () => {
  const picture = async (draws: string) => {
    const text = await succeeds('plot', '--model', model, '--draws', draws, '--output', '-');
    return text.replaceAll(draws.slice(folder.length + 1), 'draws');
  };
  await succeeds('sample', '--model', model, '--count', '2000', '--seed', '5', '--output', at('p.npy'));
  const expected = await picture(at('p.npy'));
  assert.match(expected, '1,500 of 2,000 draws');
  await succeeds('sample', '--model', model, '--count', '2000', '--seed', '5', '--output', at('p.parquet'));
  assert.is(await picture(at('p.parquet')), expected);
  await succeeds('sample', '--model', model, '--count', '2000', '--seed', '5', '--output', at('p.arrow'));
  assert.match(await picture(at('p.arrow')), /^<svg /);
});

test('plot --missing drop leaves out the same rows as fit, and the picture and the terminal say so.', async () => {
  const rows = Array.from({ length: 600 }, (_, i) => [Math.sin(i) * 1000, i % 10 === 4 ? Number.NaN : i / 8]);
  const named = modelOf('holes.json', {
    columns: ['d', 'n'],
    mean: [0, 37],
    covariance: [
      [5e5, 0],
      [0, 450],
    ],
  });
  const nameless = modelOf('bare-holes.json', {
    mean: [0, 37],
    covariance: [
      [5e5, 0],
      [0, 450],
    ],
  });
  writeFileSync(
    at('holes.npy'),
    Buffer.concat([npyHeader('float64', 600, 2), npyBytes(Float64Array.from(rows.flat()))]),
  );
  const lines = rows.map(([d, n]) => `x,${d},${Number.isNaN(n) ? '' : n}`);
  const foreign = fileURLToPath(new URL('../table/foreign/', import.meta.url));
  for (const [path, holed] of [
    [file('holes.csv', `text,d,n\n${lines.join('\n')}\n`), named],
    [file('bare-holes.csv', rows.join('\n').replaceAll('NaN', '')), nameless],
    [at('holes.npy'), named],
    [`${foreign}pandas.parquet`, named],
    [`${foreign}pandas.arrow`, named],
  ] as const) {
    const command = ['plot', '--model', holed, '--draws', file('two.csv', '1,2\n3,4\n'), '--data', path];
    const refused = await run([...command, '--output', at('refused.svg')]);
    assert.equal(
      [refused.code, /missing|is not finite \(NaN\)|is empty/.test(refused.stderr)],
      [1, true],
      refused.stderr,
    );
    const { code, stdout, stderr } = await run([...command, '--missing', 'drop', '--output', '-']);
    assert.is(code, 0, stderr);
    assert.is(stderr, 'Left out (60) rows with missing values; (540) observations remain.\n');
    assert.match(stdout, '\u25a0 540 rows of data (60 with missing values left out)<');
    assert.match(
      stdout,
      /Histograms and scatter panels of 2 draws and 540 rows of data \(60 with missing values left out\)/,
    );
    // A column that is not shown counts, too.
    const first = [...command, '--missing', 'drop', '--output', '-', '--columns', holed === named ? 'd' : 'x1'];
    assert.match(await outcomeOfRun(first), '540 rows of data (60');
  }
  const alone = ['plot', '--model', named, '--draws', at('holes.csv'), '--missing', 'drop', '--output', '-'];
  assert.match(await outcomeOfRun(alone), '540 draws (60 with missing values left out)');
  const none = await run([...alone.with(4, file('gone.csv', 'd,n\n1,\n,2\n'))]);
  assert.match(none.stderr, /has \(2\) rows, and a missing value in each\. \[ERR_SHAPE\]\n$/);
  const other = await run(alone.with(6, 'keep'));
  assert.match(other.stderr, /--missing is \('keep'\).*\[ERR_INVALID_ARGUMENT\]\n$/);
});

test('The help of what reads or writes tables has the ending of each format.', async () => {
  for (const name of ['fit', 'sample', 'plot']) {
    const { stdout } = await run(['help', name]);
    for (const format of tableFormats) assert.match(stdout, new RegExp(`\\.${format}\\b`), name);
  }
});

async function outcomeOfRun(command: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run([...command]);
  assert.is(code, 0, stderr);
  return stdout;
}

function file(name: string, text: string): string {
  writeFileSync(at(name), text);
  return at(name);
}

function modelOf(name: string, fields: object): string {
  return file(name, JSON.stringify({ covarium: 1, dtype: 'float64', ...fields }));
}

test.run();
