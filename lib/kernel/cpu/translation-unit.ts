import type { FunctionConstant } from '../constants.ts';
import type { Parameter } from '../parameter.ts';
import type { Signature } from '../signature.ts';
import { errorAt } from '../tokens.ts';
import { placeAttributes, places } from './places.ts';
import { headersOf, rewritten, waits } from './rewrite.ts';

/**
 * The C++ text of a shared library with some kernels of a text: the text as C++, and the code that calls the kernels.
 * Throws `ERR_UNSUPPORTED` for what C++ does not have.
 * With `mayLoop`, groups run by loops where that is possible.
 */
export function translationUnit(
  kernels: readonly Signature[],
  constants: readonly FunctionConstant[],
  check: boolean,
  mayLoop = true,
): string {
  for (const { kind, attribute, name, token } of kernels.flatMap(({ parameters }) => parameters))
    if (attribute === 'stage_in')
      throw errorAt(
        token,
        `Argument (${name}) has an attribute (stage_in), which a descriptor of vertices fills; read its fields from a buffer (device T*) instead`,
      );
    else if (kind === 'place' && !placeAttributes.includes(attribute))
      throw errorAt(
        token,
        `Argument (${name}) has an attribute (${attribute}) that the cpu device does not support; pass one of (${placeAttributes.join(', ')})`,
      );
  const { text, groups: loops } = rewritten(kernels, constants, check ? 'check' : 'cpu');
  const groups = mayLoop ? loops : [];
  // Angle brackets, because the compiler searches the working folder before -I for a quoted include of a unit on
  // standard input.
  return `${check ? '#define covarium_check_mode 1\n' : ''}#include <library/wrapper.h>
namespace {
namespace std = covarium::std;
namespace covarium_unit {
${headersOf(text)}${text}
#line 1 "covarium"
${kernels.map(({ expression }, i) => `static constexpr auto covarium_function_${i} = &covarium_unit::${expression};\n`).join('')}${groups.join('')}}
#line 1 "covarium"
${kernels.map((kernel, i) => kernelText(kernel, i, check, groups[i] !== undefined)).join('')}}
extern "C" __attribute__((visibility("default"))) const covarium::KernelLibrary* covariumKernel(const covarium::KernelHost* host, const char* name) {
  covarium::kernelHost = host;
${kernels.map(({ name }, i) => `  if (strcmp(name, ${JSON.stringify(name)}) == 0) return covarium_kernel_${i}::table();\n`).join('')}  return nullptr;
}
`;
}

function kernelText(kernel: Signature, which: number, check: boolean, isInGroups: boolean): string {
  const { name, parameters } = kernel;
  const own = `covarium_unit::covarium_function_${which}`;
  const slots = parameters.filter(({ kind }) => kind !== 'place' && kind !== 'absent');
  const call = parameters.map((parameter, i) => argumentText(parameter, i, slots)).join(', ');
  const isBare = !/\bplace\./.test(call);
  const locals = slots.map((slot, i) => `  ${localText(slot, i, parameters)}\n`).join('');
  const row = `static void run(void* const* slots, const covarium::GridSize& grid, uint32_t begin, uint32_t end, uint32_t y, uint32_t z) {
${locals}
#if defined(__clang__)
#pragma clang loop vectorize(enable)
#else
#pragma GCC ivdep
#endif
  for (uint32_t x = begin; x < end; ++x) {
${isBare ? '' : '    const covarium::ThreadPlace place = covarium::placeInRow(grid, x, y, z);\n'}    ${own}(${call});
  }
  (void)slots, (void)grid, (void)y, (void)z;
}`;
  const thread = `static void run(void* const* slots, const covarium::GridSize& grid, const covarium::ThreadPlace& place) {
  covarium::reachOwnMemory();
  const uint32_t x = place.group[0] * grid.groupThreads[0] + place.inGroup[0];
  const uint32_t y = place.group[1] * grid.groupThreads[1] + place.inGroup[1];
  const uint32_t z = place.group[2] * grid.groupThreads[2] + place.inGroup[2];
${locals}  ${own}(${call});
  (void)slots, (void)grid, (void)x, (void)y, (void)z;
}`;
  const inThreads = check || waits(kernel);
  const group = `nullptr, nullptr, covarium_unit::${kernel.declaration.scope}covarium_group_${which}`;
  const runs = isInGroups ? group : inThreads ? 'nullptr, run, nullptr' : 'run, nullptr, nullptr';
  return `namespace covarium_kernel_${which} {
using Arguments = covarium::Arguments<std::remove_const_t<decltype(${own})>>;
${isInGroups ? '' : inThreads ? thread : row}
${slots.map((slot, i) => membersText(slot, i, parameters)).join('')}
static const covarium::KernelSlot slotList[] = {${slots.map((slot, i) => slotText(slot, i, parameters)).join('')}{0, 0, 0, nullptr}};
static const covarium::KernelLibrary* table() {
  static const covarium::KernelLibrary library = {covarium::kernelAbi, ${JSON.stringify(name)}, ${slots.length}, slotList, &covarium::staticThreadgroupBytes<${own}>, ${runs}};
  return &library;
}
}
`;
}

function typeText(slot: Parameter, parameters: readonly Parameter[]): string {
  return `Arguments::At<${parameters.indexOf(slot)}>`;
}

// A constant is copied into a local variable, so that the compiler knows that no buffer aliases it. One that ends in an
// array may have more elements than its type says.
function localText(slot: Parameter, i: number, parameters: readonly Parameter[]): string {
  const { kind, isPointer, layout } = slot;
  const isCopied =
    kind === 'constant' &&
    !isPointer &&
    layout !== undefined &&
    layout.sizeBytes <= 1024 &&
    layout.element === undefined &&
    layout.members?.at(-1)?.layout.length === undefined;
  return `${isCopied ? 'const auto' : 'auto&&'} slot${i} = covarium::argument<${typeText(slot, parameters)}>(slots, ${i});`;
}

/** The expression that a kernel is called with for a parameter: its slot, or its position. */
export function argumentText(parameter: Parameter, i: number, slots: readonly Parameter[]): string {
  if (parameter.kind === 'absent') return parameter.isPointer ? 'nullptr' : `covarium::nothing<Arguments::At<${i}>>()`;
  if (parameter.kind !== 'place') return `slot${slots.indexOf(parameter)}`;
  return `covarium::place<Arguments::At<${i}>>(${places[parameter.attribute]!})`;
}

function slotText(slot: Parameter, i: number, parameters: readonly Parameter[]): string {
  const type = `covarium::Pointee<${typeText(slot, parameters)}>`;
  return `{covarium::sizeOf<${type}>, covarium::alignmentOf<${type}>, sizeof members${i} / sizeof *members${i} - 1, members${i}}, `;
}

function membersText(slot: Parameter, i: number, parameters: readonly Parameter[]): string {
  const each = (slot.layout?.members ?? []).map(
    ({ name }) => `{"${name}", __builtin_offsetof(covarium::Pointee<${typeText(slot, parameters)}>, ${name})}, `,
  );
  return `static const covarium::KernelMember members${i}[] = {${each.join('')}{nullptr, 0}};\n`;
}
