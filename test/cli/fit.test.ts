// `covarium fit` and `covarium merge`, run as users run them: weights, missing values, shrinkage, and distributed
// fits.
import { copyFileSync, existsSync, linkSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fit } from '../../lib/cli/fit.ts';
import { merge } from '../../lib/cli/merge.ts';
import { CovariumError, type EstimateOptions, Moments } from '../../lib/index.ts';
import { run, succeeds } from '../harness/command-line.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-fit-'));
const at = (name: string) => join(folder, name);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  writeFileSync(at(name), text);
  return at(name);
}

const text = (name: string) => readFileSync(at(name), 'utf8');
const model = (name: string) => JSON.parse(text(name)) as { columns: string[]; mean: number[]; covariance: number[][] };

/** Rows of a, b and a weight that depend only on the row's number. */
function rowsFrom(first: number, count: number): number[][] {
  return Array.from({ length: count }, (_, at) => {
    const row = first + at;
    const a = 1e6 + ((row * 37) % 101) / 8;
    return [a, a / 2 + ((row * 53) % 89), (row % 5) / 4];
  });
}

const csv = (rows: readonly (readonly number[])[]) => `a,b,w\n${rows.map((row) => `${row.join(',')}\n`).join('')}`;
const columns = (rows: readonly (readonly number[])[]) => rows.map(([a, b]) => [a!, b!]);

function expectedModel(rows: readonly (readonly number[])[], options: EstimateOptions = {}, weights?: number[]) {
  const moments = new Moments(2);
  moments.addSync(columns(rows), { weights });
  return { mean: moments.mean.toArray(), covariance: moments.covariance(options).toArray() };
}

// Ulps of the largest number of each list: merged sums differ only in the order of addition.
function nearUlps(actual: readonly number[], expected: readonly number[], most: number, what = ''): void {
  const scale = Math.max(...expected.map(Math.abs)) * Number.EPSILON;
  const ulps = Math.max(...expected.map((value, i) => Math.abs(actual[i]! - value) / scale));
  assert.ok(ulps <= most, `${what} (${ulps} ulps)`);
}

test('fit takes weights, frequencies, shrinkage and a fixed mean, over several files.', async () => {
  const some = rowsFrom(0, 40);
  const others = rowsFrom(40, 25);
  const all = [...some, ...others];
  const paths = [file('some.csv', csv(some)), file('others.csv', csv(others))];
  const weights = all.map(([, , w]) => w!);
  await succeeds('fit', ...paths, '--weights', 'w', '--output', at('weighted.json'));
  const weighted = model('weighted.json');
  const expected = expectedModel(all, {}, weights);
  assert.equal(weighted.columns, ['a', 'b']);
  nearUlps(weighted.mean, expected.mean, 1);
  nearUlps(weighted.covariance.flat(), expected.covariance.flat(), 8);
  const mean = file('mean.csv', 'b,a\n1000000,500000\n');
  const common = ['--shrinkage', 'ledoit-wolf', '--fixed-mean', mean, '--columns', 'b,a', '--dtype', 'float64'];
  await succeeds('fit', ...paths, ...common, '--output', at('shrunk.json'));
  const moments = new Moments(2);
  moments.addSync(columns(all).map(([a, b]) => [b!, a!]));
  const shrunk = moments.covariance({ mean: [1e6, 5e5], shrinkage: 'ledoit-wolf' }).toArray();
  assert.equal(
    [model('shrunk.json').columns, model('shrunk.json').mean],
    [
      ['b', 'a'],
      [1e6, 5e5],
    ],
  );
  nearUlps(model('shrunk.json').covariance.flat(), shrunk.flat(), 32);
  // As pandas writes a mean whose rows have numbers as names.
  for (const labelled of [',0\n0,1000000\n1,500000\n', ',b,a\n0,1000000,500000\n']) {
    const labels = ['--fixed-mean', file('l.csv', labelled), '--output', at('l.json')];
    const { stderr } = await run(['fit', ...paths, ...common, ...labels]);
    // --no-header is an option for the data.
    assert.not.match(stderr, '--no-header');
    assert.equal(model('l.json'), model('shrunk.json'));
  }
  const counted = file('counted.csv', 'x,n\n1,2\n5,0\n4,3\n');
  await succeeds('fit', counted, '--frequencies', 'n', '--ddof', '0', '--output', at('counted.json'));
  assert.equal([model('counted.json').columns, model('counted.json').mean], [['x'], [2.8]]);
  nearUlps(model('counted.json').covariance[0]!, [2.16], 1);
});

test('fit drops rows with missing values if the options say so, and prints how many.', async () => {
  const path = file('missing.csv', 'a,b\n1,2\n,3\n4,NA\n5,6\n7,1\n');
  const refused = await run(['fit', path, '--output', at('x.json')]);
  assert.is(refused.code, 1);
  const { code, stderr } = await run(['fit', path, '--missing', 'drop', '--output', at('dropped.json')]);
  assert.equal([code, stderr], [0, 'Left out (2) rows with missing values; (3) observations remain.\n']);
  assert.equal(model('dropped.json').mean, [13 / 3, 3]);
});

test('fit says that one row is not enough.', async () => {
  writeFileSync(at('one.csv'), 'a,b\n1,2\n');
  const { code, stderr } = await run(['fit', at('one.csv'), '--output', at('one.json')]);
  assert.is(code, 1);
  assert.match(stderr, /^error: .*one row is not enough for a covariance; pass two or more\. \[ERR_SHAPE\]\n$/);
});

test('fit names the column that makes a covariance singular, and says what to do.', async () => {
  const refused = async (name: string, body: string, ...options: string[]) => {
    const path = file(name, body);
    const { code, stderr } = await run(['fit', path, ...options, '--output', at('singular.json')]);
    assert.is(code, 1);
    assert.match(
      stderr,
      /^error: Column .* --columns, or pass --shrinkage ledoit-wolf, --jitter or --singular\. \[ERR_NOT_POSITIVE_DEFINITE\]/,
    );
    assert.not(existsSync(at('singular.json')));
    return stderr;
  };
  const constant = 'a,b,c\n1,0.1,2\n2,0.1,4\n3,0.1,6\n4,0.1,9\n';
  assert.match(
    await refused('constant.csv', constant),
    /Column \(b\) of \(.*constant\.csv\) is the same in all rows \(0\.1\)/,
  );
  const sum = 'a,b,c\n1,5,6\n2,4,6\n3,1,4\n4,0,4\n7,1,8\n';
  assert.match(await refused('sum.csv', sum), /Column \(c\) of .* is a combination of the columns before it/);
  // Rounding gives this one a pivot above 0.
  const byLuck = 'a,b,c\n0.1,0.4,0.5\n0.6,0.7,1.3\n0.1,0.3,0.4\n0.1,0.5,0.6\n0.1,0.1,0.2\n0.1,0.7,0.8\n';
  assert.match(await refused('luck.csv', byLuck), /Column \(c\) of .* is a combination of the columns before it/);
  const twice = 'a,b\n1,2\n2,4\n3,6\n';
  assert.match(await refused('twice.csv', twice), /Column \(b\) of .* is a combination of the column before it/);
  const far = 'a,t\n1,1700000000000001\n5,1700000000000005\n2,1700000000000002\n3,1700000000000003\n';
  assert.match(
    await refused('far.csv', far, '--dtype', 'float64'),
    /Column \(t\) of .* is a combination of the column before it/,
  );
  assert.match(
    await refused('small.csv', 'a,b\n1,1e-200\n2,-1e-200\n5,3e-200\n'),
    /Column \(b\) of .* \(1e-200\), or varies too little for float64,/,
  );
  assert.match(await refused('bare.csv', '1,5,3\n2,5,9\n4,5,1\n7,5,7\n'), /Column \(1\) of/);
  for (const way of [
    ['--columns', 'a,c'],
    ['--shrinkage', 'ledoit-wolf'],
  ])
    await succeeds('fit', at('constant.csv'), ...way, '--output', at('mended.json'));
  await succeeds('fit', at('constant.csv'), '--partial', at('constant.part'));
  const { stderr } = await run(['merge', at('constant.part'), '--output', at('singular.json')]);
  assert.match(stderr, /^error: Column \(b\) is the same in all rows \(0\.1\), or .*, so the covariance is singular/);
});

test('Shards of files or of rows, merged in any order, make the model of one run, and the same bytes.', async () => {
  // More rows than one block of 4096 rows.
  const all = rowsFrom(0, 30_000);
  const whole = file('whole.csv', csv(all));
  const thirds = [0, 1, 2].map((k) => file(`third${k}.csv`, csv(all.slice(k * 10_000, (k + 1) * 10_000))));
  await succeeds('fit', whole, '--columns', 'a,b', '--output', at('one.json'));
  const one = model('one.json');
  for (const [name, paths] of [
    ['rows', [whole]],
    ['files', thirds],
  ] as const) {
    const parts = ['1/3', '2/3', '3/3'].map((shard, k) => [shard, at(`${name}${k}.json`)] as const);
    for (const [shard, part] of parts)
      await succeeds('fit', ...paths, '--columns', 'a,b', '--partial', part, '--shard', shard);
    const [first, second, third] = parts.map(([, part]) => part) as [string, string, string];
    await succeeds('merge', first, second, third, '--output', at('merged.json'));
    const merged = model('merged.json');
    nearUlps(merged.mean, one.mean, 1, name);
    nearUlps(merged.covariance.flat(), one.covariance.flat(), 32, name);
    const bytes = text('merged.json');
    await succeeds('merge', third, first, second, '--output', at('merged.json'));
    assert.is(text('merged.json'), bytes, 'the order of the arguments does not matter');
    assert.match(
      (await run(['merge', first, third, '--output', at('x.json')])).stderr,
      /first \(2\).*\[ERR_INVALID_ARGUMENT\]\n$/,
    );
    assert.match(
      (await run(['merge', first, second, first, '--partial', at('x.json')])).stderr,
      /given twice.*count twice/,
    );
    copyFileSync(first, at('copy.json'));
    assert.match(
      (await run(['merge', first, second, at('copy.json'), '--partial', at('x.json')])).stderr,
      /Shard \(1\) .*count twice/,
    );
    await succeeds('merge', first, third, '--partial', at('two.json'));
    const { of } = JSON.parse(text('two.json')).shards;
    assert.equal(JSON.parse(text('two.json')).shards, { count: 3, here: [1, 3], of });
    await succeeds('merge', at('two.json'), second, '--partial', at('three.json'));
    assert.is(JSON.parse(text('three.json')).shards, undefined);
    await succeeds('merge', at('three.json'), '--shrinkage', '+.5', '--output', at('merged.json'));
    const half = expectedModel(all, { shrinkage: 0.5 });
    nearUlps(model('merged.json').covariance.flat(), half.covariance.flat(), 32, name);
  }
});

test('Rows that would count twice are found: a file given twice is refused, and equal sums give a warning.', async () => {
  const path = file('once.csv', csv(rowsFrom(0, 5)));
  linkSync(path, at('again.csv'));
  for (const twice of [
    [path, path],
    [path, at('again.csv')],
  ]) {
    const { code, stderr } = await run(['fit', ...twice, '--output', at('x.json')]);
    assert.is(code, 1);
    assert.match(stderr, /given twice.*\[ERR_INVALID_ARGUMENT\]\n$/);
  }
  const part = at('once.json');
  await succeeds('fit', path, '--partial', part);
  assert.match((await run(['merge', part, part, '--output', at('x.json')])).stderr, /given twice/);
  copyFileSync(part, at('again.json'));
  const { code, stderr } = await run(['merge', part, at('again.json'), '--partial', at('both.json')]);
  assert.is(code, 0);
  assert.match(stderr, /warning: .*again\.json.* same sums/);
  assert.is(JSON.parse(text('both.json')).moments.count, 10);
});

test('A shard without i/n is the one that the job scheduler sets.', async () => {
  const path = file('five.csv', csv(rowsFrom(0, 5)));
  const none = await run(['fit', path, '--partial', at('x.json'), '--shard']);
  assert.match(none.stderr, /has no i\/n.*\[ERR_INVALID_ARGUMENT\]\n$/);
  const env: NodeJS.ProcessEnv & { [name in `SLURM_ARRAY_TASK_${'ID' | 'COUNT' | 'MIN'}`]?: string } = process.env;
  env.SLURM_ARRAY_TASK_ID = '2';
  env.SLURM_ARRAY_TASK_COUNT = '4';
  env.SLURM_ARRAY_TASK_MIN = '1';
  try {
    await succeeds('fit', path, '--partial', at('job.json'), '--shard');
    await succeeds('fit', path, '--partial', at('no-job.json'));
  } finally {
    for (const name of ['ID', 'COUNT', 'MIN']) delete process.env[`SLURM_ARRAY_TASK_${name}`];
  }
  const { shards, moments } = JSON.parse(text('job.json'));
  assert.equal(
    [shards, moments.count],
    [{ count: 4, here: [2], of: shards.of }, 0],
    'the one block of rows is the first shard',
  );
  assert.equal([JSON.parse(text('no-job.json')).shards, JSON.parse(text('no-job.json')).moments.count], [undefined, 5]);
});

const ofSome = 'a'.repeat(64);
const good = () => {
  const moments = new Moments(1);
  moments.addSync(Float64Array.of(1, 2, 4));
  return { covariumPartial: 1, columns: ['a'], dropped: 0, moments: moments.toJSON() };
};
const part = (name: string, changes: object) => file(name, JSON.stringify({ ...good(), ...changes }));
const data = () => file('data.csv', 'a,b\n1,2\n3,2\n5,8\n');

const refusals: [sentence: string, shown: RegExp, command: () => string[]][] = [
  ['neither output nor part', /either a model .*ERR_INVALID/, () => ['fit', data()]],
  ['both', /either a model .*ERR_INVALID/, () => ['fit', data(), '--output', at('x.json'), '--partial', at('x.json')]],
  [
    'a shard of a model',
    /pass --partial.*ERR_INVALID/,
    () => ['fit', data(), '--output', at('x.json'), '--shard', '1/2'],
  ],
  [
    'a shard beyond the last',
    /\(3\/2\).*ERR_OUT_OF_RANGE/,
    () => ['fit', data(), '--partial', at('x.json'), '--shard', '3/2'],
  ],
  [
    'shrinkage of a part',
    /\(shrinkage\) is for the model/,
    () => ['fit', data(), '--partial', at('x.json'), '--shrinkage', '1'],
  ],
  [
    'an unknown shrinkage',
    /\(oas\), neither.*ERR_OUT_OF_RANGE/,
    () => ['fit', data(), '--output', at('x.json'), '--shrinkage', 'oas'],
  ],
  [
    'weights that are not there',
    /no column \(w\), only \(a, b\)/,
    () => ['fit', data(), '--output', at('x.json'), '--weights', 'w'],
  ],
  [
    'weights of two columns',
    /--weights: file \(.*\) has more than one column \(w\)\. \[ERR_INVALID/,
    () => ['fit', file('twice.csv', 'a,w,w\n1,2,3\n3,2,3\n'), '--output', at('x.json'), '--weights', 'w'],
  ],
  [
    'a negative weight',
    /`weights\[2\]` is \(-1\).*counted from row \(0\) of file \(.*negative\.csv\)\. \[ERR_OUT_OF_RANGE\]/,
    () => ['fit', file('negative.csv', 'a,w\n1,2\n3,2\n5,-1\n'), '--output', at('x.json'), '--weights', 'w'],
  ],
  [
    'numbers too large for their sums, of no one row',
    /`rows` has column \(0\), whose sum of squares .* in another unit\. Rows are counted from row \(0\) of file \(.*large\.csv\)\./,
    () => ['fit', file('large.csv', 'a\n1e300\n-1e300\n2e299\n'), '--output', at('x.json')],
  ],
  [
    'weights that are all 0',
    /File \(.*zero\.csv\) has only rows of weight \(0\): there is nothing to fit\. \[ERR_SHAPE\]/,
    () => ['fit', file('zero.csv', 'a,w\n1,0\n3,0\n'), '--output', at('x.json'), '--weights', 'w'],
  ],
  [
    'files without rows',
    /^All \(2\) files have a header \(a\) and no rows: .*ERR_SHAPE/,
    () => ['fit', file('none.csv', 'a\n'), file('neither.csv', 'a\n'), '--output', at('x.json')],
  ],
  [
    'weights alone',
    /\(0\) columns besides/,
    () => ['fit', data(), '--output', at('x.json'), '--weights', 'a', '--frequencies', 'b'],
  ],
  [
    'files of other columns',
    /\(a, c\), but.*\(a, b\).*ERR_SHAPE/,
    () => ['fit', data(), file('c.csv', 'a,c\n1,2\n'), '--output', at('x.json')],
  ],
  [
    'files whose columns differ by a comma',
    /\(a, "b, c"\), but .*\("a, b", c\).*ERR_SHAPE/,
    () => ['fit', file('left.csv', '"a, b",c\n1,2\n'), file('right.csv', 'a,"b, c"\n1,2\n'), '--output', at('x.json')],
  ],
  [
    'a mean of columns in another order',
    /Column \(0\) of mean \(.*m\.csv\) is \(b\), but column \(0\) of the rows is \(a\)\. \[ERR_INVALID_ARGUMENT\]/,
    () => ['fit', data(), '--output', at('x.json'), '--fixed-mean', file('m.csv', 'b,a\n1,2\n')],
  ],
  [
    'a series of means in another order than that of a part',
    /Row \(0\) of mean \(.*m\.csv\) is \(c\), but column \(0\) of the rows is \(a\)\. \[ERR_INVALID_ARGUMENT\]/,
    () => ['merge', part('p.json', {}), '--output', at('x.json'), '--fixed-mean', file('m.csv', ',0\nc,1\n')],
  ],
  [
    'a mean of another length',
    /ERR_SHAPE/,
    () => ['fit', data(), '--output', at('x.json'), '--fixed-mean', file('m.csv', '1\n')],
  ],
  [
    'too few rows',
    /\(2\) rows.*at least \(3\).*ERR_SHAPE/,
    () => ['fit', file('two.csv', '1,2\n2,1\n'), '--output', at('x.json')],
  ],
  [
    'a part that is not JSON',
    /is not JSON.*ERR_MALFORMED_MOMENTS/,
    () => ['merge', file('p.json', '{'), '--output', at('x.json')],
  ],
  ['a missing part', /ERR_FILE_NOT_FOUND/, () => ['merge', at('none.json'), '--output', at('x.json')]],
  [
    'a model in place of a part',
    /covariumPartial, is \(undefined\)/,
    () => ['merge', file('p.json', '{"covarium":1}'), '--output', at('x.json')],
  ],
  [
    'a part that was changed',
    /in its moments, fourth is not what/,
    () => ['merge', part('p.json', { moments: { ...good().moments, fourth: 0 } }), '--output', at('x.json')],
  ],
  [
    'dropped rows that are none',
    /dropped is not a nonnegative whole/,
    () => ['merge', part('p.json', { dropped: -1 }), '--output', at('x.json')],
  ],
  [
    'too many columns',
    /columns are not \(1\) names/,
    () => ['merge', part('p.json', { columns: ['a', 'b'] }), '--output', at('x.json')],
  ],
  [
    'no shards',
    /shards do not say/,
    () => ['merge', part('p.json', { shards: { count: 2, here: [3], of: ofSome } }), '--output', at('x.json')],
  ],
  [
    'shards of nothing',
    /shards do not say/,
    () => ['merge', part('p.json', { shards: { count: 2, here: [1], of: 'x' } }), '--output', at('x.json')],
  ],
  [
    'shards of other files',
    /other files, or of other columns/,
    () => {
      const two = ['some.csv', 'others.csv'].map((name, i) => {
        const shards = { count: 2, here: [i + 1], of: i === 0 ? ofSome : 'b'.repeat(64) };
        return part(`of-${name}.json`, { shards });
      });
      return ['merge', ...two, '--output', at('x.json')];
    },
  ],
  [
    'parts of other columns',
    /\(b\), but.*\(a\)|\(a\), but.*\(b\)/,
    () => ['merge', part('p.json', {}), part('q.json', { columns: ['b'] }), '--output', at('x.json')],
  ],
  [
    'parts of other shards',
    /of \(no\) shards, but .* of \(2\)/,
    () => [
      'merge',
      part('p.json', { shards: { count: 2, here: [1], of: ofSome } }),
      part('q.json', {}),
      '--output',
      at('x.json'),
    ],
  ],
];

for (const [sentence, shown, command] of refusals)
  test(`${sentence}: refused, and nothing is written.`, async () => {
    const [name, ...words] = command();
    const first = [...words, '--'].findIndex((word) => word.startsWith('--'));
    const options: { [name: string]: string } = {};
    for (let at = first; at < words.length; at += 2)
      options[words[at]!.slice(2).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())] = words[at + 1]!;
    const { signal } = new AbortController();
    const work = name === 'fit' ? fit : merge;
    const error = await work(words.slice(0, first), options, signal).catch((thrown: unknown) => thrown);
    assert.instance(error, CovariumError);
    const { message, code } = error as CovariumError;
    assert.match(`${message} [${code}]`, shown);
    assert.match(message, /^[A-Z`-].*\.$/);
    assert.not(existsSync(at('x.json')));
  });

test('A model of a singular covariance is written with --singular or --jitter, and drawn from.', async () => {
  const data = file('flat.csv', 'a,b,c\n1,2,3\n2,3,5\n4,5,9\n7,1,8\n');
  const sum = (name: string) => {
    const { covariance } = model(name);
    return covariance.map((row) => row[2]! - row[0]! - row[1]!);
  };
  await succeeds('fit', data, '--singular', '--output', at('singular.json'));
  for (const rest of sum('singular.json')) assert.ok(Math.abs(rest) < 1e-13);
  const draws = ['--count', '5', '--seed', '1', '--output', '-'];
  await succeeds('sample', '--model', at('singular.json'), '--singular', ...draws);
  // Rounding leaves a positive pivot of the second in float32.
  const rounded = file('rounded.csv', 'a,b,c\n1,2,3\n2,7,9\n4,5,9\n9,1,10\n');
  for (const [rows, ...share] of [[data], [data, '1e-4'], [rounded, '1e-4']]) {
    const { code, stderr } = await run(['fit', rows!, '--jitter', ...share, '--output', at('jittered.json')]);
    assert.is(code, 0, stderr);
    const added = Number(/^Added \((.+)\) to each variance\.\n$/.exec(stderr)?.[1]);
    assert.ok(added > 0, stderr);
    const rest = [...model('jittered.json').covariance.keys()].map((i) => sum('jittered.json')[i]! / added);
    for (const [i, of] of [-1, -1, 1].entries()) assert.ok(Math.abs(rest[i]! - of) < 1e-6, `${rest}`);
    await succeeds('sample', '--model', at('jittered.json'), ...draws);
  }
  const refused = async (...options: string[]) =>
    (await run(['fit', data, '--output', at('x.json'), ...options])).stderr;
  assert.match(await refused('--jitter', '2'), /--jitter is \(2\): pass a share/);
  assert.match(await refused('--jitter', '--singular'), /pass one of them/);
  assert.match(await refused(), /pass --shrinkage ledoit-wolf, --jitter or --singular/);
});

test.run();
