import type { FunctionConstant } from '../constants.ts';
import type { Parameter, Signature } from '../signature.ts';
import { errorAt } from '../tokens.ts';
import { rewritten } from './rewrite.ts';

/** Words that make threads wait for each other or share memory: the groups of such a kernel run as fibers. */
const together = /^(?:threadgroup|simdgroup|simd_|quad_)/;

/**
 * The C++ expression of each built-in position, by attribute, from `place` and `grid` of wrapper.h, the CPU's or the
 * GPU's.
 */
const places: { readonly [attribute: string]: string } = {
  thread_position_in_grid: 'x, y, z',
  threads_per_grid: 'grid.threads',
  thread_position_in_threadgroup: 'place.inGroup',
  threadgroup_position_in_grid: 'place.group',
  threads_per_threadgroup: 'place.groupSize',
  dispatch_threads_per_threadgroup: 'grid.groupThreads',
  threadgroups_per_grid: 'grid.groups',
  thread_index_in_threadgroup: 'place.index, 0, 0',
  thread_index_in_simdgroup: 'place.index % grid.simdWidth, 0, 0',
  simdgroup_index_in_threadgroup: 'place.index / grid.simdWidth, 0, 0',
  threads_per_simdgroup: 'grid.simdWidth, 0, 0',
  thread_execution_width: 'grid.simdWidth, 0, 0',
  simdgroups_per_threadgroup:
    '(place.groupSize[0] * place.groupSize[1] * place.groupSize[2] + grid.simdWidth - 1) / grid.simdWidth, 0, 0',
  dispatch_simdgroups_per_threadgroup:
    '(grid.groupThreads[0] * grid.groupThreads[1] * grid.groupThreads[2] + grid.simdWidth - 1) / grid.simdWidth, 0, 0',
  thread_index_in_quadgroup: 'place.index % 4, 0, 0',
  quadgroup_index_in_threadgroup: 'place.index / 4, 0, 0',
  quadgroups_per_threadgroup: '(place.groupSize[0] * place.groupSize[1] * place.groupSize[2] + 3) / 4, 0, 0',
  grid_origin: '0, 0, 0',
  grid_size: 'grid.threads',
};

/** The attributes of built-in positions that the cpu device supports. */
export const placeAttributes: readonly string[] = Object.keys(places);

/**
 * The C++ text of a shared library with some kernels of a text: the text as C++, and the code that calls the kernels.
 * Throws `ERR_UNSUPPORTED` for what C++ does not have.
 */
export function translationUnit(
  kernels: readonly Signature[],
  constants: readonly FunctionConstant[],
  check: boolean,
): string {
  for (const { kind, attribute, name, token } of kernels.flatMap(({ parameters }) => parameters))
    if (kind === 'place' && !placeAttributes.includes(attribute))
      throw errorAt(
        token,
        `Argument (${name}) has an attribute (${attribute}) that the cpu device does not support; pass one of (${placeAttributes.join(', ')})`,
      );
  // Angle brackets, because the compiler searches the working folder before -I for a quoted include of a unit on
  // standard input.
  return `${check ? '#define COVARIUM_CHECK 1\n' : ''}#include <library/wrapper.h>
namespace {
namespace covarium_unit {
#include <library/words.h>
${rewritten(kernels, constants, check ? 'check' : 'cpu')}
#line 1 "covarium"
${kernels.map(({ expression }, i) => `static constexpr auto covarium_function_${i} = &covarium_unit::${expression};\n`).join('')}}
${kernels.map((kernel, i) => kernelText(kernel, i, check)).join('')}}
extern "C" __attribute__((visibility("default"))) const covarium::KernelLibrary* covariumKernel(const covarium::KernelHost* host, const char* name) {
  covarium::kernelHost = host;
${kernels.map(({ name }, i) => `  if (strcmp(name, ${JSON.stringify(name)}) == 0) return covarium_kernel_${i}::table();\n`).join('')}  return nullptr;
}
`;
}

/** True if the threads of a kernel wait for each other; a word in an attribute is no wait. */
function waits({ source, roots }: Signature): boolean {
  const ranges = [...source.reachable(roots)].map(({ begin, end }) => [begin, end] as const);
  for (const [begin, end] of ranges)
    for (let at = begin; at < end; at++) {
      if (source.isAttribute(at)) at = source.close[at]!;
      else if (together.test(source.text(at)) && source.tokens[at]!.kind === 'word') return true;
    }
  return false;
}

function kernelText(kernel: Signature, which: number, check: boolean): string {
  const { name, parameters } = kernel;
  const own = `covarium_unit::covarium_function_${which}`;
  const slots = parameters.filter(({ kind }) => kind !== 'place' && kind !== 'absent');
  const call = parameters.map((parameter, i) => argumentText(parameter, i, slots)).join(', ');
  const isBare = !/\bplace\./.test(call);
  const locals = slots.map((slot, i) => `  ${localText(slot, i, parameters)}\n`).join('');
  const row = `static void run(void* const* slots, const covarium::GridSize& grid, uint32_t begin, uint32_t end, uint32_t y, uint32_t z) {
${locals}
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
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
  return `namespace covarium_kernel_${which} {
using Arguments = covarium::Arguments<std::remove_const_t<decltype(${own})>>;
${inThreads ? thread : row}
${slots.map((slot, i) => membersText(slot, i, parameters)).join('')}
static const covarium::KernelSlot slotList[] = {${slots.map((slot, i) => slotText(slot, i, parameters)).join('')}{0, 0, 0, nullptr}};
static const covarium::KernelLibrary* table() {
  static const covarium::KernelLibrary library = {covarium::kernelAbi, ${JSON.stringify(name)}, ${slots.length}, slotList, &covarium::staticThreadgroupBytes<${own}>, ${inThreads ? 'nullptr, run' : 'run, nullptr'}};
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
    ({ name }) => `{"${name}", offsetof(covarium::Pointee<${typeText(slot, parameters)}>, ${name})}, `,
  );
  return `static const covarium::KernelMember members${i}[] = {${each.join('')}{nullptr, 0}};\n`;
}
