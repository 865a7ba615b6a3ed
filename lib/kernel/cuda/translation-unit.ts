import type { FunctionConstant } from '../constants.ts';
import { headersOf, rewritten } from '../cpu/rewrite.ts';
import { argumentText } from '../cpu/translation-unit.ts';
import type { Parameter } from '../parameter.ts';
import type { Signature } from '../signature.ts';

/**
 * The text of one kernel in CUDA C++, for NVRTC and for clang: the kernel and what it uses, and the function that the
 * driver launches, `covarium_kernel`, with the layout of its arguments in `covarium_layout`.
 */
export function translationUnit(kernel: Signature, constants: readonly FunctionConstant[]): string {
  const { text } = rewritten([kernel], constants, 'cuda');
  return `#ifdef __clang__
#pragma clang force_cuda_host_device begin
#endif
namespace covarium_unit {
#include <library/wrapper.h>
${headersOf(text)}${text}
#line 1 "covarium"
${tail(kernel)}}
`;
}

function tail({ expression, parameters }: Signature): string {
  const slots = parameters.filter(({ kind }) => kind !== 'place' && kind !== 'absent');
  const typeOf = (slot: Parameter) => `Arguments::At<${parameters.indexOf(slot)}>`;
  const declared = slots.map(({ kind }, i) => (kind === 'threadgroup' ? `size_t own${i}, ` : `void* memory${i}, `));
  const locals = slots.map((slot, i) => {
    const memory = slot.kind === 'threadgroup' ? `covarium_memory + own${i}` : `memory${i}`;
    return `  auto&& slot${i} = covarium::argument<${typeOf(slot)}>(${memory});\n`;
  });
  const layouts = slots.map((slot) => {
    const type = `covarium::Pointee<${typeOf(slot)}>`;
    const members = (slot.layout?.members ?? []).map((member) => `__builtin_offsetof(${type}, ${member.name}), `);
    return `covarium::sizeOf<${type}>, covarium::alignmentOf<${type}>, ${members.join('')}`;
  });
  const call = parameters.map((parameter, i) => argumentText(parameter, i, slots)).join(', ');
  return `using Arguments = covarium::Arguments<decltype(&covarium_unit::${expression})>;
extern __shared__ __attribute__((aligned(64))) char covarium_memory[];
extern "C" {
__device__ unsigned covarium_layout[] = {${layouts.join('')}0};
__global__ void __launch_bounds__(1024) covarium_kernel(${declared.join('')}covarium::GridSize grid) {
  covarium::ThreadPlace place;
  if (!covarium::findPlace(grid, place)) return;
  const uint32_t x = place.group[0] * grid.groupThreads[0] + place.inGroup[0];
  const uint32_t y = place.group[1] * grid.groupThreads[1] + place.inGroup[1];
  const uint32_t z = place.group[2] * grid.groupThreads[2] + place.inGroup[2];
${locals.join('')}  covarium_unit::${expression}(${call});
  (void)x, (void)y, (void)z;
}
}
`;
}
