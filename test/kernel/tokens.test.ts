// The time to read a kernel's text is proportional to its length, whatever it contains.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { constantsOf } from '../../lib/kernel/constants.ts';
import { rewritten } from '../../lib/kernel/cpu/rewrite.ts';
import { Source } from '../../lib/kernel/declarations.ts';
import { Layouts } from '../../lib/kernel/layout.ts';
import { preprocess } from '../../lib/kernel/preprocess.ts';
import { signatureOf } from '../../lib/kernel/signature.ts';
import { throwsCode } from '../harness/throws-code.ts';

const kernel = (body: string) => `kernel void k(device float *a, uint i [[thread_position_in_grid]]) {${body}}\n`;
const many = (text: (i: number) => string, count: number) => Array.from({ length: count }, (_, i) => text(i)).join('');

const ofStructs = kernel('').replace('float', 'T');

/** Texts of `count` pieces that a regular expression might scan again and again. */
const texts: { readonly [what: string]: (count: number) => string } = {
  'unclosed double quotes': (count) => `"${many(() => '\\"', count)}\n${kernel('')}`,
  'unclosed single quotes': (count) => `'${many(() => "\\'", count)}\n${kernel('')}`,
  'quotes side by side': (count) => `${many(() => '\'"', count)}\n${kernel('')}`,
  'comments that nothing closes': (count) => `${kernel('')}${many(() => '/* ', count)}`,
  'the word threadgroup in a macro': (count) => `#define X ${many(() => 'threadgroup * ', count)}\n${kernel('')}`,
  'macros for threadgroup': (count) =>
    `#define M0 threadgroup\n${many((i) => `#define M${i + 1} M${i}\n`, count)}${kernel('')}`,
  'the word threadgroup': (count) => kernel(many(() => 'threadgroup ', count)),
  'threadgroup variables': (count) => kernel(many((i) => `threadgroup float v${i}[4];`, count)),
  'function constants': (count) =>
    `${many((i) => `constant int c${i} [[function_constant(${i})]];\n`, count)}${kernel('')}`,
  'macros that expand into each other': (count) =>
    `${many((i) => `#define N${i} N${i + 1}\n`, count)}${kernel('a[i] = N0;')}`,
  'calls of macros in their arguments': (count) =>
    `#define F(x) x\n${kernel(`a[i] = ${many(() => 'F(', count)}1${many(() => ')', count)};`)}`,
  'choices in a condition': (count) => `#if ${many(() => '0 ? 1 : ', count)}1\n#endif\n${kernel('')}`,
  'typedefs without an end': (count) => `${many(() => 'typedef float ', count)}\n${kernel('').replace('float', 'T')}`,
  'brackets without an end': (count) => kernel(many(() => '[[ ', count)),
  'attributes of no kernel': (count) => kernel(many(() => '[[kernel]] ', count)),
  'attributes without an end': (count) => kernel(many(() => 'kernel [[ ', count)),
  'kernels without an end': (count) => `${kernel('')}${many((i) => `kernel void k${i}(`, Math.min(count, 900))}`,
  'braces without an end': (count) => `${many(() => 'typedef struct {', count)}\n${ofStructs}`,
  'members without an end': (count) => `struct T {${many(() => '[[', count)}};\n${ofStructs}`,
  'structs of structs': (count) => `${many((i) => `struct T${i || ''} { T${i + 1} a; };\n`, count)}${ofStructs}`,
  'names of names': (count) => `${many((i) => `using T${i || ''} = T${i + 1};\n`, count)}${ofStructs}`,
  'sizes with names': (count) =>
    `${many((i) => `#define N${i} 4\n`, count)}struct T {${many((i) => `int a${i}[N${i}];`, count)}};\n${ofStructs}`,
  'blanks behind a name': (count) =>
    `#define N ${many(() => '    ', count)}\n${kernel('').replace('*a', '*a [[buffer(N)]]')}`,
  'words for constants': (count) => kernel(many(() => 'const ', count)),
  'pointers of one declaration': (count) => kernel(many(() => 'device float *a, *', count)),
};

const sourceOf = (text: string) => new Source(preprocess(text, 'text', {}).tokens);

function read(text: string): void {
  const source = sourceOf(text);
  const values = Object.fromEntries([...text.matchAll(/int (c\d+) /g)].map(([, name]) => [name!, 1]));
  const signature = signatureOf(source, 'k');
  const constants = constantsOf(source, signature.roots, values);
  for (const target of ['cpu', 'check', 'cuda'] as const) rewritten([signature], constants, target);
}

// User and system time together, because other programs may use the processors; some systems count in steps of
// several milliseconds, and assign a step to one kind by chance.
function timeOf(text: string): number {
  let best = Infinity;
  for (let run = 0; run < 3; run++) {
    const begin = process.cpuUsage();
    try {
      read(text);
    } catch (error) {
      assert.match(
        String((error as { code?: string }).code),
        /^ERR_(UNSUPPORTED|INVALID_ARGUMENT|KERNEL_COMPILE|TOO_LARGE)$/,
        String(error),
      );
    }
    const { user, system } = process.cpuUsage(begin);
    best = Math.min(best, (user + system) / 1e3);
  }
  return best;
}

for (const [what, text] of Object.entries(texts))
  test(`Eight times as many of ${what} take about eight times as long.`, () => {
    timeOf(text(200));
    // Quadratic reading takes 64 times as long; a garbage collection or a step of the clock adds little beside that.
    const [few, more] = [timeOf(text(1_000)), timeOf(text(8_000))];
    assert.ok(more < 24 * (few + 5), `${few.toFixed(1)} ms become ${more.toFixed(1)} ms`);
  });

test('Structs of thousands of structs, and a kernel of thousands of arguments, are refused or have no layout.', async () => {
  const [parameter] = signatureOf(sourceOf(texts['structs of structs']!(5_000)), 'k').parameters;
  assert.is(parameter!.layout, undefined);
  await throwsCode('ERR_TOO_LARGE', '(5000) arguments', () =>
    signatureOf(sourceOf(`kernel void k(${many((i) => `device float *a${i},`, 5_000)}) {}`), 'k'),
  );
});

test('The first declaration of a name counts: a struct, a typedef, an alias, an enumeration.', () => {
  const layouts = new Layouts(
    sourceOf(
      'struct A { int a; }; struct A { float4 a; }; typedef struct { A a; half b; } B;\n' +
        'typedef unsigned int C; using D = vec<float, 3>; enum class E : uchar { one }; enum F { two };',
    ),
  );
  const sizes = ['A', 'B', 'C', 'D', 'E', 'F'].map((name) => layouts.of(name)?.sizeBytes);
  assert.equal(sizes, [4, 8, 4, 16, 1, 4]);
});

test('Names that refer to each other have no value.', () => {
  const numberIn = (text: string) => sourceOf(text).valueOf(...lastWord(text));
  const lastWord = (text: string) => {
    const { length } = sourceOf(text).tokens;
    return [length - 2, length - 1] as const;
  };
  assert.is(numberIn('constant int A = B; constant int B = A; using x = A;'), undefined);
  assert.is(numberIn('constant int A = B; constant int B = 2 * C + 1; enum { D = 3, C }; using x = A;'), 9n);
});

test('A condition may hide a division by zero, and needs its end.', async () => {
  const isTrue = (condition: string) => sourceOf(`#if ${condition}\nyes\n#endif\n`).tokens.length === 1;
  for (const condition of [
    '1 || 1 / 0',
    '!(0 && 1 % 0)',
    '1 ? 1 : 1 / 0',
    '0 ? 1 << 99 : 1',
    '!(defined(N) && 64 % N)',
  ])
    assert.ok(isTrue(condition), condition);
  for (const condition of ['1 / 0', '0 || 1 / 0', '1 ? 1 / 0 : 1', '1 || (2', '0 ? 1'])
    await throwsCode('ERR_KERNEL_COMPILE', '(#if)', () => isTrue(condition));
  for (const text of ['#if 1\n', 'int a;\n#ifdef A\n#else\n', '#if 1\n#if 1\n#endif\n'])
    await throwsCode('ERR_KERNEL_COMPILE', 'has no #endif at (text:', () => sourceOf(text));
});

test('Macros in macros have a limit, within which they expand as in C.', async () => {
  const chain = (count: number) => `${many((i) => `#define N${i} N${i + 1}\n`, count)}N0`;
  const nest = (count: number) => `#define F(x) x\n${many(() => 'F(', count)}1${many(() => ')', count)}`;
  assert.equal(
    sourceOf(chain(900)).tokens.map(({ text }) => text),
    ['N900'],
  );
  assert.equal(
    sourceOf(nest(150)).tokens.map(({ text }) => text),
    ['1'],
  );
  await throwsCode('ERR_TOO_LARGE', '(1000)', () => sourceOf(chain(2_000)));
  await throwsCode('ERR_TOO_LARGE', '(200)', () => sourceOf(nest(2_000)));
  const circle = '#define A B c\n#define B A d\n#define J(x, y) x ## y B\nA; B; J(, A)';
  assert.is(
    sourceOf(circle)
      .tokens.map(({ text }) => text)
      .join(' '),
    'A d c ; B c d ; A d c B c d',
    'as GCC',
  );
});

test('Comments of several lines and strings are not code; a single quote mark takes the rest of its line.', () => {
  const text = 'a /* x\n y */ b "s\\"t" \'c\' // k\n#define X \\\n 3\nint n = 1\'000 + X;';
  const words = sourceOf(text).tokens.map((token) => token.text);
  assert.equal(words, ['a', 'b', '"s\\"t"', "'c'", 'int', 'n', '=', "1'000", '+', '3', ';']);
});

test.run();
