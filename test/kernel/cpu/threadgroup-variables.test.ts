// Variables in threadgroup memory, in all the ways that a kernel may declare them: one that was taken for a thread's
// own variable would give wrong numbers without an error.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { threadgroupVariables } from '../../../lib/kernel/cpu/threadgroup-variables.ts';
import { Source } from '../../../lib/kernel/declarations.ts';
import { preprocess } from '../../../lib/kernel/preprocess.ts';
import { onKernelDevices } from '../../harness/kernel-devices.ts';
import { throwsCode } from '../../harness/throws-code.ts';

const head = '#include <metal_stdlib>\nusing namespace metal;\n';

onKernelDevices('threads share variables in threadgroup memory, in every form of declaration.', async (device) => {
  const declarations = [
    'threadgroup float t0[4];',
    'threadgroup float t1[N * 2 - 4];',
    'threadgroup float t2[(N)], unused[2][N & 3];',
    'threadgroup float t3[sizeof(float)];',
    'alignas(16) threadgroup float t4[4];',
    'float threadgroup t5[4];',
    '{ } threadgroup /* shared; */ float // by all\n  t6[4];',
    'WORD float t7[4];',
    'SHARED t8[4];',
    'OURS t9[4];',
    'threadgroup Four<4> all; threadgroup float* const t10 = all.a;',
  ];
  const kernel = await device.kernel(`${head}#define N 4
#define OURS WORD float
#define WORD threadgroup
#define SHARED threadgroup float // of all
template <int n> struct Four { float a[n]; };
kernel void turn(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]], uint l [[thread_position_in_threadgroup]]) {
  ${declarations.join('\n  ')}
  ${declarations.map((_, k) => `t${k}[l] = i + ${100 * k};`).join(' ')}
  threadgroup_barrier(mem_flags::mem_threadgroup);
  ${declarations.map((_, k) => `out[${declarations.length} * i + ${k}] = t${k}[3 - l];`).join(' ')}
}`);
  assert.is(kernel.staticThreadgroupMemoryBytes, 16 * declarations.length);
  const out = new Float32Array(12 * declarations.length);
  await kernel.run({ grid: 12, threadgroup: 4, arguments: { out } });
  const expected = Array.from({ length: 12 }, (_, i) => declarations.map((_, k) => (i ^ 3) + 100 * k));
  assert.equal([...out], expected.flat());
});

onKernelDevices('a barrier and a simdgroup sum in macros are recognized.', async (device) => {
  const kernel = await device.kernel(`${head}#define SUM(x) \\
  simd_sum(x)
kernel void sums(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = SUM(i); }`);
  const lanes = kernel.threadExecutionWidth;
  const out = new Uint32Array(lanes);
  await kernel.run({ grid: lanes, arguments: { out } });
  assert.equal([...out], Array(lanes).fill((lanes * (lanes - 1)) / 2));
});

onKernelDevices("a variable that would be taken for a thread's own is refused.", async (device) => {
  if (device.kind === 'metal') return; // Metal accepts all of these
  for (const [before, body] of [
    ['', 'threadgroup int t = 0; t = i;'],
    ['', 'threadgroup float t[4] = {}; t[i] = 1;'],
    ['', 'switch (i) { case 0: threadgroup float t[4]; t[0] = 1; }'],
  ]) {
    const text = `${head}${before}kernel void f(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { ${body} }`;
    const error = await throwsCode('ERR_UNSUPPORTED', () => device.kernel(text));
    assert.match(error.message, /Variable (?:\(t\) )?in threadgroup memory/);
  }
});

test('Pointers, references, casts and arguments are not variables in threadgroup memory.', () => {
  const text = `#define AT(p) ((threadgroup float*)p)
void f(threadgroup float* a, threadgroup const float (&b)[4]) {
  threadgroup float* p = a; threadgroup float& r = b[0]; threadgroup float (*q)[4];
  use(AT(a), reinterpret_cast<threadgroup uint*>(a), sizeof(threadgroup float));
  threadgroup_barrier(mem_flags::mem_threadgroup);
  "threadgroup float s[4];"; // threadgroup float c[4];
  threadgroup unsigned int one, two[3];
}`;
  const source = new Source(preprocess(text, 'text', {}).tokens);
  const found = threadgroupVariables(source, source.declarations[0]!.body!);
  assert.equal(
    found.map(({ names }) => names),
    [['one', 'two']],
  );
});

test.run();
