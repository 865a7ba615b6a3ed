// A user's kernel on the Metal device, with Metal's compiler and the stand-in's faults. test/kernel tests what
// kernels compute, on every device.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Device, openDevice, Texture } from '../../lib/index.ts';
import { throwsCode } from '../harness/throws-code.ts';
import { onSoftMetal } from './on-metal.ts';

const scaleAdd = `#include <metal_stdlib>
using namespace metal;
struct Scale { uint count; float by; };
kernel void scale_add(device const float* a [[buffer(0)]], constant Scale& scale [[buffer(2)]],
                      device float* out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  if (i < scale.count) out[i] += scale.by * a[i];
}
`;

// The stand-in has compiled its kernels already: many texts at no cost.
const quick = (i: number) => `// ${i}
// softmetal: kernels of msl/
struct MatrixParams { uint n, m; };
kernel void zero_upper(device float* a [[buffer(0)]], constant MatrixParams& params [[buffer(1)]],
                       uint2 position [[thread_position_in_grid]]) {}
`;

const a = Float32Array.of(1, 2, 3, 4, 5);
const scale = { count: 5, by: 2 };

onSoftMetal(
  'Host arrays are copied in and out, device memory is not; each launch sees what the one before it wrote.',
  async () => {
    using device = openDevice('metal');
    const kernel = await device.kernel(scaleAdd);
    const host = new Float32Array(5);
    await kernel.run({ grid: 5, arguments: { a, scale, out: host } });
    assert.equal([...host], [2, 4, 6, 8, 10]);
    using out = device.vector(5);
    const launch = { grid: 5, arguments: { a: out, scale, out: host } };
    const into = { grid: 5, arguments: { a: host, scale, out } };
    const commands = device.commandBuffer();
    for (const each of [into, launch, into]) commands.launch(kernel, each);
    await commands.commit();
    // out = 2 h; h = h + 2 out = 5 h; out = 2 h + 10 h.
    assert.equal([...host], [10, 20, 30, 40, 50]);
    assert.equal([...out.toArray()], [24, 48, 72, 96, 120]);
  },
);

onSoftMetal(
  'A text is compiled once for each name and constants; the number of kept pipelines is bounded.',
  async (soft) => {
    using device = openDevice('metal');
    soft.reset();
    await Promise.all([await device.kernel(scaleAdd), device.kernel(scaleAdd), device.kernel(scaleAdd)]);
    assert.is(soft.count('pipelines scale_add'), 1);
    await device.kernel(quick(0));
    await device.kernel(quick(0));
    assert.is(soft.count('pipelines zero_upper'), 1);
    for (let i = 1; i <= 64; i++) await device.kernel(quick(i));
    const { MTLLibrary: libraries } = soft.ledger();
    assert.is(libraries, 1, 'libraries are not kept');
    await device.kernel(quick(64));
    assert.is(soft.count('pipelines zero_upper'), 65);
    await device.kernel(quick(0));
    assert.is(soft.count('pipelines zero_upper'), 66, 'the oldest is gone');
  },
);

onSoftMetal('Function constants reach the kernel, each type by its own bytes.', async () => {
  using device = openDevice('metal');
  const source = `#include <metal_stdlib>
using namespace metal;
constant float by [[function_constant(0)]];
constant int plus [[function_constant(3)]];
constant bool negate [[function_constant(4)]];
constant uint other [[function_constant(5)]];
constant uint least = is_function_constant_defined(other) ? other : 7;
kernel void f(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  const float value = by * float(i) + float(plus) + float(least);
  out[i] = negate ? -value : value;
}
`;
  const out = new Float32Array(3);
  const kernel = await device.kernel(source, { constants: { by: 0.5, plus: -20, negate: true } });
  await kernel.run({ grid: 3, arguments: { out } });
  assert.equal([...out], [13, 12.5, 12]);
  const other = await device.kernel(source, { constants: { by: 2, plus: 1, negate: false, other: 100 } });
  await other.run({ grid: 3, arguments: [out] });
  assert.equal([...out], [101, 103, 105]);
});

onSoftMetal(
  'If an argument has more bytes than setBytes takes, it goes into a buffer; threadgroup memory is rounded up as Metal requires.',
  async () => {
    using device = openDevice('metal');
    const kernel = await device.kernel(`#include <metal_stdlib>
using namespace metal;
struct Table { float entries[2000]; };
kernel void turn(constant Table& table [[buffer(0)]], device float* out [[buffer(1)]],
                 threadgroup float* shared [[threadgroup(0)]], uint i [[thread_position_in_threadgroup]]) {
  shared[i] = table.entries[1000 * i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = shared[1 - i];
}
`);
    const out = new Float32Array(2);
    const table = { entries: Array.from({ length: 2000 }, (_, i) => i) };
    await kernel.run({ grid: 2, threadgroup: 2, arguments: { table, out, shared: { threadgroupBytes: 8 } } });
    assert.equal([...out], [1000, 0]);
  },
);

onSoftMetal("The compiler's message is passed on, with the line in the user's own text.", async (soft) => {
  using device = openDevice('metal');
  const wrong = scaleAdd.replace('scale.by', 'scale.times');
  const error = await throwsCode('ERR_KERNEL_COMPILE', 'times', () => device.kernel(wrong));
  assert.is(error.line, 6);
  assert.is(error.path, 'kernel.metal');
  soft.set('compileFails', 1);
  await throwsCode('ERR_KERNEL_COMPILE', 'softmetal_fault', () => device.kernel(scaleAdd));
  soft.set('compileFails', 0);
  soft.set('missingFunction', 'scale_add');
  await throwsCode('ERR_INVALID_ARGUMENT', 'scale_add', () => device.kernel(scaleAdd));
  soft.set('missingFunction', '');
  soft.set('pipelineFails', 'scale_add');
  await throwsCode('ERR_KERNEL_COMPILE', 'interrupted', () => device.kernel(scaleAdd));
  soft.set('pipelineFails', '');
  await works(device);
});

onSoftMetal(
  'An argument that the compiler sees differently from the text is refused, and the error shows both.',
  async (soft) => {
    using device = openDevice('metal');
    for (const [fault, code, ...texts] of [
      ['a:name', 'ERR_UNSUPPORTED', '(another)', '(a)'],
      ['out:index', 'ERR_UNSUPPORTED', '(8)', 'nothing'],
      ['a:written', 'ERR_UNSUPPORTED', 'writes', 'only read'],
      ['scale:size', 'ERR_INVALID_ARGUMENT', '12 bytes', '8 bytes'],
      ['scale:member', 'ERR_INVALID_ARGUMENT', 'by at 8', 'by at 4'],
    ] as const) {
      soft.set('reflectionFault', fault);
      // A compiled text is kept with its reflection, so each text here is different.
      const { message } = await throwsCode(code, texts[0], () => device.kernel(`${scaleAdd}// ${fault}\n`));
      for (const text of texts) assert.ok(message.includes(text), message);
    }
    soft.set('reflectionFault', 'scale:unused');
    await works(device);
  },
);

onSoftMetal(
  'Threads that wait at different barriers go on: a simdgroup barrier waits only for the threads that reach it.',
  async () => {
    using device = openDevice('metal');
    const kernel = await device.kernel(`#include <metal_stdlib>
using namespace metal;
kernel void part(device float* out [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  if (i == 0) threadgroup_barrier(mem_flags::mem_threadgroup);
  else simdgroup_barrier(mem_flags::mem_none);
  out[i] = 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
`);
    const out = new Float32Array(64);
    await kernel.run({ grid: 64, threadgroup: 64, arguments: { out } });
    assert.ok(out.every((value) => value === 1));
  },
);

onSoftMetal(
  'A kernel may outlive its device: then it cannot be launched, and holds no object of Metal.',
  async (soft) => {
    const device = openDevice('metal');
    const kernel = await device.kernel(scaleAdd);
    device.close();
    assert.equal(soft.ledger(), {}, 'the kernel is alive, and its pipeline is not');
    await throwsCode('ERR_CLOSED', 'closed', () =>
      kernel.run({ grid: 5, arguments: { a, scale, out: new Float32Array(5) } }),
    );
    await throwsCode('ERR_CLOSED', 'closed', () => device.kernel(scaleAdd));
  },
);

onSoftMetal('A device that is closed while a kernel is being compiled leaves nothing behind.', async () => {
  const device = openDevice('metal');
  const compiling = device.kernel(`${scaleAdd}// slow\n`);
  await new Promise((resolve) => setTimeout(resolve, 20));
  device.close();
  await throwsCode('ERR_CLOSED', 'closed', () => compiling);
});

onSoftMetal('Threadgroup memory of an earlier kernel of the commit does not count for a later one.', async () => {
  using device = openDevice('metal');
  const kernel = await device.kernel(`#include <metal_stdlib>
using namespace metal;
kernel void turn(device float* out [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  threadgroup float all[8192];
  all[i] = float(i);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = all[63 - i];
}
`);
  using rows = device.matrix(3, 300);
  using norms = device.vector(3);
  using out = device.vector(64);
  await device
    .commandBuffer()
    .squaredNorms(rows, norms)
    .launch(kernel, { grid: 64, threadgroup: 64, arguments: { out } })
    .squaredNorms(rows, norms)
    .commit();
  assert.is(out.get(0), 63);
});

onSoftMetal("Constant memory begins at multiples of 256 bytes, except on Apple's own GPUs.", async (soft) => {
  const source = `#include <metal_stdlib>
using namespace metal;
kernel void copy(constant float* from [[buffer(0)]], device float* out [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) { out[i] = from[i]; }
`;
  for (const [family, at] of [
    [1007, 1],
    [0, 64],
  ] as const) {
    soft.set('family', family);
    using device = openDevice('metal');
    using from = device.vector(80);
    from.data.fill(2);
    const kernel = await device.kernel(source);
    const out = new Float32Array(4);
    const copy = (first: number) =>
      kernel.run({ grid: 4, arguments: { from: from.data.subarray(first, first + 4), out } });
    await copy(at);
    assert.equal([...out], [2, 2, 2, 2]);
    if (family === 0) await throwsCode('ERR_INVALID_ARGUMENT', 'multiples of (256)', () => copy(1));
  }
});

onSoftMetal('A view that begins at an address that no GPU can take is refused.', async () => {
  using device = openDevice('metal');
  const kernel = await device.kernel(`#include <metal_stdlib>
using namespace metal;
kernel void count(device uchar* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = uchar(i); }
`);
  using bytes = device.matrix(4, 4);
  const view = new Uint8Array(bytes.data.buffer, 3, 8);
  await throwsCode('ERR_INVALID_ARGUMENT', '(3)', () => kernel.run({ grid: 8, arguments: { out: view } }));
  const vectors = await device.kernel(`#include <metal_stdlib>
using namespace metal;
kernel void count(device float4* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = float4(i); }
`);
  const between = bytes.data.subarray(1, 5);
  await throwsCode('ERR_INVALID_ARGUMENT', '(16)', () => vectors.run({ grid: 1, arguments: { out: between } }));
  const host = new Uint8Array(12);
  await kernel.run({ grid: 8, arguments: { out: host.subarray(3, 11) } });
  assert.equal([...host], [0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 0]);
});

async function works(device: Device): Promise<void> {
  const out = new Float32Array(5);
  const kernel = await device.kernel(`${scaleAdd}// works\n`);
  await kernel.run({ grid: 5, arguments: { a, scale, out } });
  assert.equal([...out], [2, 4, 6, 8, 10]);
}

onSoftMetal('Textures that change by atomics are refused before macOS 14.', async (soft) => {
  using device = openDevice('metal');
  const kernel = await device.kernel(`#include <metal_stdlib>
using namespace metal;
kernel void count(texture2d<uint, access::read_write> bins) { bins.atomic_fetch_add(uint2(0, 0), uint4(1)); }`);
  const words = new Uint32Array(1);
  const bins = new Texture(words, { format: 'r32uint', width: 1 });
  const run = () => kernel.run({ grid: 1, arguments: { bins } });
  soft.set('system', 13);
  await throwsCode('ERR_UNSUPPORTED', 'macOS 14', run);
  soft.set('system', 14);
  await run();
  assert.equal([...words], [1]);
});

test.run();
