// Time to read a kernel's text is in proportion to its length, whatever stands in it.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { constantsOf } from '../../lib/kernel/constants.ts';
import { rewritten } from '../../lib/kernel/cpu/rewrite.ts';
import { Source } from '../../lib/kernel/declarations.ts';
import { preprocess } from '../../lib/kernel/preprocess.ts';
import { signatureOf } from '../../lib/kernel/signature.ts';
import { codeOf, numberOf } from '../../lib/kernel/source.ts';

const kernel = (body: string) => `kernel void k(device float *a, uint i [[thread_position_in_grid]]) {${body}}\n`;
const many = (text: (i: number) => string, count: number) => Array.from({ length: count }, (_, i) => text(i)).join('');

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
};

function read(text: string): void {
  const source = new Source(preprocess(text, 'text', {}).tokens);
  const values = Object.fromEntries([...text.matchAll(/int (c\d+) /g)].map(([, name]) => [name!, 1]));
  const signature = signatureOf(source, 'k');
  constantsOf(source, signature.roots, values);
  rewritten([signature], [], false);
}

function timeOf(text: string): number {
  let best = Infinity;
  for (let run = 0; run < 3; run++) {
    const begin = performance.now();
    try {
      read(text);
    } catch (error) {
      assert.match(
        String((error as { code?: string }).code),
        /^ERR_(UNSUPPORTED|INVALID_ARGUMENT|KERNEL_COMPILE|TOO_LARGE)$/,
        String(error),
      );
    }
    best = Math.min(best, performance.now() - begin);
  }
  return best;
}

for (const [what, text] of Object.entries(texts))
  test(`Eight times as many of ${what} take about eight times as long.`, () => {
    timeOf(text(200));
    // A quadratic one takes 64 times as long; a millisecond is what the clock and other programs may add.
    const [few, more] = [timeOf(text(1_000)), timeOf(text(8_000))];
    assert.ok(more < 24 * (few + 1), `${few.toFixed(1)} ms become ${more.toFixed(1)} ms`);
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

test.run();
