// What NVRTC 13.0 writes about texts that do not compile: the error names the user's line. Notes of candidates are
// shortened.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { compileError } from '../../lib/kernel/diagnostics.ts';

const text = `#include <metal_stdlib>
using namespace metal;
kernel void fill(device float4* out, uint i [[thread_position_in_grid]]) {
  int unused;
  out[i] = p.step * i;
  out[i] = missing;
}
`;
const texts = new Map([
  ['kernel.metal', text],
  ['lib/step.h', 'inline float step_of(int i) {\n  return i * missing;\n}\n'],
]);

/** The folder of our headers, which have a column in clang's messages and none in NVRTC's. */
const own = '/home/user/node_modules/covarium/dist/msl/cpu/library';

interface Form {
  readonly sentence: string;
  readonly output: string;
  readonly message: string;
  readonly at?: readonly [path: string, line: number];
  readonly severities: readonly string[];
}

const forms: readonly Form[] = [
  {
    sentence: 'Several errors and a warning',
    output: `kernel.metal(5): error: identifier "p" is undefined
    out[i] = p.step * i;
             ^

kernel.metal(6): error: identifier "missing" is undefined
    out[i] = missing;
             ^

kernel.metal(4): warning #177-D: variable "unused" was declared but never referenced
    int unused;
        ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

2 errors detected in the compilation of "covarium".
`,
    message:
      'Kernel (fill) does not compile: identifier "p" is undefined (kernel.metal:5:1), the first of (2) errors.\n\n' +
      '  3 | kernel void fill(device float4* out, uint i [[thread_position_in_grid]]) {\n' +
      '  4 |   int unused;\n' +
      '> 5 |   out[i] = p.step * i;\n' +
      '    | ^\n' +
      '  6 |   out[i] = missing;\n',
    at: ['kernel.metal', 5],
    severities: ['error', 'error', 'warning'],
  },
  {
    sentence: "An error in a file that the user's text includes",
    output: `lib/step.h(2): error: identifier "missing" is undefined
    return i * missing;
               ^

1 error detected in the compilation of "covarium".
`,
    message: 'Kernel (fill) does not compile: identifier "missing" is undefined (lib/step.h:2:1).',
    at: ['lib/step.h', 2],
    severities: ['error'],
  },
  {
    sentence: "An error in a header of ours that a line of the user's text instantiates",
    output: `${own}/words.h(48): error: static assertion failed with "as_type keeps the size"
    static_assert(sizeof(To) == sizeof(From), "as_type keeps the size");
    ^
          detected during instantiation of "To covarium_unit::as_type<To,From>(const From &) [with To=covarium_unit::float4, From=covarium_unit::float2]" at line 5 of kernel.metal

1 error detected in the compilation of "covarium".
`,
    message: 'static assertion failed with "as_type keeps the size" (kernel.metal:5:1).\n\n',
    at: ['kernel.metal', 5],
    severities: ['error'],
  },
  {
    sentence: "An error in a header of ours, several instantiations below the user's line",
    output: `${own}/simdgroup.h(79): error: no operator "+" matches these operands
            operand types are: const covarium_unit::S + const covarium_unit::S
  COVARIUM_OF_TWO(sum, a + b)
  ^
${own}/simdgroup.h(79): note #3328-D: built-in operator+(<promoted arithmetic>, <promoted arithmetic>) does not match because argument #1 does not match parameter
  COVARIUM_OF_TWO(sum, a + b)
  ^
          detected during:
            instantiation of "T covarium_unit::metal::sumOfTwo(const T &, const T &) [with T=covarium_unit::S]" at line 87
            instantiation of "T covarium_unit::metal::simd_sum(T) [with T=covarium_unit::S]" at line 6 of kernel.metal

1 error detected in the compilation of "covarium".
`,
    message: 'no operator "+" matches these operands (kernel.metal:6:1).\n\n',
    at: ['kernel.metal', 6],
    severities: ['error'],
  },
  {
    sentence: 'An error after which NVRTC reads no further',
    output: `covarium(1): catastrophic error: cannot open source file "library/wrapper.h"
  #include <library/wrapper.h>
                              ^

1 catastrophic error detected in the compilation of "covarium".
Compilation terminated.
`,
    message: 'Kernel (fill) does not compile: cannot open source file "library/wrapper.h" (covarium:1:1).',
    at: ['covarium', 1],
    severities: ['error'],
  },
  {
    sentence: 'A failure without a line',
    output: `nvrtc: error: failed to open libnvrtc-builtins.so.13.0.
  Make sure that libnvrtc-builtins.so.13.0 is installed correctly.
`,
    message: 'Kernel (fill) does not compile (nvrtc: error: failed to open libnvrtc-builtins.so.13.0.\n',
    severities: [],
  },
];

for (const { sentence, output, message, at, severities } of forms)
  test(`${sentence}: the error says what NVRTC says, and where in the user's text.`, () => {
    const error = compileError(output, 'fill', texts);
    assert.is(error.code, 'ERR_KERNEL_COMPILE');
    assert.ok(error.message.includes(message), error.message);
    assert.equal([error.path, error.line], at === undefined ? [undefined, undefined] : [...at]);
    assert.equal(
      (error.diagnostics ?? []).map(({ severity }) => severity),
      severities,
    );
  });

test.run();
