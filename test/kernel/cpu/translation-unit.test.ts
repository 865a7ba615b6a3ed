// Check mode: forbidden accesses of a kernel are reported with the thread and the line.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type CovariumError, openDevice } from '../../../lib/index.ts';
import { findCompiler } from '../../../lib/kernel/cpu/compiler.ts';
import { noCpu } from '../../harness/cpu-backend.ts';
import { throwsCode } from '../../harness/throws-code.ts';

const head = '#include <metal_stdlib>\nusing namespace metal;\n';

/** The reported element of a vector after a buffer of four: clang writes all at once, g++ begins at the first. */
async function elementOfVector(): Promise<number> {
  return (await findCompiler()).isClang ? 7 : 4;
}

function onCheckedCpu(sentence: string, check: (device: ReturnType<typeof openDevice>) => Promise<void>): void {
  if (noCpu !== '') {
    console.log(`skipped  check mode: ${noCpu}`);
    return;
  }
  test(sentence, async () => {
    using device = openDevice('cpu', { threads: 2 });
    await check(device);
  });
}

onCheckedCpu('a correct kernel gives the same as without the check.', async (device) => {
  const text = `${head}
struct Pair { float2 a; uint n; };
float twice(device const float* p) { return 2 * *p; }
kernel void fine(device const float* in [[buffer(0)]], device float* out [[buffer(1)]], constant Pair* pairs [[buffer(2)]],
                 device atomic_uint* count [[buffer(3)]], threadgroup float* shared [[threadgroup(0)]],
                 uint i [[thread_position_in_grid]], uint lane [[thread_position_in_threadgroup]]) {
  shared[lane] = twice(in + i);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  device float* place = &out[i];
  *place = shared[lane ^ 1] + pairs[1].a.y;
  place[0] += pairs->n;
  atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}`;
  const results = [];
  for (const check of [false, true]) {
    const kernel = await device.kernel(text, { check });
    const out = new Float32Array(64);
    const count = new Uint32Array(1);
    const pairs = [
      { a: [1, 2], n: 3 },
      { a: [4, 5], n: 6 },
    ];
    const values = Float32Array.from(out, (_, i) => i);
    const shared = { threadgroupLength: 16 };
    await kernel.run({ grid: 64, threadgroup: 16, arguments: { in: values, out, pairs, count, shared } });
    assert.is(count[0], 64);
    results.push(out);
  }
  assert.equal(results[0], results[1]);
  assert.is(results[0]![0], 2 * 1 + 5 + 3);
});

onCheckedCpu('an access beyond a buffer is reported, and changes nothing.', async (device) => {
  const kernel = await device.kernel(
    `${head}
kernel void beyond(device const float* in [[buffer(0)]], device float* out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  float next = in[i + 1];
  out[i] = next;
}`,
    { check: true },
  );
  const memory = new Float32Array(20);
  const error = (await throwsCode('ERR_KERNEL_CHECK', () =>
    kernel.run({ grid: 10, arguments: [memory.subarray(0, 10), memory.subarray(10)] }),
  )) as CovariumError;
  assert.match(
    error.message,
    'Thread (9, 0, 0) uses element (10) of buffer (in), which has (10), at (kernel.metal:5).',
  );
  assert.is(error.line, 5);
  assert.is(error.path, 'kernel.metal');
  const behind = new Float32Array(40);
  await throwsCode('ERR_KERNEL_CHECK', () =>
    kernel.run({ grid: 20, arguments: [new Float32Array(21), behind.subarray(0, 10)] }),
  );
  assert.ok(behind.subarray(10).every((value) => value === 0));
  await kernel.run({ grid: 9, arguments: [new Float32Array(10), new Float32Array(9)] });
});

onCheckedCpu('elements before a buffer, members, and increments of pointers are checked too.', async (device) => {
  const lastOf4 = await elementOfVector();
  for (const [body, what] of [
    ['out[int(i) - 1] = 1;', 'uses element (-1) of buffer (out), which has (4), at (kernel.metal:5)'],
    ['*(out + 4) = 1;', 'uses element (4) of buffer (out), which has (4), at (kernel.metal:5)'],
    ['device float* p = out; p += 3; ++p; *p = 1;', 'uses element (4) of buffer (out)'],
    ['((device float4*)out)[1] = float4(1);', `uses element (${lastOf4}) of buffer (out), which has (4)`],
    ['pairs[2].x = 1;', 'uses element (2) of buffer (pairs), which has (2)'],
    ['(pairs + 3)->y = 1;', 'uses element (3) of buffer (pairs), which has (2), at (kernel.metal:5)'],
  ] as const) {
    const text = `${head}struct Pair { float x, y; };
kernel void wrong(device float* out [[buffer(0)]], device Pair* pairs [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  ${body}
}`;
    const kernel = await device.kernel(text, { check: true });
    const launch = { grid: 1, arguments: [new Float32Array(4), new Float32Array(4)] };
    const error = await throwsCode('ERR_KERNEL_CHECK', () => kernel.run(launch));
    assert.ok(error.message.includes(what), `${body}: ${error.message}`);
  }
});

onCheckedCpu('threadgroup arrays are checked like buffers.', async (device) => {
  const lastOf4 = await elementOfVector();
  const last = 'which has (4), at (kernel.metal:6)';
  const array = (element: number) => `uses element (${element}) of an array of type`;
  for (const [body, what] of [
    ['t[i + 4] = 1;', array(4)],
    ['t[int(i) - 1] = 1;', array(-1)],
    ['rows[1][4] = 1;', array(4)],
    ['rows[4][1] = 1;', array(4)],
    ['*(t + 4) = 1;', `uses element (4) of buffer (t), ${last}`],
    ['put(t, 5);', 'uses element (5) of buffer (t), which has (4), at (kernel.metal:3)'],
    ['put(&rows[3][0], 4);', 'uses element (16) of buffer (rows), which has (16), at (kernel.metal:3)'],
    ['((threadgroup float4*)t)[1] = 1;', `uses element (${lastOf4}) of buffer (t), which has (4)`],
    ['threadgroup float *p = t, *q = p + 4; *q = 1;', `uses element (4) of buffer (t), ${last}`],
  ] as const) {
    const text = `${head}void put(threadgroup float* p, int n) { p[n] = 1; }
kernel void wrong(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  threadgroup float t[4], rows[4][4];
  ${body}
}`;
    const kernel = await device.kernel(text, { check: true });
    const error = await throwsCode('ERR_KERNEL_CHECK', () => kernel.run({ grid: 1, arguments: [new Float32Array(1)] }));
    assert.ok(error.message.includes(what), `${body}: ${error.message}`);
  }
});

onCheckedCpu('everything that a kernel may do with pointers and arrays compiles in check mode too.', async (device) => {
  const text = `${head}
void add(threadgroup float (&a)[4], threadgroup float b[][4], threadgroup float* c) { a[0] += 1; b[1][0] += 1; c[2] += 1; }
kernel void fine(device float* out [[buffer(0)]], device const float* in [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  threadgroup float one[4], two[2][4];
  threadgroup float4 vectors[2];
  threadgroup uint count;
  for (threadgroup float& each : one) each = 0;
  two[1][0] = two[0][2] = 0;
  add(one, two, one); add(one, two, &two[0][0]);
  count = sizeof(one) / sizeof(one[0]);
  vectors[1] = float4(1, 2, 3, 4); vectors[1].xy += 1;
  ((threadgroup uint*)one)[3] = 0;
  device const float *a = in, *b = in + 1;
  device auto* p = out;
  p[0] = one[0] + one[2] + two[1][0] + two[0][2] + count + vectors[1].y + *a + *b;
  p[1] = (&in[3] - in) + (a >= b) + (a <= b) + (b > a);
}`;
  for (const check of [false, true]) {
    const out = new Float32Array(2);
    const kernel = await device.kernel(text, { check });
    assert.is(kernel.staticThreadgroupMemoryBytes, 16 + 32 + 32 + 16);
    await kernel.run({ grid: 1, arguments: [out, Float32Array.of(5, 6, 7, 8)] });
    assert.equal([...out], [2 + 1 + 2 + 1 + 4 + 3 + 5 + 6, 3 + 0 + 1 + 1]);
  }
});

onCheckedCpu('a barrier that not all threads reach is reported, with both threads.', async (device) => {
  const barrier = 'threadgroup_barrier(mem_flags::mem_threadgroup);';
  for (const [body, other] of [
    [`if (i == 3) return;\n  ${barrier}`, 'thread (3, 0, 0) has returned'],
    [`if (i != 2) {\n  ${barrier}\n  } else {\n  ${barrier}\n  }`, 'thread (2, 0, 0) waits at (kernel.metal:8)'],
  ] as const) {
    const text = `${head}
kernel void apart(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  ${body}
  out[i] = 1;
}`;
    const launch = { grid: 8, arguments: [new Float32Array(8)] };
    const error = await throwsCode('ERR_KERNEL_CHECK', async () =>
      (await device.kernel(text, { check: true })).run(launch),
    );
    assert.ok(error.message.startsWith('Thread (0, 0, 0) waits at the barrier at (kernel.metal:6)'));
    assert.ok(error.message.includes(other), error.message);
  }
});

test.run();
