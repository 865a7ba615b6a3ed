// What a call costs on the Metal device, counted by its software stand-in: command buffers, waits, copies and objects
// made.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadAddon } from '../../lib/addon/native.ts';
import { type Device, type Matrix, MultivariateNormal, openDevice, type Vector } from '../../lib/index.ts';
import { lowerFactor } from '../harness/naive.ts';
import { throwsCode } from '../harness/throws-code.ts';
import { onSoftMetal } from './on-metal.ts';
import type { SoftMetal } from './softmetal/softmetal.ts';

// Draws use one kernel, tiles, and more tiles. MPS factors the first two, our own kernels the third.
const dimensions = [3, 100, 520];

function covarianceOf(n: number): Float32Array[] {
  return Array.from({ length: n }, (_, i) => new Float32Array(n).map((_, j) => (i === j ? 2 : 0.5)));
}

/** Runs `call` and counts what happens. */
async function counted<Result>(
  soft: SoftMetal,
  call: () => Result | Promise<Result>,
): Promise<{ result: Result; counts: Readonly<Record<string, number>>; of(name: string): number }> {
  soft.reset();
  const result = await call();
  const counts = soft.counters();
  return { result, counts, of: (name) => counts[name] ?? 0 };
}

/** The objects of MPS that were made, each with its shape. */
function madeByMps(counts: Readonly<Record<string, number>>): string[] {
  return Object.keys(counts).filter((name) => /^MPS\w+ /.test(name));
}

/** Runs `check` for one kept normal of each dimension. */
async function forNormals(check: (normal: MultivariateNormal, device: Device) => Promise<void>): Promise<void> {
  using device = openDevice('metal');
  for (const n of dimensions) {
    using normal = MultivariateNormal.fromCovarianceSync({ device, covariance: covarianceOf(n) });
    await check(normal, device);
  }
}

const ways: Readonly<Record<string, (normal: MultivariateNormal) => Matrix | Promise<Matrix>>> = {
  sync: (normal) => normal.sampleSync(50, { seed: 3 }),
  async: (normal) => normal.sample(50, { seed: 3 }),
};

for (const [way, draw] of Object.entries(ways))
  onSoftMetal(
    `${way}: a sample of a kept factor is one command buffer, and its bytes are the GPU's own.`,
    async (soft) =>
      forNormals(async (normal) => {
        const { result, of } = await counted(soft, () => draw(normal));
        const what = `n = ${normal.dimension}`;
        assert.is(of('commits'), 1, what);
        assert.is(of('unretainedCommandBuffers'), 0, what);
        assert.is(of('waits'), way === 'sync' ? 1 : 0, what);
        assert.is(of('completedHandlers'), way === 'sync' ? 0 : 1, what);
        assert.is(of('blitCopies') + of('encoded MPSMatrixCopy'), 0, `${what}: nothing is copied`);
        assert.ok(soft.owns(result.data as Float32Array), `${what}: the result lies in a living MTLBuffer`);
        assert.not.ok(soft.owns((result.data as Float32Array).slice()), 'another array does not');
        assert.is(of('dispatches sample_narrow'), normal.dimension === 3 ? 1 : 0);
        assert.is(of('dispatches sample_tiles'), normal.dimension === 3 ? 0 : 1);
        assert.is(of('dispatches fill_normal'), normal.dimension === 3 ? 0 : 1);
        result.close();
      }),
  );

onSoftMetal('A batch is factored, drawn and weighed by one command buffer, and one dispatch each.', async (soft) => {
  const [n, size] = [5, 301];
  const device = loadAddon().addon!.openDevice('metal', { threads: 0 });
  const memory = [n * n, n, n, 1].map((length) => device.allocate(size * length * 4));
  const [factors, means, draws, scores] = memory.map((each) => new Float32Array(each));
  for (let b = 0; b < size; b++)
    factors!.set(
      covarianceOf(n).flatMap((row) => [...row]),
      b * n * n,
    );
  means!.fill(0);
  const { result, of } = await counted(soft, () => {
    const encoder = device.encoder();
    encoder.choleskyBatch(factors!, n, 1e-6);
    encoder.sampleBatch(factors!, means!, draws!, n, Uint32Array.of(1, 0, 2, 0, 3, 0));
    encoder.logDensityBatch(factors!, means!, draws!, scores!, n, new Float64Array(size));
    return encoder.commitSync();
  });
  assert.is(result.factor, 'gpu');
  assert.is(of('commits'), 1);
  assert.is(of('waits'), 1);
  assert.is(of('blitCopies'), 0);
  for (const kernel of ['cholesky_batch', 'keep_first_failed', 'sample_batch', 'densities'])
    assert.is(of(`dispatches ${kernel}`), 1, kernel);
  assert.ok(scores!.every((score) => score < 0 && Number.isFinite(score)));
  for (const each of memory) device.release(each);
  device.close();
});

onSoftMetal(
  'A second sample makes no pipeline, library or MPS object again, and reuses released buffers.',
  async (soft) =>
    forNormals(async (normal) => {
      for (const draw of Object.values(ways)) {
        (await draw(normal)).close();
        const { result, counts, of } = await counted(soft, () => draw(normal));
        const made = Object.keys(counts).filter((name) => /^(pipelines|libraries|MPS|buffers)/.test(name));
        assert.equal(made, [], `n = ${normal.dimension}`);
        assert.is(of('commits'), 1);
        result.close();
      }
    }),
);

onSoftMetal('A device uses the library that was built with the addon, and makes each pipeline once.', async (soft) => {
  const { counts, of } = await counted(soft, () =>
    forNormals(async (normal) => {
      for (const draw of Object.values(ways)) (await draw(normal)).close();
      normal.logPdfSync(new Float32Array(normal.dimension)).close();
    }),
  );
  assert.is(of('libraries'), 1);
  assert.is(of('builtLibraries'), 1);
  const pipelines = Object.entries(counts).filter(([name]) => name.startsWith('pipelines '));
  assert.ok(pipelines.length >= 10, 'every kernel has one');
  assert.equal(
    pipelines.filter(([, times]) => times !== 1),
    [],
  );
});

onSoftMetal('A device compiles the text, with safe mathematics, if the built library is refused.', async (soft) => {
  const draw = () => {
    using device = openDevice('metal');
    using normal = MultivariateNormal.fromCovarianceSync({ device, covariance: covarianceOf(3) });
    using rows = normal.sampleSync(50, { seed: 3 });
    return rows.toArray();
  };
  const draws = draw();
  // Before macOS 15 the options have other selectors; there the stand-in has only those.
  for (const system of [15, 14, 13]) {
    const { result, of } = await counted(soft, () => {
      soft.set('system', system);
      soft.set('libraryRefused', 1);
      return draw();
    });
    assert.is(of('libraries'), 1);
    assert.is(of('builtLibraries'), 0);
    assert.is(of('fastMathLibraries'), 0, `macOS ${system}`);
    assert.equal(result, draws);
  }
});

onSoftMetal(
  "The talk's pipeline is one command buffer and one wait, with the talk's four MPS classes.",
  async (soft) => {
    using device = openDevice('metal');
    for (const n of dimensions)
      for (const way of ['sync', 'async']) {
        const [mean, z] = [new Float32Array(n).fill(1), new Float32Array(n)];
        const options = { device, mean, covariance: covarianceOf(n), z, factor: 'mps' } as const;
        const { result, counts, of } = await counted(soft, () =>
          way === 'sync' ? MultivariateNormal.transformSync(options) : MultivariateNormal.transform(options),
        );
        const what = `${way}, n = ${n}`;
        assert.is(of('commits'), 1, what);
        // The CPU checks the input, so a commit that does not block waits on the queue's thread.
        assert.is(of('waits'), 1, what);
        const classes = Object.keys(counts).flatMap((name) => /^encoded (MPS\w+)$/.exec(name)?.[1] ?? []);
        const factor = ['MPSMatrixCopy', 'MPSMatrixDecompositionCholesky'];
        assert.equal(classes.sort(), [...factor, 'MPSMatrixSum', 'MPSMatrixVectorMultiplication'], what);
        const own = Object.keys(counts).flatMap((name) => /^dispatches (\w+)$/.exec(name)?.[1] ?? []);
        assert.equal(own, ['zero_upper'], what);
        assert.is(result.timings?.factor, 'gpu', what);
        assert.ok(soft.owns(result.data as Float32Array), what);
        assert.equal(result.data, new Float32Array(n).fill(1), 'L 0 + mean');
        result.close();
        if (way === 'async') assert.equal(madeByMps(counts), [], `${what}: every MPS object is made once`);
      }
  },
);

onSoftMetal('Timings say where a factor was made; MPS makes it only on request.', async (soft) => {
  using device = openDevice('metal');
  for (const [factor, where] of [
    [undefined, 'cpu'],
    ['auto', 'cpu'],
    ['cpu', 'cpu'],
    ['gpu', 'gpu'],
    ['mps', 'gpu'],
  ] as const) {
    const options = { device, covariance: covarianceOf(40), factor };
    const { result, of } = await counted(soft, () => MultivariateNormal.fromCovarianceSync(options));
    assert.is(result.timings.factor, where);
    assert.is(of('encoded MPSMatrixDecompositionCholesky'), factor === 'mps' ? 1 : 0, `${factor}`);
    using drawn = result.sampleSync(2);
    assert.is(drawn.timings?.factor, undefined, 'a sample makes none');
    result.close();
  }
});

onSoftMetal(
  'Small work stays on the CPU unless the commit is on the GPU already; timings say where it ran.',
  async (soft) => {
    const { COVARIUM_METAL_FROM: before } = process.env;
    try {
      process.env['COVARIUM_METAL_FROM'] = 'all';
      await throwsCode('ERR_OUT_OF_RANGE', 'COVARIUM_METAL_FROM (all) is not a whole number', () =>
        openDevice('metal'),
      );
      process.env['COVARIUM_METAL_FROM'] = '65536';
      using device = openDevice('metal');
      using normal = MultivariateNormal.fromCovarianceSync({ device, covariance: covarianceOf(3) });
      for (const [count, where] of [
        [10, 'cpu'],
        [30_000, 'gpu'],
      ] as const) {
        const { result, of } = await counted(soft, () => normal.sample(count, { seed: 1 }));
        assert.is(result.timings?.ranOn, where);
        assert.is(of('commits'), where === 'gpu' ? 1 : 0);
        result.close();
      }
      using large = device.vector(70_000);
      using few = device.vector(3);
      using other = device.vector(3);
      const ranOn = (commands: ReturnType<Device['commandBuffer']>) => commands.commitSync().ranOn;
      assert.is(ranOn(device.commandBuffer().fillNormal(large).fillNormal(few)), 'gpu');
      assert.is(ranOn(device.commandBuffer().fillNormal(few).fillNormal(large)), 'both');
      assert.is(ranOn(device.commandBuffer().fillNormal(few).sum(few, few, other)), 'cpu');
    } finally {
      process.env['COVARIUM_METAL_FROM'] = before;
    }
  },
);

onSoftMetal('A long sample is cut into several command buffers; its numbers are the same.', async (soft) => {
  using device = openDevice('metal');
  const n = 1000;
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance: covarianceOf(n) });
  // About 0.0055 s of a GPU of 1 TFLOP/s: sliceSeconds of objc/metal/encoding.mm is 0.005 over the stand-in.
  const count = 4500;
  const { result, of } = await counted(soft, () => normal.sample(count, { seed: 9 }));
  assert.ok(of('commits') >= 2, `${of('commits')} command buffers`);
  assert.ok(soft.owns(result.data as Float32Array));
  for (const firstRow of [0, count - 3]) {
    using few = normal.sampleSync(3, { seed: 9, firstRow });
    for (let row = 0; row < 3; row++)
      few.row(row).forEach((value, column) => {
        const found = result.get(firstRow + row, column);
        if (!(Math.abs(found - value) < 1e-4)) assert.unreachable(`(${firstRow + row}, ${column}) is ${found}`);
      });
  }
  result.close();
});

/** Commands that take a GPU of 50 GB/s about 25 ms; another `count` changes the time in proportion. */
function longWork(device: Device, rows: Matrix, row: Vector, count = 40): ReturnType<Device['commandBuffer']> {
  const commands = device.commandBuffer();
  for (let repeat = 0; repeat < count; repeat++) commands.addRow(rows, row);
  return commands;
}

onSoftMetal('Sliced work releases every command buffer that it has waited for, except the first.', async (soft) => {
  using device = openDevice('metal');
  using rows = device.matrix(1000, 4000);
  using row = device.vector(4000);
  const { of } = await counted(soft, () => longWork(device, rows, row, 80).commit());
  // The first, two in flight, one being encoded, and one that the GPU's thread has not released yet.
  assert.ok(of('commits') >= 8, `${of('commits')} command buffers`);
  assert.ok(of('most living MTLCommandBuffer') <= 5, `${of('most living MTLCommandBuffer')} at once`);
});

onSoftMetal('A wait looks at the status of a command buffer for a moment before it sleeps.', (soft) => {
  using device = openDevice('metal');
  using rows = device.matrix(1, 4);
  soft.reset();
  device.commandBuffer().fillNormal(rows).commitSync();
  assert.is(soft.count('waits'), 1);
  assert.ok(soft.count('statusReads') > 1, 'the status is read more than once');
});

onSoftMetal('An abort ends sliced work between two of its command buffers, with ERR_ABORTED.', async (soft) => {
  using device = openDevice('metal');
  using rows = device.matrix(1000, 4000);
  using row = device.vector(4000);
  const whole = await counted(soft, () => longWork(device, rows, row).commit());
  assert.ok(whole.of('commits') >= 4, `${whole.of('commits')} command buffers`);
  assert.is(whole.of('dispatches add_row'), 40);
  soft.reset();
  const leaving = new AbortController();
  const done = longWork(device, rows, row).commit({ signal: leaving.signal });
  while (soft.count('commits') === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  leaving.abort(new Error('enough'));
  const error = await throwsCode('ERR_ABORTED', '(enough)', () => done);
  assert.is((error.cause as Error).message, 'enough');
  const commits = soft.count('commits');
  assert.ok(commits < whole.of('commits'), `${commits} of ${whole.of('commits')} command buffers were committed`);
  device.commandBuffer().fillNormal(rows).commitSync();
  assert.is(rows.get(0, 0) !== 0, true, 'the device goes on');
});

/** Rows, columns and interior of the MPS products that were made, of two matrices or of a matrix and a vector. */
function productsIn(counts: Readonly<Record<string, number>>): { ofVector: boolean; sizes: number[] }[] {
  return madeByMps(counts).flatMap((name) => {
    const [, vector, ...sizes] = /^MPSMatrix(Vector)?Multiplication \w+ (\d+)x(\d+)x(\d+) /.exec(name) ?? [];
    return sizes.length === 3 ? [{ ofVector: vector !== undefined, sizes: sizes.map(Number) }] : [];
  });
}

onSoftMetal('No product reaches the sizes at which MPS is known to compute wrong numbers.', async (soft) => {
  soft.set('poison', 0); // untouched pages cost nothing
  const device = loadAddon().addon!.openDevice('metal', { threads: 0 });
  soft.reset();
  const tile = 2 ** 14;
  const shapes: readonly [m: number, n: number, k: number][] = [
    [2, 3, 40_000],
    [40_000, 2, 3],
    [3, 40_000, 2],
    [1, 40_000, 2],
    [40_000, 1, 2],
    [1, 2, 40_000],
    [2, tile, 2],
    [2, tile + 1, 2],
    [2, 20_000, 13_500], // 2 x 13,500 x 80,000 bytes is beyond 2^31
  ];
  for (const [m, n, k] of shapes) {
    soft.reset();
    soft.set('poison', 0);
    const memory = [m * k, k * n, m * n].map((length) => device.allocate(length * 4));
    const [a, b, c] = memory.map((each) => new Float32Array(each));
    a!.fill(1);
    if (b!.length < 1e6) b!.fill(0.5);
    else b!.fill(0, 0, 4096); // the address sanitizer fills that much of an allocation; the system zeroes the rest
    const encoder = device.encoder();
    encoder.product(a!, b!, c!, m, n, k, false, false, 1, 0);
    encoder.commitSync();
    const what = `${m} x ${n} x ${k}`;
    const products = productsIn(soft.counters());
    assert.ok(products.length > 0, `${what} is a product of MPS`);
    for (const { ofVector, sizes } of products) {
      const [rows, , interior] = sizes;
      assert.ok(Math.max(...sizes) <= tile, `${what}: ${sizes}`);
      if (!ofVector) assert.ok((rows! + 2 * interior!) * n * 4 < 2 ** 31, `${what}: ${sizes}`);
    }
    const expected = b!.length < 1e6 ? k / 2 : 0;
    assert.ok(
      c!.every((value) => value === expected),
      `${what} is right`,
    );
    for (const each of memory) device.release(each);
  }
  device.close();
});

onSoftMetal('No other class of MPS is given a dimension beyond 2^14 either.', async (soft) => {
  const device = loadAddon().addon!.openDevice('metal', { threads: 0 });
  soft.reset();
  const [n, count] = [2, 20_000];
  const memory = device.allocate(count * n * 4);
  const [rows, factor] = [new Float32Array(memory).fill(1), Float32Array.from(lowerFactor(n, 1))];
  const encoder = device.encoder();
  encoder.sum(rows, rows, rows);
  encoder.triangularProduct(factor, rows, n, true);
  encoder.commitSync();
  const made = madeByMps(soft.counters());
  for (const name of ['Sum', 'Multiplication'])
    assert.ok(
      made.some((each) => each.startsWith(`MPSMatrix${name} `)),
      `${name} is used: ${made}`,
    );
  const sizes = made.flatMap((name) => name.match(/\d+(?=x)|(?<=x)\d+/g) ?? []).map(Number);
  assert.ok(sizes.length > 0 && Math.max(...sizes) <= 2 ** 14, made.join(', '));
  device.release(memory);
  device.close();
});

test.run();
