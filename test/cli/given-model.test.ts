// Which distribution the command line draws from, and in which type.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { run } from '../harness/command-line.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-distribution-'));
const at = (name: string) => join(folder, name);
test.after(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  writeFileSync(at(name), text);
  return at(name);
}

test('If float32 is too coarse for a mean, models and draws are float64, and one line says so.', async () => {
  const far = file('far.csv', 'a,b\n1000000001,1\n1000000002,2\n1000000004,5\n1000000000,4\n');
  const told = /^Draws are float64: float32 has steps of \(64\) at the mean \(1000000001.75\) of column \(a\).*--dtype/;
  const fitted = await run(['fit', far, '--output', at('far.json')]);
  assert.is(fitted.code, 0);
  assert.match(fitted.stderr, told);
  assert.is(JSON.parse(readFileSync(at('far.json'), 'utf8')).dtype, 'float64');
  const asked = await run(['fit', far, '--dtype', 'float32', '--output', at('asked.json')]);
  assert.equal([asked.code, asked.stderr], [0, '']);
  assert.is(JSON.parse(readFileSync(at('asked.json'), 'utf8')).dtype, 'float32');
  const [mean, covariance] = [file('far-mean.csv', '1000000000,0\n'), file('one.csv', '1,0\n0,1\n')];
  const drawn = await run(['sample', '--mean', mean, '--covariance', covariance, '--count', '5', '--output', '-']);
  assert.match(drawn.stderr, /^Draws are float64: .*column \(0\)/);
  const lines = drawn.stdout.trimEnd().split('\n');
  assert.is(new Set(lines.map((line) => line.split(',')[0])).size, 5, drawn.stdout);
});

test('If float32 does not hold a variance, models and draws are float64, and the picture is drawn.', async () => {
  for (const unit of ['e25', 'e-25']) {
    const rows = file('unit.csv', `a,b\n1${unit},1\n3${unit},2\n2${unit},5\n7${unit},3\n`);
    const fitted = await run(['fit', rows, '--output', at('unit.json')]);
    assert.match(
      fitted.stderr,
      /^Draws are float64: float32 does not hold the variance \(6.9\d+e[+-]\d+\) of column \(a\)/,
    );
    const text = readFileSync(at('unit.json'), 'utf8');
    assert.is(JSON.parse(text).dtype, 'float64');
    const drawn = await run(['sample', '--model', at('unit.json'), '--count', '5', '--output', '-']);
    assert.equal([drawn.code, drawn.stderr], [0, '']);
    for (const model of [text, text.replace('float64', 'float32')]) {
      const plotting = ['plot', '--model', file('typed.json', model), '--draws', rows, '--output', '-'];
      const { code, stdout, stderr } = await run(plotting);
      assert.equal([code, stderr], [0, '']);
      assert.match(stdout, 'a and b: model 0.17, draws 0.17');
    }
  }
});

test('Covariance and mean are read as pandas and R write them, with the names of the rows.', async () => {
  const sampled = async (mean: string, covariance: string) => {
    const files = ['--mean', file('m.csv', mean), '--covariance', file('c.csv', covariance)];
    return run(['sample', ...files, '--count', '3', '--seed', '1', '--dtype', 'float64', '--output', '-']);
  };
  const plain = await sampled('3.75,2.25\n', 'a,b\n9.5,-1.5\n-1.5,2.25\n');
  assert.is(plain.stderr, '');
  const covariance = ',a,b\na,9.5,-1.5\nb,-1.5,2.25\n';
  for (const [means, covariances] of [
    [',0\na,3.75\nb,2.25\n', covariance],
    [',a,b\n0,3.75,2.25\n', covariance],
    ['3.75\n2.25\n', '"","a","b"\n"a",9.5,-1.5\n"b",-1.5,2.25\n'],
    ['"a" "b"\n"1" 3.75 2.25\n', '"a" "b"\n"a" 9.5 -1.5\n"b" -1.5 2.25\n'],
  ] as const) {
    const { code, stdout, stderr } = await sampled(means, covariances);
    assert.is(code, 0, stderr);
    assert.is(stdout, plain.stdout);
    assert.not.match(stderr, 'First column');
  }
  // From a frame whose columns have no names.
  const counted = await sampled(',0\n0,3.75\n1,2.25\n', ',0,1\n0,9.5,-1.5\n1,-1.5,2.25\n');
  assert.is(counted.stdout.slice(counted.stdout.indexOf('\n')), plain.stdout.slice(4 - 1), counted.stderr);
  assert.match(counted.stdout, /^"?0"?,"?1"?\n/);
  const named = await sampled(',2018,2019\n0,3.75,2.25\n', ',2018,2019\n2018,9.5,-1.5\n2019,-1.5,2.25\n');
  assert.is(named.stdout, plain.stdout.replace('a,b', '"2018","2019"'), named.stderr);
  const years = ',2018,2019.0\n2018,9.5,-1.5\n2019,-1.5,2.25\n';
  const bare = [
    ',0\n0,3.75\n1,2.25\n',
    '"","x"\n"1",3.75\n"2",2.25\n',
    ',0\n2018.0,3.75\n2019.0,2.25\n',
    ',2018,2019\n7,3.75,2.25\n',
  ];
  for (const mean of bare) assert.is((await sampled(mean, years)).code, 0);
  assert.match(
    (await sampled(',0\n2019,2.25\n2018,3.75\n', years)).stderr,
    /Row \(0\) of mean \(.*m\.csv\) is \(2019\), but column \(0\) of covariance \(.*c\.csv\) is \(2018\)/,
  );
  assert.match((await sampled(',0\n0,1\n1,2\n', ',1,0\n1,2,0\n0,0,3\n')).stderr, /Row \(0\) of mean .* is \(0\)/);
  const one = await sampled(',0\na,3.75\n', ',a\na,9.5\n');
  assert.match(one.stdout, /^a\n/, one.stderr);
  const swapped = await sampled(',0\nb,2.25\na,3.75\n', covariance);
  assert.match(
    swapped.stderr,
    /Row \(0\) of mean \(.*m\.csv\) is \(b\), but column \(0\) of covariance \(.*c\.csv\) is \(a\)/,
  );
  for (const header of ['b,a\n', ',b,a\n0,'])
    assert.match(
      (await sampled(`${header}2.25,3.75\n`, header === 'b,a\n' ? covariance : 'a,b\n9.5,-1.5\n-1.5,2.25\n')).stderr,
      /Column \(0\) of mean \(.*m\.csv\) is \(b\), but column \(0\) of covariance \(.*c\.csv\) is \(a\)/,
    );
  // The single row of a frame has a name.
  assert.is((await sampled(',a,b\nmean,3.75,2.25\n', covariance)).stdout, plain.stdout);
  // A first column without a name may be an ordinary column.
  const square = await sampled('1,2\n', '"",a\n2,1\n1,2\n');
  assert.match(square.stdout, /^"",a\n/, square.stderr);
  const wide = await sampled('1,2\n', ',a,b\n0,2,1\n1,1,2\n2,3,4\n');
  assert.is(wide.code, 1);
});

test('Only one input may be standard input.', async () => {
  const model = file('model.json', '{}');
  for (const [words, names] of [
    [['sample', '--covariance', '-', '--mean', '-', '--count', '1', '--output', '-'], '--covariance and --mean'],
    [['verify', at('draws.npy'), '--covariance', '-', '--mean', '-'], '--covariance and --mean'],
    [['fit', '-', '--fixed-mean', '-', '--output', '-'], 'Data and --fixed-mean'],
    [['merge', '-', '--fixed-mean', '-', '--output', '-'], 'A part and --fixed-mean'],
    [['plot', '--model', model, '--draws', '-', '--data', '-', '--output', '-'], '--draws and --data'],
  ] as const) {
    const { code, stderr } = await run([...words]);
    assert.is(code, 1);
    assert.match(stderr, `${names} are both standard input (-)`);
  }
});

test('An output that is not a file name is refused with its option before the data are read.', async () => {
  const covariance = file('unit.csv', '1,0\n0,1\n');
  for (const [words, told] of [
    [['fit', at('none.csv'), '--output', folder], `--output (${folder}) is a folder`],
    [['fit', at('none.csv'), '--partial', ''], '--partial () is empty'],
    [['merge', at('none.json'), '--output', at('none/')], `--output (${at('none/')}) is a folder`],
    [['sample', '--covariance', covariance, '--count', '1', '--output', ''], '--output () is empty'],
    [['plot', '--model', at('none.json'), '--draws', at('none.csv'), '--output', ''], '--output () is empty'],
    [['compare', at('none.json'), '--markdown', folder], `--markdown (${folder}) is a folder`],
  ] as const) {
    const { code, stderr } = await run([...words]);
    assert.is(code, 1);
    assert.match(stderr, `error: ${told}: pass the name of a file. [ERR_FILE_UNWRITABLE]`);
  }
});

test.run();
