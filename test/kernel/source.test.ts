// Time to read a kernel's text is in proportion to its length, whatever stands in it.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { constantsOf, withConstants } from '../../lib/kernel/constants.ts';
import { threadgroupVariables } from '../../lib/kernel/cpu/threadgroup-variables.ts';
import { translationUnit } from '../../lib/kernel/cpu/translation-unit.ts';
import { Layouts } from '../../lib/kernel/layout.ts';
import { signatureOf } from '../../lib/kernel/signature.ts';
import { codeOf, flatten, numberOf } from '../../lib/kernel/source.ts';
import { throwsCode } from '../harness/throws-code.ts';

const kernel = (body: string) => `kernel void k(device float *a, uint i [[thread_position_in_grid]]) {${body}}\n`;
const many = (text: (i: number) => string, count: number) => Array.from({ length: count }, (_, i) => text(i)).join('');

const ofStructs = kernel('').replace('float', 'T');

/** Texts that some expression could go over again and again: of `count` pieces. */
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

function read(text: string): void {
  const whole = flatten(text, 'text', {});
  const code = codeOf(whole);
  assert.is(code.length, whole.length);
  signatureOf(whole, 'k');
  const values = Object.fromEntries([...text.matchAll(/int (c\d+) /g)].map(([, name]) => [name!, 1]));
  withConstants(whole, constantsOf(whole, values));
  threadgroupVariables(whole);
  for (const check of [false, true]) translationUnit(whole, signatureOf(whole, 'k'), check);
}

// Processor time, because other programs may hold the processors.
function timeOf(text: string): number {
  let best = Infinity;
  for (let run = 0; run < 3; run++) {
    const begin = process.cpuUsage();
    try {
      read(text);
    } catch (error) {
      assert.match(
        String((error as { code?: string }).code),
        /^ERR_(UNSUPPORTED|INVALID_ARGUMENT|TOO_LARGE)$/,
        String(error),
      );
    }
    best = Math.min(best, process.cpuUsage(begin).user / 1e3);
  }
  return best;
}

for (const [what, text] of Object.entries(texts))
  test(`Eight times as many of ${what} take about eight times as long.`, () => {
    timeOf(text(200));
    // A quadratic one takes 64 times as long; a millisecond is what the collector of garbage may add.
    const [few, more] = [timeOf(text(1_000)), timeOf(text(8_000))];
    assert.ok(more < 24 * (few + 1), `${few.toFixed(1)} ms become ${more.toFixed(1)} ms`);
  });

test('Structs of thousands of structs, and a kernel of thousands of arguments, are refused or have no layout.', async () => {
  const [parameter] = signatureOf(texts['structs of structs']!(5_000), 'k').parameters;
  assert.is(parameter!.layout, undefined);
  await throwsCode('ERR_TOO_LARGE', '(5000) arguments', () =>
    signatureOf(`kernel void k(${many((i) => `device float *a${i},`, 5_000)}) {}`, 'k'),
  );
});

test('The first declaration of a name counts: a struct, a typedef, an alias, an enumeration.', () => {
  const layouts = new Layouts(
    'struct A { int a; }; struct A { float4 a; }; typedef struct { A a; half b; } B;\n' +
      'typedef unsigned int C; using D = vec<float, 3>; enum class E : uchar { one }; enum F { two };',
  );
  const sizes = ['A', 'B', 'C', 'D', 'E', 'F'].map((name) => layouts.of(name)?.sizeBytes);
  assert.equal(sizes, [4, 8, 4, 16, 1, 4]);
});

test('Names that stand for each other say no number.', () => {
  assert.is(numberOf('A', '#define A B\n#define B A\n'), undefined);
  assert.is(numberOf('A', '#define A B\n#define B 4\n'), 4);
});

test('Comments of several lines, strings and directives are spaces; a quote alone is code.', () => {
  const text = 'a /* x\n y */ b "s\\"t" \'c\' // k\n#define X \\\n 3\nint n = 1\'000 + "1;';
  assert.is(codeOf(text).replace(/ +/g, ' '), 'a \n b \n \n \nint n = 1\'000 + "1;');
  assert.is(codeOf(text).length, text.length);
});

test('A macro that calls threadgroup memory by another name is still found, or refused.', async () => {
  const found = threadgroupVariables(`#define SHARED threadgroup\n${kernel('SHARED float v[4];')}`);
  assert.equal(found[0]?.variables, [{ name: 'v', dimensions: '[4]' }]);
  assert.equal(threadgroupVariables(`#define P threadgroup float *\n${kernel('')}`), []);
  await throwsCode('ERR_UNSUPPORTED', 'SHARED', () =>
    threadgroupVariables(`#define SHARED(x) threadgroup float x[4]\n${kernel('SHARED(v);')}`),
  );
});

test.run();
