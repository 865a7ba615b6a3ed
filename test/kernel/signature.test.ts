// What is read from a kernel's text without a compiler: its arguments, their kinds and indices, and the layout of
// structs.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { translationUnit } from '../../lib/kernel/cpu/translation-unit.ts';
import { Source } from '../../lib/kernel/declarations.ts';
import { Layouts } from '../../lib/kernel/layout.ts';
import { preprocess } from '../../lib/kernel/preprocess.ts';
import { kernelNames, signatureOf } from '../../lib/kernel/signature.ts';
import { throwsCode } from '../harness/throws-code.ts';

const read = (text: string) => new Source(preprocess(text, 'kernel.metal', {}).tokens);

test('arguments have their kinds, and those without an index take the next that is free.', () => {
  const { name, parameters } = signatureOf(
    read(`// kernel void not_me(device int* a) {}
#define AT 4
kernel /* here */ void f(const device float *a, device metal::uint * b [[ buffer( 0 ) ]], constant struct P &p,
  device const vec<float, 4>* v [[buffer(AT)]], threadgroup float* shared, ushort2 at [[thread_position_in_grid]])
{ if (at.x) { b[0] = 1; } }`),
    undefined,
  );
  assert.is(name, 'f');
  assert.equal(
    parameters.map(({ kind, name: argument, type, index }) => [kind, argument, type, index]),
    [
      ['read', 'a', 'float', 1],
      ['written', 'b', 'uint', 0],
      ['constant', 'p', 'struct P', 2],
      ['read', 'v', 'vec<float, 4>', 4],
      ['threadgroup', 'shared', 'float', 0],
      ['place', 'at', 'ushort2', -1],
    ],
  );
  assert.equal(
    parameters.map(({ layout }) => layout?.sizeBytes),
    [4, 4, undefined, 16, 4, 4],
  );
});

test('kernels are distinguished, and their bodies found after brackets and comments.', () => {
  const text = `[[kernel]] void one(device int* a) { a[0] = '}' + "}"[0]; /* } */ }
kernel void declared(device int* a);
kernel [[max_total_threads_per_threadgroup(64)]] void two(device int* a) { { } }`;
  assert.equal(kernelNames(read(text)), ['one', 'two']);
  const { source, declaration } = signatureOf(read(text), 'two');
  const [open, close] = declaration.body!;
  assert.is(
    source.tokens
      .slice(open, close + 1)
      .map((token) => token.text)
      .join(' '),
    '{ { } }',
  );
});

test('sizes and alignments follow the language.', () => {
  const layouts = new Layouts(
    read(`struct Inner { char c; float3 v; };
typedef struct { uint8_t a, b[3]; uint16_t c; } Old;
enum Kind : uchar { one, two };
using Alias = Inner;
constant int N = 3;
struct Outer { packed_float3 p; Inner inner[N]; bool last; };
struct Loop { Loop a; };`),
  );
  for (const [type, sizeBytes, alignBytes] of [
    ['float', 4, 4],
    ['float3', 16, 16],
    ['packed_float3', 12, 4],
    ['uchar2', 2, 2],
    ['ulong4', 32, 32],
    ['short3', 8, 8],
    ['atomic_uint', 4, 4],
    ['Inner', 32, 16],
    ['Alias', 32, 16],
    ['Old', 6, 2],
    ['Kind', 1, 1],
    ['Outer', 128, 16],
  ] as const) {
    const { sizeBytes: size, alignBytes: align } = layouts.of(type)!;
    assert.equal([size, align], [sizeBytes, alignBytes], type);
  }
  const offsets = layouts.of('Outer')!.members!.map(({ name, offsetBytes }) => [name, offsetBytes]);
  assert.equal(offsets, [
    ['p', 0],
    ['inner', 16],
    ['last', 112],
  ]);
  for (const type of ['double', 'Loop', 'Missing', 'float5', 'packed_float'])
    assert.is(layouts.of(type), undefined, type);
});

test('a kernel runs as a plain loop unless its threads wait for each other; a word in an attribute or a comment does not count as a wait.', () => {
  const isLoop = (body: string) => {
    const text = `kernel void f(device uint* a, uint group [[threadgroup_position_in_grid]],
      uint simd [[simdgroup_index_in_threadgroup]]) { ${body} } // threadgroup_barrier`;
    return translationUnit([signatureOf(read(text), undefined)], [], false).includes('run, nullptr, nullptr');
  };
  assert.ok(isLoop('a[0] = group + simd;'));
  assert.not(isLoop('threadgroup_barrier(mem_flags::mem_threadgroup);'));
  assert.not(isLoop('a[0] = simd_sum(group);'));
  assert.not(isLoop('threadgroup uint shared[2]; shared[0] = 1;'));
});

test('mistakes in the head of a kernel that Metal refuses are refused here too, with the name of the argument.', async () => {
  const refused: readonly (readonly [text: string, why: string])[] = [
    ['kernel void f(float* out) {}', 'Argument (out) of kernel (f) has no address space'],
    ['kernel void f(const float& factor) {}', 'Argument (factor)'],
    ['template <typename T> kernel void f(T* out) {} template kernel void f<float>(float*);', 'Argument (out)'],
    ['kernel void f(device float* out, int i [[thread_position_in_grid]]) {}', 'Argument (i)'],
    ['kernel void f(device float* out, float2 i [[threads_per_grid]]) {}', 'of type (float2)'],
    ['kernel float f(device float* out) { return 1; }', 'Kernel (f) returns a value'],
  ];
  for (const [text, why] of refused)
    await throwsCode('ERR_KERNEL_COMPILE', why, () => signatureOf(read(text), undefined));
  for (const text of [
    'typedef uint Place; kernel void f(device float* out, Place i [[thread_position_in_grid]]) {}',
    '#define SPACE device\nkernel void f(SPACE float* out, ushort3 i [[thread_position_in_threadgroup]]) {}',
    '[[kernel]] void f(constant float& factor, uint32_t lane [[thread_index_in_simdgroup]]) {}',
  ])
    assert.is(signatureOf(read(text), undefined).name, 'f');
});

test.run();
