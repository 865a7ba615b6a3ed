// GPUs that compute wrong numbers or lack a part: what fails the self-test is reported and never used, and the CPU
// does its work. And GPUs of other widths, on which everything must be right.
import { version } from 'node:os';
import { Worker } from 'node:worker_threads';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadAddon } from '../../lib/addon/native.ts';
import type { Backend, Encoder } from '../../lib/backend.ts';
import type { Real } from '../../lib/dtype.ts';
import { listDevices } from '../../lib/index.ts';
import { openReference } from '../../lib/reference/device.ts';
import { counterOf, hasSameBytes, lowerFactor, scattered } from '../harness/naive.ts';
import { sanitized } from '../harness/sanitized.ts';
import { throwsCode } from '../harness/throws-code.ts';
import { onSoftMetal } from './on-metal.ts';
import type { SoftMetal } from './softmetal/softmetal.ts';

const counter = counterOf(5, 6, 2 ** 32 - 7);
const rowCount = 9;
// The first is computed by the fused kernels, the second by panels.
const dimensions = [3, 70];

const shifts = Float64Array.of(0.25, -1.5);

/** A batch of two models with the same factor. */
function twice(square: Real): Real {
  const both = new Float32Array(2 * square.length);
  both.set(square);
  both.set(square, square.length);
  return both;
}

/** What each command computes in a square or in rows of dimension n. */
const verbs: Readonly<Record<string, (encoder: Encoder, n: number, square: Real, rows: Real, out: Real) => void>> = {
  fillNormal: (encoder, _, __, ___, out) => encoder.fillNormal(out, counter),
  zeroUpper: (encoder, n, square, rows, out) => {
    encoder.zeroUpper(square, n);
    encoder.product(rows, square, out, rowCount, n, n, false, false, 1, 0);
  },
  antitranspose: (encoder, n, square, rows, out) => {
    encoder.antitranspose(square, n);
    encoder.product(rows, square, out, rowCount, n, n, false, true, -2, 0);
  },
  vectorProduct: (encoder, n, square, rows, out) => {
    encoder.copy(rows, out);
    encoder.product(rows.subarray(0, n), square, out.subarray(0, n), 1, n, n, false, true, 1, 1);
  },
  sum: (encoder, _, __, rows, out) => encoder.sum(rows, rows, out),
  addRow: (encoder, n, square, rows, out) => {
    encoder.copy(rows, out);
    encoder.addRow(out, square.subarray(0, n), 3);
  },
  scaleColumns: (encoder, n, square, rows, out) => {
    encoder.copy(rows, out);
    encoder.scaleColumns(out, square.subarray(0, n));
  },
  triangularProduct: (encoder, n, square, rows, out) => {
    encoder.copy(rows, out);
    encoder.triangularProduct(square, out, n, false);
  },
  transposedProduct: (encoder, n, square, rows, out) => {
    encoder.copy(rows, out);
    encoder.triangularProduct(square, out, n, true);
  },
  triangularSolve: (encoder, n, square, rows, out) => {
    encoder.copy(rows, out);
    encoder.triangularSolve(square, out, n, true);
  },
  choleskySolve: (encoder, n, square, rows, out) => {
    encoder.copy(rows, out);
    encoder.choleskySolve(square, out, n);
  },
  squaredNorms: (encoder, n, _, rows, out) => encoder.squaredNorms(rows, out.subarray(0, rowCount), n),
  sample: (encoder, n, square, rows, out) => encoder.sample(square, rows.subarray(0, n), out, false, counter),
  sampleOne: (encoder, n, square, rows, out) =>
    encoder.sample(square, rows.subarray(0, n), out.subarray(0, n), false, counter),
  inverseSample: (encoder, n, square, rows, out) => encoder.sample(square, rows.subarray(0, n), out, true, counter),
  logDensity: (encoder, n, square, rows, out) =>
    encoder.logDensity(square, rows.subarray(0, n), rows, out.subarray(0, rowCount), false, 0.25),
  choleskyBatch: (encoder, n, square, _, out) => {
    // factor factor' times 1, 2 and 3. `out` takes three rows of each.
    const batch = new Float32Array(3 * n * n);
    for (const b of [0, 1, 2])
      encoder.product(square, square, batch.subarray(b * n * n, (b + 1) * n * n), n, n, n, false, true, 1 + b, 0);
    encoder.choleskyBatch(batch, n, 1e-6);
    for (const b of [0, 1, 2])
      encoder.copy(batch.subarray(b * n * n, b * n * n + 3 * n), out.subarray(b * 3 * n, (b + 1) * 3 * n));
  },
  sampleBatch: (encoder, n, square, rows, out) =>
    encoder.sampleBatch(twice(square), rows.subarray(0, 2 * n), out.subarray(0, 8 * n), n, counter),
  logDensityBatch: (encoder, n, square, rows, out) =>
    encoder.logDensityBatch(twice(square), rows.subarray(0, 2 * n), rows, out.subarray(0, 2 * rowCount), n, shifts),
  inverseLogDensity: (encoder, n, square, rows, out) =>
    encoder.logDensity(square, rows.subarray(0, n), rows, out.subarray(0, rowCount), true, 0.25),
};

function resultOn(device: Backend, verb: string, n: number): Real {
  const square = Float32Array.from(lowerFactor(n, 2, 0.25));
  const out = new Float32Array(rowCount * n).fill(1);
  const encoder = device.encoder();
  verbs[verb]!(encoder, n, square, Float32Array.from(scattered(rowCount * n, 3)), out);
  encoder.commitSync();
  return out;
}

const reference = openReference();
const expected = new Map<string, Real>();
for (const verb of Object.keys(verbs))
  for (const n of dimensions) expected.set(`${verb} ${n}`, resultOn(reference, verb, n));
reference.close();

/** Every command gives the reference's numbers, and fillNormal its bits. */
function isRight(device: Backend, what: string): void {
  for (const verb of Object.keys(verbs))
    for (const n of dimensions) {
      const actual = resultOn(device, verb, n);
      const wanted = expected.get(`${verb} ${n}`)!;
      if (verb === 'fillNormal') hasSameBytes(actual, wanted, what);
      actual.forEach((value, i) => {
        if (!(Math.abs(value - wanted[i]!) <= 1e-4 * (1 + Math.abs(wanted[i]!))))
          assert.unreachable(`${what}, ${verb} ${n}: element ${i} is (${value}), not (${wanted[i]})`);
      });
    }
}

const openMetal = (): Backend => loadAddon().addon!.openDevice('metal', { threads: 1 });

/** Opens a device with a fault that stays; `off` names what must be reported as off. */
async function withFault(
  soft: SoftMetal,
  [name, value]: readonly [name: string, value: string],
  off: readonly string[],
  check: (device: Backend) => void | Promise<void>,
): Promise<void> {
  soft.set(name, value);
  const { available, reason, warnings } = listDevices()[0]!;
  assert.ok(available, reason);
  for (const each of off) {
    const told = warnings.filter((warning) => warning.startsWith(`${each} is off, and the CPU does its work: `));
    assert.is(told.length, 1, `${each} is told: ${warnings.join('; ')}`);
    assert.match(told[0]!, /[^.]\.$/, 'in one sentence');
  }
  const device = openMetal();
  soft.reset();
  soft.set(name, value);
  await check(device);
  device.close();
}

const ofTiles = ['cholesky_below', 'cholesky_update'];
const ofWholeGroups = [...ofTiles, 'sample_narrow', 'sample_tiles', 'solve_tiles'];
const kernels = [
  ...['zero_upper', 'antitranspose', 'add_row', 'squared_norms', 'log_density', 'copy_lower', 'less_mean'],
  ...['scale_columns', 'sample_rows', 'densities', 'densities_by_columns', 'multiply_lower', ...ofWholeGroups],
  ...['cholesky_batch', 'keep_first_failed', 'sample_batch'],
];

onSoftMetal('Every kernel is tested with a fault.', async (soft) => {
  const device = openMetal();
  const tested = Object.keys(soft.counters()).flatMap((name) => /^pipelines (\w+)/.exec(name)?.[1] ?? []);
  assert.equal(tested.sort(), ['fill_normal', ...kernels].sort(), 'the self-test runs each of them');
  isRight(device, 'a good GPU');
  device.close();
});

onSoftMetal(
  'A GPU that has passed is not tested again in the process, by any thread; one that fails is.',
  async (soft) => {
    const tests = () => soft.count('dispatches squared_norms');
    openMetal().close();
    const once = tests();
    assert.ok(once > 0);
    listDevices();
    openMetal().close();
    const script = new URL('../harness/native-worker.mjs', import.meta.url);
    const env = { ...process.env, COVARIUM_TEST_DEVICE: 'metal' };
    const worker = new Worker(script, { workerData: { plan: 'use' }, execArgv: [], env });
    assert.is(await new Promise((resolve) => worker.on('exit', resolve)), 0);
    assert.is(tests(), once);
    soft.set('brokenKernel', 'add_row');
    for (const times of [2, 3]) {
      openMetal().close();
      assert.is(tests(), times * once);
    }
  },
);

onSoftMetal(
  'If a GPU passed in an earlier process, only its normals are tested; one that fails is not reported as passed.',
  (soft) => {
    const open = (...gpus: readonly string[]) => {
      const device = loadAddon().addon!.openDevice('metal', {
        threads: 1,
        knownGpus: gpus.map((gpu) => ({ gpu, rates: [], isOld: false })),
      });
      device.close();
      return device;
    };
    const tests = () => soft.count('dispatches squared_norms');
    soft.set('brokenKernel', 'add_row');
    const name = `${open().name}, ${version()}`;
    assert.ok(tests() > 0);
    soft.reset();
    assert.is(open('another', name).learned, undefined);
    assert.is(tests(), 0);
    assert.ok(soft.count('dispatches fill_normal') > 0, 'except for the normals');
    soft.set('brokenKernel', 'fill_normal');
    assert.throws(() => open(name), /does not give the normal stream/);
    soft.set('brokenKernel', 'add_row');
    assert.is(open('another').learned, undefined);
    assert.ok(tests() > 0);
    soft.reset();
    assert.equal(open().learned, { gpu: name, rates: [] });
  },
);

if (sanitized) console.log('Faults and widths are tried in turns, because the sanitizer makes each of them slow.');
/** Every choice; under a sanitizer one of them for each `turn`. */
const inTurns = <T>(choices: readonly T[], turn: number): readonly T[] =>
  sanitized ? [choices[turn % choices.length]!] : choices;

for (const [turn, kernel] of kernels.entries())
  for (const fault of inTurns(['pipelineFails', 'missingFunction', 'brokenKernel'], turn)) {
    // What a broken kernel writes becomes zeros, which is what zero_upper writes.
    if (kernel === 'zero_upper' && fault === 'brokenKernel') continue;
    onSoftMetal(`${kernel} (${fault}) is reported as off, never dispatched, and the results are right.`, async (soft) =>
      withFault(soft, [fault, kernel], [kernel], async (device) => {
        isRight(device, `${fault} ${kernel}`);
        assert.is(soft.count(`dispatches ${kernel}`), 0);
        if (fault !== 'brokenKernel') return;
        const launch = () => device.encoder().launch(kernel, [], [1, 1, 1], [1, 1, 1]);
        const { message } = await throwsCode('ERR_UNSUPPORTED', launch);
        assert.ok(message.includes(`(${kernel}) is off on this GPU: `), message);
      }),
    );
  }

const products = ['MPSMatrixMultiplication', 'MPSMatrixVectorMultiplication', 'MPSMatrixSum'];
const classes = [...products, 'MPSMatrixDecompositionCholesky'];

/** The device makes a factor on the CPU or on the GPU as requested. */
function makesFactorOn(device: Backend, where: 'gpu' | 'cpu' | 'mps'): void {
  const square = Float32Array.of(4, 2, 2, 5);
  const encoder = device.encoder();
  encoder.cholesky(square, 2, where);
  assert.is(encoder.commitSync().factor, where === 'cpu' ? 'cpu' : 'gpu');
  assert.equal(square, Float32Array.of(2, 0, 1, 2));
}

/** The device does not make a factor there, because a kernel is off. */
async function makesNoFactorOn(device: Backend, where: 'gpu' | 'mps', kernel: string): Promise<void> {
  const factor = () => device.encoder().cholesky(Float32Array.of(4, 2, 2, 5), 2, where);
  const { message } = await throwsCode('ERR_UNSUPPORTED', factor);
  assert.ok(message.startsWith(`Kernel (${kernel}) is off on this GPU, so it makes no factor: `), message);
}

for (const [turn, name] of [...classes, 'MPSMatrixCopy'].entries())
  for (const how of inTurns(['', ':nan'], turn))
    onSoftMetal(
      `${name}${how} is reported as off if it is wrong, never used, and the results are right.`,
      async (soft) => {
        // Only Cholesky uses the copy.
        const off = name === 'MPSMatrixCopy' ? 'MPSMatrixDecompositionCholesky' : name;
        await withFault(soft, ['brokenMps', `${name}${how}`], [off], async (device) => {
          isRight(device, name);
          assert.is(soft.count(`encoded ${name}`), 0);
          if (off !== 'MPSMatrixDecompositionCholesky') return;
          makesFactorOn(device, 'gpu');
          await makesNoFactorOn(device, 'mps', off);
        });
      },
    );

onSoftMetal('A GPU without MPS computes everything, without any object of MPS.', async (soft) =>
  withFault(soft, ['mpsUnsupported', '1'], [...classes, 'MPSMatrixCopy'], async (device) => {
    isRight(device, 'without MPS');
    makesFactorOn(device, 'gpu');
    assert.equal(
      Object.keys(soft.counters()).filter((name) => name.includes('MPS')),
      [],
    );
    assert.ok(soft.count('dispatches sample_rows') > 0, 'our kernels run on it');
  }),
);

onSoftMetal('A GPU that cannot make a factor says why, and the CPU or MPS makes it.', async (soft) =>
  withFault(soft, ['brokenKernel', 'cholesky_below'], ofTiles, async (device) => {
    await makesNoFactorOn(device, 'gpu', 'cholesky_update');
    makesFactorOn(device, 'cpu');
    makesFactorOn(device, 'mps');
    const order = 16_385;
    const square = new Float32Array(order ** 2);
    const { message } = await throwsCode('ERR_UNSUPPORTED', () => device.encoder().cholesky(square, order, 'mps'));
    assert.is(message, 'Metal Performance Shaders factor at most (16384) columns here, not (16385).');
  }),
);

onSoftMetal('Simdgroups that are narrower than the pipeline says have enough memory.', (soft) => {
  soft.set('simdgroupWidth', 8);
  assert.equal(listDevices()[0]!.warnings, []);
  const device = openMetal();
  isRight(device, 'simdgroups of 8 that are reported as 32');
  device.close();
});

for (const [turn, executionWidth] of [1, 4, 31, 32, 64].entries())
  for (const maximumGroup of inTurns([1, 31, 32, 33, 1024], turn))
    onSoftMetal(`Simdgroups of ${executionWidth}, groups up to ${maximumGroup}: everything works.`, (soft) => {
      soft.set('executionWidth', executionWidth);
      soft.set('maximumGroup', maximumGroup);
      const [{ warnings, facts }] = listDevices() as [ReturnType<typeof listDevices>[number]];
      const off = warnings.map((warning) => warning.split(' ')[0]);
      assert.equal(off, maximumGroup < 256 ? ofWholeGroups : []);
      const { simdgroup } = facts;
      assert.is(simdgroup, `${executionWidth} threads`);
      const device = openMetal();
      isRight(device, `${executionWidth} of ${maximumGroup}`);
      for (const kernel of [
        ...['sample_rows', 'densities', 'log_density', 'squared_norms', 'cholesky_batch', 'sample_batch'],
      ])
        assert.ok(soft.count(`dispatches ${kernel}`) > 0, `${kernel} runs`);
      device.close();
    });

test.run();
