// Several GPUs, over the stand-in for NVIDIA's driver: one is chosen, or they share the rows of `covarium sample`.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { commandBesideCuda, onSoftCuda, printedBesideCuda } from './on-cuda.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-gpus-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const at = (name: string) => join(folder, name);
writeFileSync(at('c.csv'), '2,0.5\n0.5,1\n');
// A run of five blocks.
const sampling = (output: string, ...options: string[]) => [
  ...['sample', '--covariance', at('c.csv'), '--count', '1200000', '--seed', '7', '--dtype', 'float32'],
  ...['--output', at(output), ...options],
];
const kernelsOf = (stderr: string) =>
  [...stderr.matchAll(/a GPU ran (\d+) kernels/g)].map(([, count]) => Number(count));

const head = `
  const { listDevices, openDevice } = covarium;
  const failure = (work) => { try { work(); return 'none'; } catch (error) { return error.code + ': ' + error.message; } };
`;

onSoftCuda('One of several GPUs is chosen by index, name, UUID or PCI id.', async () => {
  const out = await printedBesideCuda(
    `${head}
    const { facts } = listDevices().find(({ kind }) => kind === 'cuda');
    const names = ['1', 'Soft GPU 1', 'GPU-abababab-abab-abab-abab-ababababab01', '0000:02:00.0', '00000000:02:00.0'].map((gpu) => {
      const device = openDevice('auto', { gpu });
      device.close();
      return device.name;
    });
    console.log(facts['other GPUs'], names.every((name) => name === 'Soft GPU 1'));
    console.log(failure(() => openDevice('cuda', { gpu: '7' })));`,
    { SOFTCUDA_GPUS: '2' },
  );
  const [first, refused] = out.split('\n');
  assert.is(
    first,
    'Soft GPU 1 (GPU-abababab-abab-abab-abab-ababababab01, PCI id 0000:02:00.0, 1024 MiB, compute capability 9.0) true',
  );
  assert.match(refused!, /^ERR_DEVICE_UNAVAILABLE: .*\(7\); there are \(0 = Soft GPU 0 = GPU-abab/);
});

onSoftCuda('The first GPU that works is opened, unless one is named; the report says why others are not.', async () => {
  const out = await printedBesideCuda(
    `${head}
    const { available, name, facts } = listDevices().find(({ kind }) => kind === 'cuda');
    console.log(available, name);
    console.log(facts['other GPUs']);
    const device = openDevice();
    console.log(device.name);
    device.close();
    console.log(failure(() => openDevice('cuda', { gpu: '0' })));`,
    // The first is too old; the second has no memory, the first time that it is opened.
    { SOFTCUDA_GPUS: '3', SOFTCUDA_MAJOR: '6,9', SOFTCUDA_FAULT: 'cuDevicePrimaryCtxRetain,2,1' },
  );
  const [listed, others, opened, named] = out.split('\n');
  assert.equal([listed, opened], ['true Soft GPU 2', 'Soft GPU 1']);
  const tooOld = 'GPU (Soft GPU 0) is too old: it has compute capability (6.0), not (7.0) or a later one.';
  const full = /capability 9\.0\), not taken: Opening the GPU fails: the GPU has no memory left/;
  const [first, second, ...more] = others!.split('; ');
  assert.match(first!, `compute capability 6.0), not taken: ${tooOld}`);
  assert.match(second!, full);
  assert.equal(more, []);
  assert.match(named!, tooOld);
});

onSoftCuda('All GPUs, or the named ones, share the rows of a run, and draw the same rows as one GPU.', async () => {
  const cpu = await commandBesideCuda(sampling('cpu.npy', '--device', 'cpu'));
  assert.is(cpu.code, 0, cpu.stderr);
  const one = await commandBesideCuda(sampling('one.npy', '--gpus', '1'), { SOFTCUDA_GPUS: '3' });
  // The manifest needs facts of the first GPU, which runs its self-test then.
  const [ofSelfTest = 0, ofRows = 0, ...others] = kernelsOf(one.stderr);
  assert.equal([one.code, ofSelfTest > 0, ofRows > ofSelfTest, others], [0, true, true, []], one.stderr);
  const [ofAll, ofTwo] = [
    ['--gpus', 'all'],
    ['--gpus', '2, GPU-abababab-abab-abab-abab-ababababab00'],
  ];
  const all = await commandBesideCuda(sampling('all.npy', ...ofAll), { SOFTCUDA_GPUS: '3' });
  assert.equal([all.code, kernelsOf(all.stderr).length], [0, 3], all.stderr);
  const two = await commandBesideCuda(sampling('parts/', ...ofTwo, '--rows-per-part', '600000'), {
    SOFTCUDA_GPUS: '3',
  });
  assert.equal([two.code, kernelsOf(two.stderr).length], [0, 2], two.stderr);
  for (const { stderr } of [one, all, two]) {
    assert.match(stderr, 'softcuda: blocks 0, pinned 0');
    if (stderr !== one.stderr) assert.ok(Math.min(...kernelsOf(stderr)) > ofSelfTest, stderr);
  }
  const expected = readFileSync(at('cpu.npy'));
  for (const name of ['one.npy', 'all.npy']) assert.is(Buffer.compare(readFileSync(at(name)), expected), 0, name);
  const parts = readdirSync(at('parts')).filter((name) => name.endsWith('.npy'));
  assert.is(parts.length, 2);
  const rows = Buffer.concat(parts.sort().map((name) => readFileSync(join(at('parts'), name)).subarray(-600000 * 8)));
  assert.is(Buffer.compare(rows, expected.subarray(-1200000 * 8)), 0);
});

const refusals: readonly [sentence: string, options: string[], gpus: string, reason: RegExp][] = [
  ['An unknown GPU', ['--gpus', '0,5'], '2', /\(5\); there are .*\[ERR_DEVICE_UNAVAILABLE\]/],
  ['An empty name', ['--gpus', '0,'], '2', /--gpus is \(.*0,.*\): pass `all`.*\[ERR_INVALID_ARGUMENT\]/],
  ['All GPUs where there is none', ['--gpus', 'all'], '0', /for --gpus: .*finds no GPU.*\[ERR_DEVICE_UNAVAILABLE\]/],
  ['A GPU for the CPU', ['--gpus', '0', '--device', 'cpu'], '2', /Device \(cpu\) has no GPU.*\[ERR_INVALID_ARGUMENT\]/],
  [
    'GPUs for an empirical sample',
    ['--gpus', '0', '--empirical'],
    '2',
    /leave --gpus \(0\) out.*\[ERR_INVALID_ARGUMENT\]/,
  ],
];
for (const [sentence, options, SOFTCUDA_GPUS, reason] of refusals)
  onSoftCuda(`${sentence} is refused, and nothing is written.`, async () => {
    const { code, stderr } = await commandBesideCuda(sampling('none.npy', ...options), { SOFTCUDA_GPUS });
    assert.is(code, 1, stderr);
    assert.match(stderr, reason);
    assert.equal(
      readdirSync(folder).filter((name) => name.startsWith('none')),
      [],
    );
  });

test.run();
