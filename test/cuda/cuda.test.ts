// The CUDA device over a strict stand-in for NVIDIA's driver: its bits, its failures, and leaks.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { besideCuda, onSoftCuda, printedBesideCuda, roundsBesideCuda } from './on-cuda.ts';

const head = `
  const { openDevice, listDevices, MultivariateNormal, MultivariateNormalBatch, Matrix } = covarium;
  const covarianceOf = (n) => Matrix.from(
    Float32Array.from({ length: n * n }, (_, at) => (at % (n + 1) === 0 ? 2 : 1 / (1 + Math.abs(Math.floor(at / n) - at % n)))),
    { columns: n });
  const normalOn = (device, n) =>
    MultivariateNormal.fromCovarianceSync({ device, mean: Float32Array.from({ length: n }, (_, i) => i / 8), covariance: covarianceOf(n) });
  const bitsOf = ({ data }) => Buffer.from(data.slice().buffer).toString('base64');
  const failure = async (work) => { try { await work(); return 'none'; } catch (error) { return error.code + ': ' + error.message; } };
`;

onSoftCuda('Draws have the bits of the cpu device, whatever their shape.', async () => {
  const out = await printedBesideCuda(`${head}
    const cpu = openDevice('cpu'), gpu = openDevice('cuda');
    const exactOn = (device, n) => MultivariateNormal.fromCovarianceSync({ device, covariance: covarianceOf(n), dtype: 'float64' });
    for (const [n, count] of [[1, 1001], [2, 300], [7, 33], [64, 130], [129, 257], [300, 130]]) {
      const draws = [cpu, gpu].map((device) => bitsOf(exactOn(device, n).sampleSync(count, { seed: 7, stream: 3, firstRow: 5 })));
      if (draws[0] !== draws[1]) console.log('differ in float64', n, count);
    }
    for (const [n, count] of [[1, 1], [1, 70001], [2, 1000], [3, 4097], [8, 33], [16, 257], [64, 129], [65, 1], [96, 301], [97, 301], [112, 77], [113, 150], [127, 128], [129, 257], [300, 130]]) {
      const draws = [cpu, gpu].map((device) => bitsOf(normalOn(device, n).sampleSync(count, { seed: 7, stream: 3, firstRow: 5 })));
      if (draws[0] !== draws[1]) console.log('differ', n, count);
    }
    const large = await normalOn(gpu, 100).sample(40000, { seed: 1 });
    const same = normalOn(cpu, 100).sampleSync(40000, { seed: 1 });
    console.log(bitsOf(large) === bitsOf(same), large.timings.deviceMs > 0);
    cpu.close(); gpu.close();`);
  assert.is(out, 'true true');
});

onSoftCuda(
  'A device that is opened away from the JavaScript thread gives the same bits; two at once work.',
  async () => {
    const out = await printedBesideCuda(`${head}
    const { openDeviceAsync } = covarium;
    const gpu = openDevice('cuda');
    const others = await Promise.all(['cuda', 'auto'].map((kind) => openDeviceAsync(kind)));
    const draws = [gpu, ...others].map((device) => bitsOf(normalOn(device, 65).sampleSync(130, { seed: 7 })));
    console.log(others.map(({ kind }) => kind).join(), new Set(draws).size);
    for (const device of [gpu, ...others]) device.close();`);
    assert.is(out, 'cuda,cuda 1');
  },
);

onSoftCuda(
  'Batches, normals, and draws into whole or partial user memory have the bits of the cpu device.',
  async () => {
    const out = await printedBesideCuda(`${head}
    const cpu = openDevice('cpu'), gpu = openDevice('cuda');
    const results = await Promise.all([cpu, gpu].map(async (device) => {
      const models = 70, n = 5;
      const covariances = Array.from({ length: models }, () => covarianceOf(n));
      const batch = await MultivariateNormalBatch.fromCovariance({ device, means: Matrix.from(new Float32Array(models * n).fill(0.5), { columns: n }), covariances });
      const batchDraws = await batch.sampleVolume(9, { seed: 3 });
      const ofOne = [3, 4].map((b) => bitsOf(batch.at(b).sampleSync(50, { seed: b })));
      const whole = new Float32Array(1000 * 7 + 3), part = whole.subarray(3);
      await normalOn(device, 7).sample(1000, { seed: 5, out: part });
      const matrix = device.matrix(11, 13), commands = device.commandBuffer();
      commands.fillNormal(matrix, { seed: 9, stream: 2 });
      commands.sum(matrix, matrix, matrix);
      commands.fillNormal(matrix, { seed: 10 });
      await commands.commit();
      return [bitsOf(batchDraws), ...ofOne, bitsOf({ data: whole }), bitsOf(matrix)].join();
    }));
    console.log(results[0] === results[1]);
    cpu.close(); gpu.close();`);
    assert.is(out, 'true');
  },
);

const uploadedBy = async (work: string): Promise<number> => {
  const { code, stdout, stderr } = await besideCuda(`${head}
    const cpu = openDevice('cpu'), gpu = openDevice('cuda');
    ${work}
    cpu.close(); gpu.close();`);
  assert.is(code, 0, stderr);
  assert.not.match(stdout, 'false');
  assert.match(stderr, 'softcuda: blocks 0, pinned 0');
  return Number(/uploaded (\d+) bytes/.exec(stderr)?.[1]);
};

onSoftCuda(
  'The covariance and the mean are copied to the GPU once; the factor that is made there stays there.',
  async () => {
    const n = 200;
    const ofSelfTest = await uploadedBy('');
    const uploaded = await uploadedBy(`
    const [expected, normal] = [cpu, gpu].map((device) => normalOn(device, ${n}));
    for (const seed of [1, 2, 3, 4])
      console.log(bitsOf(expected.sampleSync(70, { seed })) === bitsOf(await normal.sample(70, { seed })));
    const { data } = await normal.covariance();
    console.log(Math.abs(data[0] - 2) < 1e-5);`);
    assert.is(uploaded - ofSelfTest, 4 * n * n + 4 * n);
  },
);

for (const [what, made, ofDraw] of [
  ['a normal, which share memory with others,', 'normalOn(device, 3)', 0],
  [
    'a Student-t',
    "covarium.MultivariateStudentT.fromScaleSync({ device, degreesOfFreedom: 3, scale: covarianceOf(3), dtype: 'float64' })",
    24, // its location
  ],
  [
    'a batch',
    `MultivariateNormalBatch.fromCovarianceSync({ device, means: Matrix.from(new Float32Array(8000).fill(2), { columns: 4 }), covariances: Array(2000).fill(covarianceOf(4)) })`,
    0,
  ],
] as const)
  onSoftCuda(`The mean and the factor of ${what} are copied to the GPU once.`, async () => {
    const uploadedAfter = (draws: number) =>
      uploadedBy(`
      const [expected, drawn] = [cpu, gpu].map((device) => {
        const others = Array.from({ length: 9 }, (_, i) => normalOn(device, i + 1));
        const made = ${made};
        others.slice(4).forEach((other) => other.close());
        return Array.from({ length: ${draws} }, (_, seed) => {
          others[seed % 4].sampleSync(5, { seed });
          return bitsOf(made[made.sampleVolumeSync === undefined ? 'sampleSync' : 'sampleVolumeSync'](9, { seed }));
        }).join();
      });
      console.log(expected === drawn);`);
    assert.is(await uploadedAfter(12), (await uploadedAfter(4)) + 8 * ofDraw);
  });

onSoftCuda('A factor that does not belong to a normal leaves nothing on the GPU after the next commit.', async () => {
  const out = await printedBesideCuda(`${head}
    const device = openDevice('cuda'), [a, x] = [device.matrix(200, 200), device.matrix(200, 200)];
    a.data.set(covarianceOf(200).data);
    const live = [];
    for (const factor of [false, true, false]) {
      const commands = device.commandBuffer();
      if (factor) commands.cholesky(a, { factor: 'gpu' });
      else commands.fillNormal(x);
      commands.commitSync();
      live.push(device.memory().liveBytes);
    }
    console.log(live[0] > 0 && live[0] === live[2]);
    device.close();`);
  assert.is(out, 'true');
});

onSoftCuda('Draws stay on the GPU, and are copied to the host only when they are read.', async () => {
  const [n, count] = [100, 5000];
  const { code, stdout, stderr } = await besideCuda(`${head}
    const cpu = openDevice('cpu'), gpu = openDevice('cuda');
    const [expected, normal] = [cpu, gpu].map((device) => normalOn(device, ${n}));
    const unread = await normal.sample(${count}, { seed: 1, onDevice: true });
    for (let seed = 2; seed < 5; seed++) await normal.sample(${count}, { seed, out: unread });
    console.log(bitsOf(expected.sampleSync(${count}, { seed: 4 })) === bitsOf(unread));
    // From now on it is a host array.
    unread.data.fill(3);
    const twice = gpu.matrix(${count}, ${n}), commands = gpu.commandBuffer();
    commands.sum(unread, unread, twice);
    await commands.commit();
    console.log(twice.data.every((value) => value === 6));
    await normal.sample(${count}, { seed: 4, out: unread });
    console.log(bitsOf(expected.sampleSync(${count}, { seed: 4 })) === bitsOf(unread));
    const closed = normal.sampleSync(${count}, { onDevice: true });
    closed.close();
    cpu.close(); gpu.close();`);
  assert.equal([code, stdout.split('\n')], [0, ['true', 'true', 'true']], stderr);
  const downloaded = Number(/downloaded (\d+)/.exec(stderr)?.[1]);
  // One copy when it was read, one when it was drawn into again, and the self-test's.
  const once = 4 * n * count;
  assert.ok(downloaded >= 2 * once && downloaded < 2 * once + 900_000, `${downloaded}`);
  assert.match(stderr, 'softcuda: blocks 0, pinned 0');
});

onSoftCuda('Every command, of the GPU or of the CPU beside it, can use data that stay on the GPU.', async () => {
  const out = await printedBesideCuda(`${head}
    const results = [], densities = [];
    for (const kind of ['cpu', 'cuda']) {
      const device = openDevice(kind), normal = normalOn(device, 70), onDevice = true;
      const draws = normal.sampleSync(300, { seed: 1, onDevice });
      const [weights, more] = [new Float32Array(70).fill(1 / 70), normal.sampleSync(300, { seed: 2, onDevice })];
      const product = await draws.multiply(Matrix.from(weights, { columns: 1 }), { onDevice });
      const again = await product.transpose({ onDevice });
      const density = await normal.logPdf(more);
      const rows = normal.sampleSync(300, { seed: 3, onDevice }), commands = device.commandBuffer();
      commands.addRow(rows, Matrix.from(weights, { columns: 70 }), 2);
      commands.fillNormal(more, { seed: 3 });
      commands.sum(rows, more, more);
      commands.commitSync();
      const small = normal.sampleSync(1, { seed: 5, onDevice });
      const spread = await normal.sampleSync(200, { seed: 6, onDevice }).covariance();
      results.push([more, small, spread].map((each) => bitsOf(each)).join());
      densities.push(density.toArray());
      const own = draws.toArray().map((row) => row.reduce((sum, value) => sum + value / 70, 0));
      console.log(again.row(0).every((value, i) => Math.abs(value - own[i]) < 1e-5));
      device.close();
    }
    const [here, there] = densities;
    console.log(results[0] === results[1] && here.every((value, i) => Math.abs(value - there[i]) < 1e-4 * Math.abs(value)));
    const device = openDevice('cuda'), lost = normalOn(device, 70).sampleSync(300, { onDevice: true });
    device.close();
    console.log(await failure(() => lost.data));
    console.log(await failure(() => normalOn(openDevice('cpu'), 2).sample(1, { onDevice: 1 })));`);
  const [cpu, cuda, same, closed, wrong] = out.split('\n');
  assert.equal([cpu, cuda, same], ['true', 'true', 'true']);
  assert.match(closed!, /^ERR_CLOSED: /);
  assert.match(wrong!, /^ERR_INVALID_ARGUMENT: .*onDevice/);
});

onSoftCuda(
  'A factor has the bits of the cpu device, and a pivot that is not positive is named in every block.',
  async () => {
    const out = await printedBesideCuda(
      `${head}
    const cpu = openDevice('cpu'), gpu = openDevice('cuda');
    const made = (device, values, n, factor) => {
      const a = Matrix.from(values.slice(), { columns: n }), commands = device.commandBuffer();
      commands.cholesky(a, { factor });
      const timings = commands.commitSync();
      return [bitsOf(a), timings.factor];
    };
    for (const Kind of [Float32Array, Float64Array])
      for (const n of [1, 2, 5, 64, 65, 127, 128, 129, 300]) {
        const values = Kind.from(covarianceOf(n).data);
        // Entries above the diagonal are not read.
        for (let i = 0; i < n; i++) values.fill(NaN, i * n + i + 1, (i + 1) * n);
        const [expected, actual] = [made(cpu, values, n, 'auto'), made(gpu, values, n, 'gpu')];
        if (expected[0] !== actual[0] || actual[1] !== 'gpu') console.log('differ', Kind.name, n, actual[1]);
      }
    for (const n of [3, 130, 300])
      for (const pivot of [0, 1, 64, 127, 128, 129, 255, 256, n - 1].filter((each) => each < n))
        for (const bad of [-1, 0, NaN, Infinity]) {
          const values = Float32Array.from(covarianceOf(n).data);
          values[pivot * (n + 1)] = bad;
          const error = await failure(() => made(gpu, values, n, 'gpu'));
          if (!error.startsWith('ERR_NOT_POSITIVE_DEFINITE: ') || !error.includes('pivot (' + pivot + ')')) console.log(n, pivot, bad, error);
        }
    console.log(made(gpu, Float32Array.of(4), 1, 'cpu')[1]);
    cpu.close(); gpu.close();`,
    );
    assert.is(out, 'cpu');
  },
);

onSoftCuda('A GPU that is slow in float64 leaves it to the CPU.', async () => {
  const facts =
    "const { facts } = listDevices().find(({ kind }) => kind === 'cuda'); console.log(facts['on the GPU']);";
  const launched = async (setting: Record<string, string>): Promise<string> => {
    const { stdout, stderr } = await besideCuda(
      `${head}
      const device = openDevice('cuda');
      const normal = await MultivariateNormal.fromCovariance({ device, covariance: covarianceOf(20), dtype: 'float64' });
      console.log(bitsOf(await normal.sample(100, { seed: 1 })));
      ${facts}`,
      setting,
    );
    const bytes = Number(/downloaded (\d+)/.exec(stderr)?.[1]);
    return `${stdout.split('\n')[1]}, ${bytes}`;
  };
  const [good, bad] = [await launched({}), await launched({ SOFTCUDA_FLOAT64: '64' })];
  assert.match(good, /^normals, draws, products, factors, solves, densities and summaries in float32 and float64;/);
  assert.match(bad, /^normals, draws, products, factors, solves, densities and summaries in float32;/);
  assert.ok(Number(good.split(', ').at(-1)) > Number(bad.split(', ').at(-1)));
});

onSoftCuda('Decompositions and user kernels work too, by the CPU beside the GPU.', async () => {
  const out = await printedBesideCuda(`${head}
    const device = openDevice('cuda');
    const normal = await MultivariateNormal.fromCovariance({ device, covariance: [[4, 2], [2, 5]], dtype: 'float64' });
    const draws = await normal.sample(3, { seed: 1 });
    const { values } = await covarianceOf(3).eigh({ device });
    console.log(draws.dtype, normal.timings.factor, values.length, device.dtypes.join());
    const kernel = await device.kernel('kernel void f(device float* a, uint i [[thread_position_in_grid]]) { a[i] += 1; }');
    const away = await normalOn(device, 3).sample(2, { seed: 1, onDevice: true });
    await kernel.run({ grid: 6, arguments: { a: away } });
    console.log(away.data.join() === normalOn(device, 3).sampleSync(2, { seed: 1 }).data.map((value) => value + 1).join());
    device.close();`);
  assert.equal(out.split('\n'), ['float64 gpu 3 float32,float64', 'true']);
});

onSoftCuda('A cancelled commit stops, one that waits for it stopped before, and the device goes on.', async () => {
  const out = await printedBesideCuda(`${head}
    const device = openDevice('cuda'), normal = normalOn(device, 64), settled = [];
    const [running, waiting] = [1, 2].map((name) => {
      const abort = new AbortController();
      const done = failure(() => normal.sample(400000, { seed: 1, signal: abort.signal }));
      return { abort, done: done.then((code) => settled.push(name, code.slice(0, 11))) };
    });
    setTimeout(() => waiting.abort.abort(), 20);
    await waiting.done;
    running.abort.abort();
    await running.done;
    console.log(settled.join(' '), (await normal.sample(2, { seed: 1 })).rows);
    device.close();`);
  assert.is(out, '2 ERR_ABORTED 1 ERR_ABORTED 2');
});

onSoftCuda(
  'A GPU without memory is reported, and works again later; one that fails is lost, but the CPU is not.',
  async () => {
    const sampling = `${head}
    const device = openDevice('cuda'), normal = normalOn(device, 3);
    console.log(await failure(() => normal.sample(1000, { seed: 1 })));
    console.log(await failure(() => normal.sample(1000, { seed: 1 })));
    const cpu = openDevice('cpu');
    console.log(normalOn(cpu, 3).sampleSync(2, { seed: 1 }).rows);
    cpu.close(); device.close();`;
    // Calls 1 to 13 belong to the self-test.
    const full = await besideCuda(sampling, { SOFTCUDA_FAULT: 'cuLaunchKernel,2,14' });
    const [first, second, rows] = full.stdout.split('\n');
    assert.match(first!, /^ERR_OUT_OF_MEMORY: .*the GPU has no memory left/);
    assert.equal([second, rows], ['none', '2']);
    const lost = await besideCuda(sampling, { SOFTCUDA_FAULT: 'cuLaunchKernel,719,14' });
    const [failed, again, others] = lost.stdout.split('\n');
    assert.match(failed!, /^ERR_DEVICE_FAILED: .*error 719/);
    assert.match(again!, /^ERR_DEVICE_FAILED: .*earlier commit: close the device/);
    assert.is(others, '2');
  },
);

const refusals: readonly [sentence: string, setting: Record<string, string>, reason: RegExp][] = [
  ['without a GPU', { SOFTCUDA_GPUS: '0' }, /finds no GPU/],
  ['with a driver that is too old', { SOFTCUDA_VERSION: '10020' }, /too old: it serves CUDA \(10\.2\), not \(11\.0\)/],
  ['with a driver that does not start', { SOFTCUDA_FAULT: 'cuInit,999,0' }, /does not start \(error 999/],
  [
    'with COVARIUM_CUDA_FROM that is not a number',
    { COVARIUM_CUDA_FROM: 'all' },
    /COVARIUM_CUDA_FROM \(all\) is not a whole number/,
  ],
  ['without a driver', { LD_LIBRARY_PATH: '' }, /can't be loaded \(libcuda\.so\.1/],
  ['on a GPU that is too old', { SOFTCUDA_MAJOR: '6' }, /too old: it has compute capability \(6\.0\), not \(7\.0\)/],
  ['on a GPU without free memory', { SOFTCUDA_FAULT: 'cuDevicePrimaryCtxRetain,2,0' }, /no memory left/],
  ['without memory to compute in', { SOFTCUDA_FAULT: 'cuMemAlloc_v2,2,0' }, /no memory left/],
  [
    'where the kernels do not load',
    { SOFTCUDA_FAULT: 'cuModuleLoadData,222,0' },
    /Loading the kernels fails \(error 222/,
  ],
];
for (const [sentence, setting, reason] of refusals)
  onSoftCuda(`Opening it ${sentence} is refused with the reason, and openDevice() takes the CPU.`, async () => {
    const { stdout, code } = await besideCuda(
      `${head}
      const { available, reason } = listDevices().find(({ kind }) => kind === 'cuda');
      const device = openDevice();
      console.log(available, device.kind, reason);`,
      setting,
    );
    assert.is(code, 0);
    assert.match(stdout, /^false cpu /);
    assert.match(stdout, reason);
  });

onSoftCuda("It opens beside a CPU that uses a library's products; draws of the two agree to rounding.", async () => {
  const out = await printedBesideCuda(
    `${head}
    const isThere = listDevices().find(({ kind }) => kind === 'cpu').available;
    const draws = (isThere ? ['cpu', 'cuda'] : []).map((kind) => {
      const device = openDevice(kind);
      const { data } = normalOn(device, 150).sampleSync(300, { seed: 1 });
      device.close();
      return data;
    });
    console.log(isThere ? draws[0].every((value, i) => Math.abs(value - draws[1][i]) < 1e-3) : 'no such library');`,
    { COVARIUM_BLAS: 'libopenblas.so.0' },
  );
  assert.match(out, /^(?:true|no such library)$/);
});

onSoftCuda('A part of a GPU is chosen by the UUID that nvidia-smi shows, which begins with MIG.', async () => {
  const out = await printedBesideCuda(
    `${head}
    const device = openDevice('cuda', { gpu: 'MIG-abababab-abab-abab-abab-ababababab00' });
    console.log(device.name);
    device.close();`,
    { SOFTCUDA_MIG: '1' },
  );
  assert.is(out, 'Soft GPU 0 MIG 1g.5gb');
});

onSoftCuda('Memory does not grow, and results that a user forgets to close do no harm at exit.', async () => {
  const out = await printedBesideCuda(`${head}
    const device = openDevice('cuda'), normal = normalOn(device, 70);
    // Each byte is counted, so a leak of one round shows after the next.
    const live = [];
    for (let round = 0; round < 30; round++) {
      const draws = await normal.sample(5000, { seed: round });
      draws.close();
      if (round % 10 === 9) live.push(JSON.stringify(device.memory()));
    }
    console.log(new Set(live).size);
    device.close();`);
  assert.is(out, '1');
  const forgotten = await besideCuda(`${head}
    const device = openDevice('cuda'), normal = normalOn(device, 70);
    normal.sample(50000, { seed: 1 }).catch(() => {});
    setTimeout(() => process.exit(3), 5);`);
  assert.equal([forgotten.code, forgotten.signal], [3, null], forgotten.stderr);
});

onSoftCuda('A process ends properly during a commit, even if the driver was loaded after another device.', async () => {
  const { code, signal, stderr } = await besideCuda(`${head}
    const cpu = openDevice('cpu'), device = openDevice('cuda');
    device.commandBuffer().fillNormal(device.vector(1 << 25)).commit().catch(() => {});
    setTimeout(() => process.exit(3), 20);`);
  assert.equal([code, signal], [3, null], stderr);
});

onSoftCuda('A model of a batch that is larger than a slice also has the bits of the cpu device.', async () => {
  const out = await printedBesideCuda(`${head}
    for (const dtype of ['float32', 'float64']) {
      const draws = ['cpu', 'cuda'].map((kind) => {
        const device = openDevice(kind);
        const batch = MultivariateNormalBatch.fromCovarianceSync({ device, dtype, means: Matrix.from(new Float32Array(128).fill(1), { columns: 64 }), covariances: [covarianceOf(64), covarianceOf(64)] });
        const { data } = batch.sampleVolumeSync(65540, { seed: 2, stream: 4294967295 });
        device.close();
        return data;
      });
      console.log(Buffer.compare(...draws.map((data) => Buffer.from(data.buffer, data.byteOffset, data.byteLength))));
    }`);
  assert.is(out, '0\n0');
});

for (const plans of [
  ['use', 'use', 'use'],
  ['forget', 'use'],
  ['pend+', 'use'],
  ['settle+', 'pend+'],
])
  onSoftCuda(`Worker threads share the GPU (${plans.join(', ')}).`, async () => {
    const { code, stdout, stderr } = await roundsBesideCuda(plans);
    assert.is(code, 0, `${stdout}\n${stderr}`);
  });

test.run();
