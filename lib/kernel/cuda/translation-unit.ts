import { threadgroupVariables } from '../cpu/threadgroup-variables.ts';
import { argumentText, withoutAttributes } from '../cpu/translation-unit.ts';
import type { Parameter, Signature } from '../signature.ts';
import { codeOf, type Replacement, replaced, withoutStrings } from '../source.ts';

/**
 * The text of one kernel in CUDA C++, for NVRTC and for clang: the user's text in a namespace, and the function that
 * the driver launches, `covarium_kernel`, with the layout of its arguments in `covarium_layout`.
 */
export function translationUnit(text: string, signature: Signature): string {
  return `#ifdef __clang__
#pragma clang force_cuda_host_device begin
#endif
namespace covarium_unit {
#include <library/wrapper.h>
#include <library/words.h>
namespace user_kernel {
${withFloats(withConstants(groupVariables(withoutAttributes(text), signature)))}
}
#line 1 "covarium"
#undef kernel
#undef device
#undef constant
#undef thread
#undef threadgroup
${tail(signature)}}
`;
}

function tail({ name, parameters }: Signature): string {
  const slots = parameters.filter(({ kind }) => kind !== 'place');
  const typeOf = (slot: Parameter) => `Arguments::At<${parameters.indexOf(slot)}>`;
  const declared = slots.map(({ kind }, i) => (kind === 'threadgroup' ? `size_t own${i}, ` : `void* memory${i}, `));
  const locals = slots.map((slot, i) => {
    const memory = slot.kind === 'threadgroup' ? `covarium_memory + own${i}` : `memory${i}`;
    return `  auto&& slot${i} = covarium::argument<${typeOf(slot)}>(${memory});\n`;
  });
  const layouts = slots.map((slot) => {
    const type = `covarium::Pointee<${typeOf(slot)}>`;
    const members = (slot.layout?.members ?? []).map((member) => `__builtin_offsetof(${type}, ${member.name}), `);
    return `sizeof(${type}), alignof(${type}), ${members.join('')}`;
  });
  const call = parameters.map((parameter, i) => argumentText(parameter, i, slots)).join(', ');
  return `using Arguments = covarium::Arguments<decltype(&user_kernel::${name})>;
extern __shared__ __attribute__((aligned(64))) char covarium_memory[];
extern "C" {
__device__ unsigned covarium_layout[] = {${layouts.join('')}0};
__global__ void __launch_bounds__(1024) covarium_kernel(${declared.join('')}covarium::GridSize grid) {
  covarium::ThreadPlace place;
  if (!covarium::findPlace(grid, place)) return;
  const uint32_t x = place.group[0] * grid.groupThreads[0] + place.inGroup[0];
  const uint32_t y = place.group[1] * grid.groupThreads[1] + place.inGroup[1];
  const uint32_t z = place.group[2] * grid.groupThreads[2] + place.inGroup[2];
${locals.join('')}  user_kernel::${name}(${call});
  (void)x, (void)y, (void)z;
}
}
`;
}

/** Variables in threadgroup memory become the GPU's shared memory. Line numbers do not change. */
function groupVariables(text: string, { body: [first, last] }: Signature): string {
  const found = threadgroupVariables(text).filter(({ begin, end }) => begin > first && end <= last);
  return replaced(
    text,
    found.map(({ begin, end, alignment, type, variables }): Replacement => {
      const each = variables.map(({ name, dimensions }) => `${alignment} __shared__ ${type} ${name}${dimensions};`);
      return {
        begin,
        end,
        by: `${each.join(' ').replace(/\s+/g, ' ')}${text.slice(begin, end).replace(/[^\n]/g, '')}`,
      };
    }),
  );
}

/** Constants of the text become known to the compiler, which keeps them where the GPU reads them. */
function withConstants(text: string): string {
  const code = codeOf(text);
  let depth = 0;
  let done = 0;
  const found: Replacement[] = [];
  for (const { index, 0: declared } of code.matchAll(/\bconstant\b(?=[^;(){}]*[={])/g)) {
    for (; done < index; done++) depth += '({'.includes(code[done]!) ? 1 : ')}'.includes(code[done]!) ? -1 : 0;
    if (depth === 0) found.push({ begin: index, end: index + declared.length, by: 'constexpr' });
  }
  return replaced(text, found).replace(/\bconstexpr\s+(?:static\s+)?constexpr\b/g, 'constexpr');
}

/** In Metal, a number without a suffix is a float. */
function withFloats(text: string): string {
  const number =
    /(?<![\w.])(?:(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|0[xX][\da-fA-F.]+[pP][+-]?\d+)(?![\w.])/g;
  const found = [...withoutStrings(text).matchAll(number)];
  return replaced(
    text,
    found.map(({ index, 0: digits }) => ({ begin: index, end: index + digits.length, by: `${digits}f` })),
  );
}
