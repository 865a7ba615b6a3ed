// Mistakes in a kernel or in its launch are reported before anything runs, and the device goes on.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CovariumError, type Device, type ErrorCode, type Launch, openDevice } from '../../lib/index.ts';
import { onKernelDevices } from '../harness/kernel-devices.ts';
import { throwsCode } from '../harness/throws-code.ts';

const head = '#include <metal_stdlib>\nusing namespace metal;\n';
const fill = `${head}
struct Params { int first; float step; uint2 size; };
kernel void fill(device float* out [[buffer(0)]], constant Params& p [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  out[i] = p.first + p.step * i;
}
kernel void other(device float* out [[buffer(0)]], threadgroup float* shared [[threadgroup(0)]],
                  uint i [[thread_position_in_grid]]) {
  shared[0] = 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = shared[0];
}
`;
const params = { first: 1, step: 2, size: [3, 4] };

async function works(device: Device): Promise<void> {
  const out = new Float32Array(4);
  await (await device.kernel(fill, { name: 'fill' })).run({ grid: 4, arguments: [out, params] });
  assert.equal([...out], [1, 3, 5, 7]);
}

onKernelDevices(
  'the error of a text that does not compile has the line in the user text, and the code there.',
  async (device) => {
    const broken = fill.replace('p.step * i', 'p.stride * i');
    const error = (await throwsCode('ERR_KERNEL_COMPILE', () =>
      device.kernel(broken, { name: 'fill' }),
    )) as CovariumError;
    assert.is(error.line, 6);
    assert.is(error.path, 'kernel.metal');
    assert.ok(error.message.includes('stride') && error.message.includes('> 6 |   out[i] = p.first'), error.message);
    assert.ok(error.diagnostics!.length >= 1);
    const includes = { 'lib/step.h': 'inline float step_of(int i) {\n  return i * missing;\n}\n' };
    const including = `#include "lib/step.h"\n${fill.replace('p.step * i', 'step_of(i)')}`;
    const inside = (await throwsCode('ERR_KERNEL_COMPILE', () =>
      device.kernel(including, { name: 'fill', includes }),
    )) as CovariumError;
    assert.is(inside.path, 'lib/step.h');
    assert.is(inside.line, 2);
    const named = { name: 'fill', path: 'my "odd"\\name.metal' };
    const odd = (await throwsCode('ERR_KERNEL_COMPILE', () => device.kernel(broken, named))) as CovariumError;
    assert.is(odd.line, 6);
    await works(device);
  },
);

onKernelDevices('each include is inserted once, and later line numbers stay the same.', async (device) => {
  const includes = {
    'a.h': '#pragma once\n#include "b.h"\nconstant float two = 2 * one;\n',
    'b.h': 'constant float one = 1;\n',
  };
  const text = `${head}#include "a.h"
#include "b.h"
kernel void f(device float* out, uint i [[thread_position_in_grid]]) { out[i] = two + one + __LINE__; }`;
  const out = new Float32Array(1);
  await (await device.kernel(text, { includes })).run({ grid: 1, arguments: [out] });
  assert.is(out[0], 3 + 5);
});

onKernelDevices('an include in a comment and a byte order mark are ignored.', async (device) => {
  const text = `\ufeff/*\n#include "nothing.h"\n*/\n${head}#include "one.h" // as it is
kernel void f(device float* out, uint i [[thread_position_in_grid]]) { out[i] = one; }`;
  const includes = { 'one.h': '\ufeffconstant float one = 1; // #include "nothing.h"' };
  const out = new Float32Array(1);
  await (await device.kernel(text, { includes })).run({ grid: 1, arguments: [out] });
  assert.is(out[0], 1);
});

onKernelDevices('invalid texts and names are refused.', async (device) => {
  const deep = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [i, `#include "${i + 1}"\n`]));
  const refused: [ErrorCode, string, object, string][] = [
    ['ERR_INVALID_ARGUMENT', fill, {}, 'fill, other'],
    ['ERR_INVALID_ARGUMENT', fill, { name: 'nothing' }, '`name` is (nothing), but the text has kernels (fill, other)'],
    ['ERR_INVALID_ARGUMENT', fill, { name: '../fill' }, '../fill'],
    ['ERR_INVALID_ARGUMENT', fill, { name: 'fill; rm' }, '`name` is'],
    ['ERR_INVALID_ARGUMENT', '', {}, 'does not contain a kernel'],
    ['ERR_INVALID_ARGUMENT', '// kernel void f() {}', {}, 'does not contain a kernel'],
    ['ERR_INVALID_ARGUMENT', `#include "../../etc/passwd"\n${fill}`, { name: 'fill' }, '../../etc/passwd'],
    ['ERR_INVALID_ARGUMENT', `#include <vector>\n${fill}`, { name: 'fill' }, 'vector'],
    ['ERR_INVALID_ARGUMENT', `/**/ # /**/ include "/etc/passwd"\n${fill}`, { name: 'fill' }, '(/etc/passwd)'],
    [
      'ERR_INVALID_ARGUMENT',
      `#define IT "/etc/passwd"\n#include IT\n${fill}`,
      { name: 'fill' },
      'not a name in quotes',
    ],
    ['ERR_UNKNOWN_OPTION', fill, { name: 'fill', fast: true }, 'fast'],
    ['ERR_INVALID_ARGUMENT', fill, { name: 'fill', check: 'yes' }, 'yes'],
    ['ERR_INVALID_ARGUMENT', fill, { name: 'fill', constants: null }, 'constants'],
    ['ERR_INVALID_ARGUMENT', fill, { name: 'fill', includes: null }, 'includes'],
    ['ERR_INVALID_ARGUMENT', fill, { name: 'fill', layouts: 5 }, 'layouts'],
    ['ERR_INVALID_ARGUMENT', fill, { name: 'fill', layouts: { p: null } }, '`layouts.p` is (null)'],
    ['ERR_TOO_LARGE', `#include "0"\n${fill}`, { name: 'fill', includes: deep }, '200'],
    ['ERR_TOO_LARGE', `${fill}// ${'x'.repeat(10_000_000)}`, { name: 'fill' }, '1048576'],
    ['ERR_TOO_LARGE', `${fill}\n${'namespace a {'.repeat(20_000)}`, { name: 'fill' }, '(256) deep at (kernel.metal:'],
    ['ERR_UNSUPPORTED', `${head}kernel void f(texture2d_ms<float> t [[texture(0)]]) {}`, {}, 'texture2d_ms'],
    ['ERR_OUT_OF_RANGE', `${head}kernel void f(device float* a [[buffer(31)]]) {}`, {}, '31'],
    [
      'ERR_INVALID_ARGUMENT',
      `${head}kernel void f(device int* a [[buffer(1)]], device int* b [[buffer(1)]]) {}`,
      {},
      'a) and (b',
    ],
  ];
  for (const [code, text, options, part] of refused) {
    const error = await throwsCode(code, () => device.kernel(text, options));
    assert.ok(error.message.includes(part), error.message);
  }
  const most = Array.from({ length: 32 }, (_, i) => `device float* a${i}`).join(', ');
  await throwsCode('ERR_OUT_OF_RANGE', () => device.kernel(`${head}kernel void f(${most}) {}`));
  await works(device);
});

onKernelDevices('texts made to be slow to read are read in bounded time.', async (device) => {
  const many = (part: string) => part.repeat(Math.floor(1_000_000 / part.length));
  const body = '{ out[0] = 1; }';
  const wide = `/*${'x'.repeat(400_000)}*/`;
  for (const text of [
    many('kernel void f('),
    `kernel void f(${many('a')}) ${body}`,
    `kernel void f(${many('device int* a, ')}) ${body}`,
    `struct P { ${many('int ')} }; kernel void f(constant P& p) {}`,
    many('/* " '),
    many('[['),
    many('threadgroup'),
  ]) {
    const error = await device.kernel(text).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    assert.instance(error, CovariumError, text.slice(0, 20));
  }
  const spread = `typedef ${wide} int Number; struct P { Number n; };
kernel void f(device float* out, constant P& p) { ${wide} out[0] = p.n; }`;
  const out = new Float32Array(1);
  await (await device.kernel(spread)).run({ grid: 1, arguments: { out, p: { n: 5 } } });
  assert.is(out[0], 5);
  await works(device);
});

onKernelDevices('a launch that does not fit is refused with the code for it, and nothing runs.', async (device) => {
  const kernel = await device.kernel(fill, { name: 'fill' });
  const out = new Float32Array(8);
  const good: Launch = { grid: 8, arguments: { out, p: params } };
  const withParams = (p: object) => ({ ...good, arguments: { out, p } }) as unknown as Launch;
  const refused: [ErrorCode, object, string][] = [
    [
      'ERR_INVALID_ARGUMENT',
      { ...good, arguments: [out] },
      '`arguments` has (1) entries, but kernel (fill) takes (2): (out, p)',
    ],
    ['ERR_INVALID_ARGUMENT', { ...good, arguments: { out } }, 'Argument (p)'],
    ['ERR_INVALID_ARGUMENT', { ...good, arguments: { out, p: params, q: 1 } }, '(q)'],
    ['ERR_INVALID_ARGUMENT', { ...good, arguments: { out: [1, 2], p: params } }, 'is written'],
    [
      'ERR_INVALID_ARGUMENT',
      { ...good, arguments: { out: new Int32Array(8), p: params } },
      'takes (float32), not (int32)',
    ],
    ['ERR_INVALID_ARGUMENT', { ...good, arguments: { out: new Uint8Array(32), p: params } }, 'not (uint8)'],
    ['ERR_INVALID_ARGUMENT', { ...good, arguments: { out: new Uint16Array(8), p: params } }, 'Uint16Array'],
    ['ERR_SHAPE', { ...good, arguments: { out: new Float32Array(0), p: params } }, '(0)'],
    ['ERR_SHAPE', { ...good, arguments: { out, p: new Float32Array(3) } }, '(16) bytes, not (12)'],
    ['ERR_INVALID_ARGUMENT', withParams({ first: 1, step: 2 }), 'Field (size)'],
    ['ERR_INVALID_ARGUMENT', withParams({ ...params, more: 1 }), '(more)'],
    ['ERR_INVALID_ARGUMENT', withParams({ ...params, step: '2' }), "Argument (p.step) is a (float), not ('2')"],
    ['ERR_OUT_OF_RANGE', withParams({ ...params, first: 2 ** 31 }), 'p.first'],
    ['ERR_OUT_OF_RANGE', withParams({ ...params, first: 0.5 }), 'p.first'],
    ['ERR_OUT_OF_RANGE', withParams({ ...params, step: 1e39 }), 'p.step'],
    ['ERR_SHAPE', withParams({ ...params, size: [1, 2, 3] }), 'p.size'],
    ['ERR_OUT_OF_RANGE', withParams({ ...params, size: [1, -2] }), 'p.size[1]'],
    ['ERR_OUT_OF_RANGE', { ...good, grid: 0 }, '`grid`'],
    ['ERR_OUT_OF_RANGE', { ...good, grid: [8, 0] }, '`grid[1]` is (0)'],
    ['ERR_OUT_OF_RANGE', { ...good, grid: 2 ** 32 }, '`grid`'],
    ['ERR_OUT_OF_RANGE', { ...good, grid: [2 ** 32 - 1, 2 ** 31, 2 ** 13] }, '`grid`'],
    ['ERR_INVALID_ARGUMENT', { ...good, grid: [1, 1, 1, 1] }, '`grid`'],
    // biome-ignore lint/suspicious/noSparseArray: that is what is tested.
    ['ERR_INVALID_ARGUMENT', { ...good, grid: [, 8] }, '`grid[0]`'],
    ['ERR_INVALID_ARGUMENT', { ...good, grid: '8' }, '`grid`'],
    ['ERR_OUT_OF_RANGE', { ...good, threadgroup: 0 }, '`threadgroup`'],
    ['ERR_OUT_OF_RANGE', { ...good, threadgroup: [1024, 2] }, '`threadgroup` is (1024, 2, 1)'],
    ['ERR_UNKNOWN_OPTION', { ...good, group: 8 }, 'group'],
  ];
  for (const [code, launch, part] of refused) {
    for (const run of [() => kernel.run(launch as Launch), () => kernel.runSync(launch as Launch)]) {
      const error = await throwsCode(code, run as () => Promise<unknown>);
      assert.ok(error.message.includes(part), error.message);
    }
  }
  assert.ok(out.every((value) => value === 0));
  const shared = await device.kernel(fill, { name: 'other' });
  for (const [code, memory] of [
    ['ERR_OUT_OF_RANGE', { threadgroupBytes: 32769 }],
    ['ERR_OUT_OF_RANGE', { threadgroupLength: 8193 }],
    ['ERR_OUT_OF_RANGE', { threadgroupLength: 0 }],
    ['ERR_OUT_OF_RANGE', { threadgroupLength: 2 ** 30 }], // 2^32 bytes
    ['ERR_INVALID_ARGUMENT', new Float32Array(3)],
  ] as const)
    await throwsCode(code, () => shared.run({ grid: 8, arguments: { out, shared: memory } }));
  await works(device);
});

onKernelDevices('an error in the expansion of a macro is reported in the line that uses the macro.', async (device) => {
  if (device.kind === 'metal') return; // its compiler gets the text unchanged
  const text = `#define FILL(x) out[0] = 1; out[0] += 2; out[0] += 3; out[0] += nope + x
kernel void f(device float* out) {
  FILL(4);
}`;
  const error = await throwsCode('ERR_KERNEL_COMPILE', 'nope', () => device.kernel(text));
  assert.is(error.line, 3);
  assert.ok(error.column! >= 3 && error.column! <= 10, `${error.column}`);
  assert.ok(error.message.includes('> 3 |   FILL(4);\n    |'), error.message);
  assert.equal([error.diagnostics![0]!.line, error.diagnostics![0]!.column], [error.line, error.column]);
});

onKernelDevices('memory too small for a type that only the compiler knows is refused.', async (device) => {
  const kernel = await device.kernel(`${head}
template <typename T> struct Four { T a, b, c, d; };
kernel void f(device float* out [[buffer(0)]], constant Four<float>& four [[buffer(1)]], device Four<float>* all [[buffer(2)]]) {
  out[0] = four.d;
  all[0].d = four.a;
}`);
  const out = new Float32Array(1);
  const bytes = (length: number) => new Uint8Array(length);
  for (const [four, all, name] of [
    [bytes(15), bytes(16), 'four'],
    [bytes(16), bytes(15), 'all'],
  ] as const) {
    const error = await throwsCode('ERR_SHAPE', () => kernel.run({ grid: 1, arguments: { out, four, all } }));
    assert.match(error.message, `Argument (${name}) of kernel (f) takes (16) bytes or more, not (15).`);
  }
  await kernel.run({
    grid: 1,
    arguments: { out, four: new Uint8Array(Float32Array.of(1, 2, 3, 4).buffer), all: bytes(16) },
  });
  assert.is(out[0], 4);
});

onKernelDevices('memory that is detached while the arguments are read is not written.', async (device) => {
  const kernel = await device.kernel(fill, { name: 'fill' });
  for (const run of [kernel.run.bind(kernel), kernel.runSync.bind(kernel)]) {
    const out = new Float32Array(8);
    const p = {
      ...params,
      get first() {
        structuredClone(out.buffer, { transfer: [out.buffer] });
        return 1;
      },
    };
    await throwsCode('ERR_SHAPE', async () => run({ grid: 8, arguments: { out, p } }));
  }
  await works(device);
});

onKernelDevices('metal refuses check mode, and says which device to open.', async (device) => {
  const made = () => device.kernel(fill, { name: 'fill', check: true });
  if (device.kind === 'metal') await throwsCode('ERR_UNSUPPORTED', 'open cpu', made);
  else assert.equal((await made()).name, 'fill');
});

onKernelDevices('an argument that a kernel writes must not overlap another argument.', async (device) => {
  const kernel = await device.kernel(`${head}
kernel void move(device const float* in [[buffer(0)]], device float* out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  out[i] = in[i];
}`);
  const memory = new Float32Array(16);
  const halves = [memory.subarray(0, 8), memory.subarray(8)] as const;
  await kernel.run({ grid: 8, arguments: [halves[0], halves[1]] });
  for (const other of [halves[1], memory.subarray(1, 9)])
    await throwsCode('ERR_INVALID_ARGUMENT', () => kernel.run({ grid: 8, arguments: [other, memory.subarray(8)] }));
});

onKernelDevices('a kernel belongs to its device, and is closed with it.', async (device) => {
  const kernel = await device.kernel(fill, { name: 'fill' });
  const out = new Float32Array(4);
  const other = openDevice(device.kind);
  await throwsCode('ERR_FOREIGN_BUFFER', async () =>
    other.commandBuffer().launch(kernel, { grid: 4, arguments: [out, params] }),
  );
  const orphan = await other.kernel(fill, { name: 'fill' });
  other.close();
  await throwsCode('ERR_CLOSED', () => orphan.run({ grid: 4, arguments: [out, params] }));
  await throwsCode('ERR_CLOSED', () => other.kernel(fill, { name: 'fill' }));
  await works(device);
});

onKernelDevices(
  'a mistake that is found inside a Metal function is reported at the line that calls it.',
  async (device) => {
    if (device.kind === 'metal') return; // Apple's compiler has headers of its own
    const text = `${head}kernel void f(device float* out, uint i [[thread_position_in_grid]]) {
  out[i] = as_type<float>(float2(1));
}`;
    const error = (await throwsCode('ERR_KERNEL_COMPILE', () => device.kernel(text))) as CovariumError;
    assert.equal([error.path, error.line], ['kernel.metal', 4]);
    assert.ok(error.message.includes('> 4 |   out[i] = as_type'), error.message);
  },
);

onKernelDevices('a name in place of a kernel, as plain JavaScript may pass it, is refused.', async (device) => {
  const launch = { grid: 1, arguments: [] } as unknown as [];
  await throwsCode('ERR_INVALID_ARGUMENT', async () => device.commandBuffer().launch('fill', launch, [1], [1]));
});

test('the reference device says that it has no kernels.', async () => {
  using device = openDevice('reference');
  const error = await throwsCode('ERR_UNSUPPORTED', () => device.kernel(fill, { name: 'fill' }));
  assert.instance(error, CovariumError);
});

onKernelDevices('a brace that is not closed, or closes nothing, is reported at its line.', async (device) => {
  for (const [text, words, line] of [
    ['\nkernel void f(device int* x) {\n  if (x[0] > 1) {\n  x[0] = 1;\n}\n', 'A brace ({) is not closed', 2],
    ['int g() { return 1;\n\nkernel void f(device int* x) {\n  x[0] = g();\n}\n', 'A brace ({) is not closed', 1],
    ['kernel void f(device int* x) {\n  x[0] = 1;\n}}\n', 'A brace (}) closes nothing', 3],
  ] as const)
    assert.is((await throwsCode('ERR_KERNEL_COMPILE', words, () => device.kernel(text))).line, line);
});

test.run();
