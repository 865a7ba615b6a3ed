import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'uvu';
import * as assert from 'uvu/assert';
import { MultivariateNormal, openDevice } from '../../lib/index.ts';
import { writeFloat32, writeFloat64 } from '../../lib/table/decimal.ts';
import { nodeOptions } from '../harness/child.ts';
import { main, outcomeOf, run, runProcess, start, succeeds, textOf } from '../harness/command-line.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-cli-'));
const at = (name: string) => join(folder, name);
const normal = {
  mean: [1, -1],
  covariance: [
    [2, 0.5],
    [0.5, 1],
  ],
};
const model = file(
  'model.json',
  JSON.stringify({ covarium: 1, dtype: 'float32', columns: ['a', 'b "c", d'], ...normal }),
);

process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

test('sample writes an NPY file of exactly the rows that the library draws.', async () => {
  await succeeds('sample', '--model', model, '--count', '1000', '--seed', '42', '--output', at('draws.npy'));
  const bytes = readFileSync(at('draws.npy'));
  const header = bytes.subarray(0, 128).toString('latin1');
  assert.is(header.slice(0, 8), '\x93NUMPY\x01\x00');
  assert.is(bytes.readUInt16LE(8) + 10, 128);
  assert.match(header, "{'descr': '<f4', 'fortran_order': False, 'shape': (1000, 2), }");
  assert.is(header[127], '\n');
  assert.equal(floats(bytes.subarray(128)), draws(1000, { seed: 42 }));
});

test('sample accepts 1e3 as 1000, and leaves out the manifest if told to.', async () => {
  const given = ['sample', '--model', model, '--seed', '42', '--output', at('e.npy')];
  for (const count of ['1e3', '1E+3', '1.0e3', '0.1e4']) {
    await succeeds(...given, '--count', count, '--no-manifest');
    assert.equal(floats(readFileSync(at('e.npy')).subarray(128)), draws(1000, { seed: 42 }), count);
  }
  assert.not.ok(existsSync(at('e.npy.json')));
  const refusal = await run([...given.slice(0, -1), `${at('parts')}/`, '--count', '1', '--no-manifest']);
  assert.match(refusal.stderr, /--no-manifest.*\[ERR_INVALID_ARGUMENT\]/);
  writeFileSync(at('e.npy.json'), '{}');
  const { stderr } = await run([...given, '--count', '5', '--no-manifest']);
  assert.match(stderr, /e\.npy\.json\) lies beside.*\[ERR_FILE_UNWRITABLE\]/);
});

test('help shows examples, and fits a terminal of 80 columns.', async () => {
  for (const command of ['fit', 'sample', 'merge', 'devices', 'verify', 'bench', 'compare', 'plot', 'build-native'])
    assert.match(await succeeds('help', command), new RegExp(`^(?![^]*.{81})[^]*Examples:\n.*covarium ${command}\\b`));
  assert.match(
    (await run(['help', 'smaple'])).stderr,
    /^error: unknown command 'smaple'\n\(Did you mean sample\?\)\n$/,
  );
});

test('sample writes a CSV file that reads back as the same rows, under the names of the model.', async () => {
  await succeeds(
    'sample',
    '--model',
    model,
    '--count',
    '500',
    '--seed',
    '42',
    '--first-row',
    '500',
    '--output',
    at('draws.csv'),
  );
  const [names, ...lines] = readFileSync(at('draws.csv'), 'utf8').trimEnd().split('\n');
  assert.is(names, 'a,"b ""c"", d"');
  assert.equal(Float32Array.from(lines.join(',').split(','), Number), draws(1000, { seed: 42 }).slice(1000));
});

test('sample writes CSV to standard output, with any seed, stream and type.', async () => {
  const mean = file('mean.csv', '1,-1\n');
  const covariance = file('covariance.csv', '2,0.5\n0.5,1\n');
  const seed = String(2n ** 64n - 1n);
  const arguments_ = ['--mean', mean, '--covariance', covariance, '--seed', seed, '--stream', '7', '--count', '20'];
  const single = await succeeds('sample', ...arguments_, '--output', '-');
  const expected = draws(20, { seed: BigInt(seed), stream: 7 });
  assert.equal(Float32Array.from(single.trimEnd().split(/[\n,]/), Number), expected);
  const double = await succeeds(
    'sample',
    ...arguments_,
    '--dtype',
    'float64',
    '--device',
    'reference',
    '--output',
    '-',
  );
  using device = openDevice('reference');
  using exact = MultivariateNormal.fromCovarianceSync({ device, ...normal, dtype: 'float64' });
  const wanted = exact.sampleSync(20, { seed: BigInt(seed), stream: 7 }).data;
  assert.equal(Float64Array.from(double.trimEnd().split(/[\n,]/), Number), wanted);
});

test('No rows make an empty file; a zero mean may be omitted.', async () => {
  const covariance = file('one.csv', '4\n');
  assert.is(await succeeds('sample', '--covariance', covariance, '--count', '0', '--output', '-'), '');
  await succeeds('sample', '--covariance', covariance, '--count', '0', '--output', at('none.npy'));
  assert.is(readFileSync(at('none.npy')).length, 128);
});

test('fit writes a model of the data, which sample reads.', async () => {
  const data = file('data.csv', '\ufeffwidth, "height"\n1,2\n3 , 2\n\n"5",8e0\n');
  await succeeds('fit', data, '--output', at('fitted.json'));
  const fitted = JSON.parse(readFileSync(at('fitted.json'), 'utf8'));
  assert.equal([fitted.covarium, fitted.dtype, fitted.columns], [1, 'float32', ['width', 'height']]);
  assert.equal(round(fitted.mean), [3, 4]);
  assert.equal(round(fitted.covariance.flat()), [4, 6, 6, 12]);
  await succeeds('fit', data, '--ddof', '0', '--dtype', 'float64', '--output', at('fitted.json'));
  const likeliest = JSON.parse(readFileSync(at('fitted.json'), 'utf8'));
  assert.equal([likeliest.dtype, ...round(likeliest.covariance.flat())], ['float64', 2.66667, 4, 4, 8]);
  assert.match(
    await succeeds('sample', '--model', at('fitted.json'), '--device', 'reference', '--count', '1', '--output', '-'),
    /^width,height\n\S+,\S+\n$/,
  );
});

test('devices lists the devices, as text and as JSON.', async () => {
  const text = await succeeds('devices');
  assert.match(text, /^covarium \d+\.\d+\.\d+, Node \d+/);
  assert.match(
    text,
    /\n[* ] metal .*\n(?: {4}.*\n)*[* ] cuda .*\n(?: {4}.*\n)*[* ] cpu .*\n(?: {4}.*\n)*[* ] reference /,
  );
  assert.match(text, /\nChosen: \w+, /);
  const report = JSON.parse(await succeeds('devices', '--json'));
  assert.equal(
    report.devices.map(({ kind }: { kind: string }) => kind),
    ['metal', 'cuda', 'cpu', 'reference'],
  );
});

const refusals: [sentence: string, shown: RegExp, command: () => string[]][] = [
  [
    'a missing file',
    /^error: File \(.*none\.csv\) does not exist\. \[ERR_FILE_NOT_FOUND\]$/,
    () => ['fit', at('none.csv'), '--output', at('x.json')],
  ],
  ['a folder in place of a file', /\[ERR_FILE_UNREADABLE\]$/, () => ['fit', folder, '--output', at('x.json')]],
  [
    'a word among numbers',
    /\(NA\).*: line 3, character 5 .*\[ERR_MALFORMED_CSV\]$/,
    () => ['fit', file('bad.csv', 'a,b\n1,2\n333,NA\n'), '--output', at('x.json')],
  ],
  [
    'a number beyond float64',
    /\(1e999\): line 1, character 3 .*\[ERR_MALFORMED_CSV\]$/,
    () => ['fit', file('bad.csv', '1,1e999\n'), '--output', at('x.json')],
  ],
  [
    'a hexadecimal number',
    /\(0x10\): line 2, character 1 .*\[ERR_MALFORMED_CSV\]$/,
    () => ['fit', file('bad.csv', '1,2\n0x10,2\n'), '--output', at('x.json')],
  ],
  [
    'a row that is too short',
    /\(1\) fields.*\(2\): line 4, character 2 .*\[ERR_MALFORMED_CSV\]$/,
    () => ['fit', file('bad.csv', '1,2\n\n3,4\n5\n'), '--output', at('x.json')],
  ],
  [
    'a row that is too long',
    /\(3\) fields.*\(2\): line 2, character 5 .*\[ERR_MALFORMED_CSV\]$/,
    () => ['fit', file('bad.csv', '1,2\n3,4,5\n'), '--output', at('x.json')],
  ],
  [
    'a quote that does not end',
    /line 2.*\[ERR_MALFORMED_CSV\]$/,
    () => ['fit', file('bad.csv', '1,2\n"3,4\n'), '--output', at('x.json')],
  ],
  ['an empty file', /is empty\. \[ERR_MALFORMED_CSV\]$/, () => ['fit', file('bad.csv', ''), '--output', at('x.json')]],
  [
    'a model that is not JSON',
    /bad\.json.*not JSON.*\[ERR_MALFORMED_MODEL\]$/,
    () => sampling('--model', file('bad.json', '{')),
  ],
  [
    'a model of another version',
    /\(2\), not 1.*\[ERR_MALFORMED_MODEL\]$/,
    () => sampling('--model', file('bad.json', '{"covarium":2}')),
  ],
  [
    'a model without a covariance',
    /\(undefined\).*\[ERR_MALFORMED_MODEL\]$/,
    () => sampling('--model', file('bad.json', '{"covarium":1,"mean":[0]}')),
  ],
  [
    'a ragged covariance',
    /row \(1\).*\[ERR_MALFORMED_MODEL\]$/,
    () => sampling('--model', file('bad.json', '{"covarium":1,"mean":[0,0],"covariance":[[1,0],[0]]}')),
  ],
  [
    'a covariance that is not square',
    /\(1\) rows and \(2\) columns.*\[ERR_SHAPE\]$/,
    () => sampling('--covariance', file('bad.csv', '1,2\n')),
  ],
  [
    'a covariance that is not positive definite, naming only options that the command has',
    /\(1\)(?!.*jitter).* --singular .*\[ERR_NOT_POSITIVE_DEFINITE\]$/,
    () => sampling('--covariance', file('bad.csv', '1,2\n2,1\n')),
  ],
  [
    'a mean of two rows',
    /\(2\) rows.*\[ERR_SHAPE\]$/,
    () => sampling('--covariance', file('c.csv', '1\n'), '--mean', file('m.csv', '1,2\n3,4\n')),
  ],
  [
    'a model that is not positive definite',
    /^error: Covariance of \(.*odd\.json\) is not positive definite: .*--singular.*\[ERR_NOT_POSITIVE_DEFINITE\]$/,
    () => sampling('--model', file('odd.json', '{"covarium":1,"mean":[0,0],"covariance":[[1,2],[2,1]]}')),
  ],
  ['no distribution', /--model.*\[ERR_INVALID_ARGUMENT\]$/, () => sampling()],
  ['two distributions', /--model.*\[ERR_INVALID_ARGUMENT\]$/, () => ofModel('--mean', 'm.csv')],
  ['a negative count', /\(-3\): .*\[ERR_OUT_OF_RANGE\]$/, () => ofModel('--count', '-3')],
  [
    'a count that is not a whole number',
    /\(1.5\): pass a whole number from 0 to 2\^53 - 1, as 1000000 or 1e6\. \[ERR_OUT_OF_RANGE\]$/,
    () => ofModel('--count', '1.5'),
  ],
  ['a count of -1e6', /\(1e-6\)/, () => ofModel('--count', '1e-6')],
  [
    'a seed of 65 bits',
    /\(18446744073709551616\).*\[ERR_OUT_OF_RANGE\]$/,
    () => ofModel('--seed', '18446744073709551616'),
  ],
  ['an unknown type', /\('float16'\).*\[ERR_INVALID_ARGUMENT\]$/, () => ofModel('--dtype', 'float16')],
  ['an unknown device', /\('abacus'\).*\[ERR_INVALID_ARGUMENT\]$/, () => ofModel('--device', 'abacus')],
  ['an unknown output', /\(.*draws\.txt\).*\[ERR_INVALID_ARGUMENT\]$/, () => ofModel('--output', at('draws.txt'))],
  [
    'an output in no folder',
    /its folder does not exist.*\[ERR_FILE_UNWRITABLE\]$/,
    () => ofModel('--output', at('nowhere/draws.npy')),
  ],
  [
    'a run in a folder without a seed',
    /folder\.npy.*--seed.*\[ERR_INVALID_ARGUMENT\]$/,
    () => ofModel('--output', folderNamed('folder.npy')),
  ],
  ['an unknown option', /unknown option '--cuont'/, () => ['devices', '--cuont', '3']],
  ['a missing option', /required option '--count <n>'/, () => ['sample', '--output', '-']],
];

for (const [sentence, shown, command] of refusals)
  test(`The command line refuses ${sentence} with one line, exit code 1, and no file.`, async () => {
    const before = readdirSync(folder);
    const { code, stdout, stderr } = await run(command());
    assert.is(code, 1, stderr);
    assert.is(stdout, '');
    assert.match(stderr.split('\n')[0]!, shown);
    if (!stderr.includes('option')) assert.is(stderr.trimEnd().split('\n').length, 1, stderr);
    assert.not.ok(
      readdirSync(folder).some((name) => name.includes('partial') || name === 'x.json' || name === 'refused.npy'),
    );
    assert.ok(readdirSync(folder).length >= before.length);
  });

test('An output that is one of the inputs, under any name, is refused, and the input stays.', async () => {
  const input = file('input.csv', '1,0\n0,1\n');
  linkSync(input, at('link.csv'));
  symlinkSync(input, at('symlink.csv'));
  const drawn = ['sample', '--count', '5', '--covariance', input, '--output'];
  const commands = [
    ['fit', input, '--output', input],
    ['fit', at('data.csv'), input, '--partial', at('link.csv')],
    [...drawn, at('link.csv')],
    [...drawn, at('symlink.csv')],
    ['merge', input, '--output', input],
    ['compare', input, '--markdown', input],
  ];
  for (const command of commands) {
    const { code, stderr } = await run(command);
    assert.is(code, 1);
    assert.match(stderr, /is also an input \(.*input\.csv\).*\[ERR_INVALID_ARGUMENT\]\n$/);
    assert.is(readFileSync(input, 'utf8'), '1,0\n0,1\n');
  }
});

test('An output that standard input reads is refused, and stays.', async () => {
  const input = file('read.csv', 'a,b\n1,2\n3,5\n4,4\n');
  const before = readFileSync(input, 'utf8');
  for (const command of ['fit - --output', 'sample --model - --count 5 --no-manifest --output']) {
    const open = openSync(input, 'r');
    const args = [...nodeOptions, main, ...command.split(' '), input];
    const { stderr } = spawnSync(process.execPath, args, { stdio: [open, 'pipe', 'pipe'], encoding: 'utf8' });
    closeSync(open);
    assert.match(stderr, /is also an input \(-\).*\[ERR_INVALID_ARGUMENT\]\n$/);
    assert.is(readFileSync(input, 'utf8'), before);
  }
});

test('Control characters that a message quotes do not reach the terminal.', async () => {
  const sequence = '\u001b[2J';
  const outcomes = [
    await run(['devices', `--${sequence}`]),
    await run([sequence]),
    await run(['fit', at(sequence), '--output', at('x.json')]),
    await runProcess(['devices'], { COVARIUM_BLAS: sequence }),
    await runProcess(['devices', '--json'], { COVARIUM_BLAS: '\u009b2J' }),
  ];
  for (const { stdout, stderr } of outcomes) assert.not.match((stdout + stderr).replaceAll('\n', ''), /\p{Cc}/u);
});

test('A better device that is not available is named on one line, unless the caller chose a device.', async () => {
  const broken = { COVARIUM_ADDON: at('none.node'), COVARIUM_DEVICE: '' };
  const command = ['sample', '--model', model, '--count', '2', '--output', '-'];
  const best = process.platform === 'darwin' ? 'metal' : 'cpu';
  const { code, stderr } = await runProcess(command, broken);
  assert.is(code, 0);
  assert.match(stderr, new RegExp(`^Device \\(reference\\) is used; ${best} is not available: .*none\\.node.*\\n$`));
  assert.is((await runProcess([...command, '--device', 'auto'], { ...broken, COVARIUM_DEVICE: 'cpu' })).stderr, stderr);
  assert.is((await runProcess([...command, '--device', 'reference'], broken)).stderr, '');
  assert.is((await runProcess(command, { ...broken, COVARIUM_DEVICE: 'reference' })).stderr, '');
});

test('A full disk is reported, and leaves no file.', async () => {
  if (!existsSync('/dev/full')) return;
  symlinkSync('/dev/full', at('full.npy'));
  symlinkSync('/dev/full', at('full.json'));
  const written = await run(['sample', '--model', model, '--count', '10', '--output', at('full.npy')]);
  assert.equal([written.code, written.stdout], [1, '']);
  assert.match(written.stderr, /^error: Disk is full: .*full\.npy.*\[ERR_DISK_FULL\]\n$/);
  const fitted = await run(['fit', file('data.csv', '1,2\n3,2\n5,8\n'), '--output', at('full.json')]);
  assert.match(fitted.stderr, /\[ERR_DISK_FULL\]\n$/);
  const piped = spawn('sh', [
    '-c',
    '"$@" > /dev/full',
    'sh',
    process.execPath,
    ...nodeOptions,
    main,
    'sample',
    '--model',
    model,
    '--count',
    '9',
    '--output',
    '-',
  ]);
  assert.match(await textOf(piped.stderr), /\[ERR_DISK_FULL\]\n$/);
  assert.ok(existsSync('/dev/full'));
});

test('Ctrl-C ends a sample with exit code 130 and leaves no file.', async () => {
  const target = mkdirSync(at('interrupted'), { recursive: true })!;
  const child = start([
    'sample',
    '--model',
    model,
    '--count',
    '3000000000',
    '--seed',
    '1',
    '--output',
    join(target, 'draws.npy'),
  ]);
  const ended = outcomeOf(child);
  while (readdirSync(target).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  child.kill('SIGINT');
  const { code, stderr } = await ended;
  assert.equal([code, stderr], [130, '']);
  assert.equal(readdirSync(target), []);
});

test('A reader that closes the pipe ends a sample quietly.', async () => {
  const child = start(['sample', '--model', model, '--count', '3000000000', '--seed', '1', '--output', '-']);
  const ended = outcomeOf(child);
  child.stdout.once('data', () => child.stdout.destroy());
  const { code, stderr } = await ended;
  assert.equal([code, stderr], [0, '']);
});

const decimals = suite('decimals');

decimals('Every float32 is written so that it reads back exactly.', () => {
  const bytes = new Uint8Array(32);
  const word = new Uint32Array(1);
  const value = new Float32Array(word.buffer);
  let odd = 1;
  for (let i = 0; i < 300_000; i++) {
    odd = Math.imul(odd, 747796405) + 2891336453;
    word[0] = i % 2 === 0 ? odd : (odd & 0x83ffffff) | 0x3c000000;
    if (!Number.isFinite(value[0])) continue;
    const text = Buffer.from(bytes.subarray(0, writeFloat32(value[0]!, bytes, 0))).toString();
    if (Math.fround(Number(text)) !== value[0]) assert.unreachable(`${value[0]} is written as ${text}`);
  }
});

decimals('Numbers are written short.', () => {
  const cases = [0, 1, -1, 0.5, 0.1, -123.456, 1234567, 9999999, 1e7, 3.4e38, 1e-5, 0.00012345678, 1 / 3];
  const expected = '0 1 -1 0.5 0.1 -123.456 1234567 9999999 10000000 3.4e+38 0.00001 0.00012345678 0.33333334';
  const bytes = new Uint8Array(32);
  const texts = cases.map((x) => Buffer.from(bytes.subarray(0, writeFloat32(Math.fround(x), bytes, 0))).toString());
  assert.is(texts.join(' '), expected);
  assert.is(Buffer.from(bytes.subarray(0, writeFloat64(1 / 3, bytes, 0))).toString(), '0.3333333333333333');
});

// The last --count and --output of a command line count.
function sampling(...rest: string[]): string[] {
  return ['sample', '--count', '5', '--output', at('refused.npy'), ...rest];
}
const ofModel = (...args: string[]) => sampling('--model', model, ...args);

function file(name: string, text: string): string {
  writeFileSync(at(name), text);
  return at(name);
}

function folderNamed(name: string): string {
  mkdirSync(at(name), { recursive: true });
  return at(name);
}

function draws(count: number, which: { seed: number | bigint; stream?: number }): Float32Array {
  using device = openDevice();
  using distribution = MultivariateNormal.fromCovarianceSync({ device, ...normal });
  return distribution.sampleSync(count, which).data as Float32Array;
}

function floats(bytes: Buffer): Float32Array {
  return new Float32Array(Uint8Array.from(bytes).buffer);
}

function round(values: number[]): number[] {
  // A device may have only float32.
  return values.map((value) => Math.round(value * 1e5) / 1e5);
}

decimals.run();
test.run();
