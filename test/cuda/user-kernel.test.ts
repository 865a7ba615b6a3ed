// User kernels on the CUDA device: what is compiled for the GPU, what a launch passes to it, and what the CPU beside
// it does. The stand-in for the driver runs the PTX that clang makes.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { onClang, onSoftCuda, printedBesideCuda } from './on-cuda.ts';

const text = `#include <metal_stdlib>
using namespace metal;
struct Step { float3 by; uint times; };
kernel void walk(device float4* points [[buffer(0)]], device const float* scale, constant Step& s, constant int* more,
                 uint2 i [[thread_position_in_grid]], uint2 all [[threads_per_grid]]) {
  const uint at = i.y * all.x + i.x;
  points[at].xyz += s.by * float(s.times) * scale[0];
  points[at].w = more[1] + at;
}`;

const head = `
  const text = ${JSON.stringify(text)};
  const gpu = covarium.openDevice('cuda');
  const failure = async (work) => { try { await work(); return 'none'; } catch (error) { return error.code + ': ' + error.message; } };
`;

onClang('A kernel runs on the GPU over user memory, device memory, and data that stay on the GPU.', async () => {
  const out = await printedBesideCuda(
    `${head}
    const kernel = await gpu.kernel(text);
    console.log(kernel.notes.length, kernel.maxTotalThreadsPerThreadgroup, kernel.argumentNames.join());
    const expected = (count, w) => Array.from({ length: count }, (_, at) => [3, 6, 9, w + at]).flat().join();
    const rest = { scale: [0.5], s: { by: [2, 4, 6], times: 3 }, more: [7, 8] };
    const own = new Float32Array(4 * 70);
    const { ranOn } = await kernel.run({ grid: [7, 10], arguments: { points: own, ...rest } });
    console.log(ranOn, own.join() === expected(70, 8));
    const matrix = gpu.matrix(100_000, 4);
    kernel.runSync({ grid: [100_000, 1], arguments: { points: matrix, ...rest } });
    console.log(matrix.data.join() === expected(100_000, 8));
    const normal = await covarium.MultivariateNormal.fromDiagonal({ device: gpu, variances: [1, 1, 1, 1] });
    const kept = await normal.sample(70, { seed: 1, onDevice: true });
    const before = normal.sampleSync(70, { seed: 1 }).data;
    await gpu.commandBuffer()
      .launch(kernel, { grid: [70, 1], arguments: { points: kept, ...rest } })
      .launch(kernel, { grid: [70, 1], arguments: { points: kept, ...rest } }).commit();
    console.log(kept.data.every((x, at) => (at % 4 === 3 ? x === 8 + (at >> 2) : x === Math.fround(Math.fround(before[at] + 3 * (at % 4 + 1)) + 3 * (at % 4 + 1)))));
    gpu.close();`,
  );
  assert.equal(out.split('\n'), ['0 1024 points,scale,s,more', 'gpu true', 'true', 'true']);
});

onClang('A grid of more groups than one launch can have is launched in parts.', async () => {
  const out = await printedBesideCuda(
    `${head}
    const kernel = await gpu.kernel(text);
    const own = new Float32Array(4 * 70_000);
    await kernel.run({ grid: [1, 70_000], threadgroup: 1, arguments: { points: own, scale: [1], s: { by: [1, 1, 1], times: 1 }, more: [0, 0] } });
    console.log(own.every((x, at) => x === (at % 4 === 3 ? at >> 2 : 1)));
    gpu.close();`,
  );
  assert.is(out, 'true');
});

onClang('A launch that does not fit is refused, and nothing runs.', async () => {
  const out = await printedBesideCuda(
    `${head}
    const kernel = await gpu.kernel(text);
    const rest = { scale: [1], s: { by: [1, 1, 1], times: 1 }, more: [0, 0] };
    const points = new Float32Array(8);
    console.log(await failure(() => kernel.run({ grid: 2, threadgroup: 2048, arguments: { points, ...rest } })));
    console.log(await failure(() => kernel.run({ grid: 2, arguments: { points: new Float32Array(3), ...rest } })));
    const normal = await covarium.MultivariateNormal.fromDiagonal({ device: gpu, variances: [1] });
    const kept = await normal.sample(16, { onDevice: true });
    const other = covarium.openDevice('cuda');
    console.log(await failure(() => other.commandBuffer().launch(kernel, { grid: 2, arguments: { points, ...rest } }).commit()));
    console.log(points.join());
    other.close(); gpu.close();`,
  );
  const [threads, shape, foreign, values] = out.split('\n');
  assert.match(threads!, 'ERR_OUT_OF_RANGE');
  assert.match(shape!, 'ERR_SHAPE');
  assert.match(foreign!, 'ERR_FOREIGN_BUFFER');
  assert.is(values, '0,0,0,0,0,0,0,0');
});

onClang('A kernel that the GPU does not take runs on the CPU beside it, and the notes say why.', async () => {
  const sine = 'kernel void sine(device float* x, uint i [[thread_position_in_grid]]) { x[i] = metal::sin(x[i]); }';
  const out = await printedBesideCuda(
    `${head}
    const x = Float32Array.of(0, 1);
    for (const each of [text, ${JSON.stringify(`#include <metal_stdlib>\n${sine}`)}]) {
      const kernel = await gpu.kernel(each);
      console.log(kernel.notes.join());
      if (kernel.name === 'sine') console.log((await kernel.run({ grid: 2, arguments: { x } })).ranOn, x[0], x[1].toFixed(3));
    }
    console.log(await failure(() => gpu.kernel(text.replace('more[1]', 'less[1]'))));
    gpu.close();`,
    { SOFTCUDA_REFUSED: 'covarium_kernel' },
  );
  const [driver, clang, ran, wrong] = out.split('\n');
  assert.match(driver!, 'Runs on the CPU beside the GPU. The driver does not take the kernel (');
  assert.match(clang!, /^Runs on the CPU beside the GPU\. .+/);
  assert.is(ran, 'cpu 0 0.841');
  assert.match(wrong!, /ERR_KERNEL_COMPILE.*less.*kernel\.metal:8:/);
});

onClang(
  'In check mode the CPU runs a kernel, over draws that stay on the GPU too, and the device goes on.',
  async () => {
    const beyond = 'kernel void f(device float* x, uint i [[thread_position_in_grid]]) { x[i] = x[i + 1]; }';
    const out = await printedBesideCuda(`${head}
    const normal = await covarium.MultivariateNormal.fromDiagonal({ device: gpu, variances: [1] });
    const [draws, expected] = [await normal.sample(8, { seed: 1, onDevice: true }), (await normal.sample(8, { seed: 1 })).toArray()];
    const kernel = await gpu.kernel(${JSON.stringify(beyond)}, { check: true });
    console.log(kernel.notes[0]);
    console.log(await failure(() => kernel.run({ grid: 8, arguments: [draws] })));
    console.log((await kernel.run({ grid: 7, arguments: [new Float32Array(8)] })).ranOn, draws.at(7, 0) === expected[7][0]);
    const typed = await gpu.compute({ x: covarium.output(covarium.f32) }, new Function('{ x }', '{ x: i }', 'x[i + 1] = 1;'), { check: true });
    console.log(await failure(() => typed.run({ grid: 8, arguments: { x: new Float32Array(8) } })));
    gpu.close();`);
    const [note, failed, ran, typed] = out.split('\n');
    assert.is(note, 'Runs on the CPU beside the GPU. Check mode is of the CPU alone.');
    assert.match(failed!, /^ERR_KERNEL_CHECK.*element \(8\) of buffer \(x\)/);
    assert.is(ran, 'cpu true');
    assert.match(typed!, /^ERR_KERNEL_CHECK.*element \(8\)/);
  },
);

onSoftCuda('Without a compiler for the GPU the notes say so.', async () => {
  const out = await printedBesideCuda(
    `${head}
    console.log((await gpu.kernel(text)).notes.join());
    gpu.close();`,
    { COVARIUM_CXX: 'g++' },
  );
  assert.is(
    out,
    'Runs on the CPU beside the GPU. Neither libnvrtc.so nor clang++ is found, which make kernels for it.',
  );
});

test.run();
