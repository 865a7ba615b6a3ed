import type { Parameter, Signature } from '../signature.ts';
import { codeOf, type Replacement, replaced } from '../source.ts';
import { threadgroupVariables } from './threadgroup-variables.ts';

/** Words that make threads wait for each other or share memory: the groups of such a text run as fibers. */
const together = /\b(?:threadgroup|simdgroup|simd_|quad_)/;

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
  thread_index_in_quadgroup: 'place.index % 4, 0, 0',
  quadgroup_index_in_threadgroup: 'place.index / 4, 0, 0',
  quadgroups_per_threadgroup: '(place.groupSize[0] * place.groupSize[1] * place.groupSize[2] + 3) / 4, 0, 0',
  grid_origin: '0, 0, 0',
};

/** The attributes of built-in positions that the cpu device supports. */
export const placeAttributes: readonly string[] = Object.keys(places);

/**
 * The C++ text of a shared library with one kernel: the user's text in its own namespace, and the code that calls it.
 */
export function translationUnit(text: string, signature: Signature, check: boolean): string {
  // Words in attributes do not count: [[threadgroup_position_in_grid]] waits for nothing.
  const waits =
    check || together.test(withoutAttributes(codeOfKernel(text, signature))) || together.test(macrosOf(text));
  const own = groupVariables(withoutAttributes(text), signature, check);
  // Angle brackets, because the compiler searches the working folder before -I for a quoted include of a unit on
  // standard input.
  return `#include <library/wrapper.h>
namespace {
#include <library/words.h>
namespace user_kernel {
${check ? withCheckedPointers(own) : own}
}
}
#line 1 "covarium"
#undef kernel
#undef device
#undef constant
#undef thread
#undef threadgroup
${tail(signature, waits, check)}`;
}

function tail({ name, parameters }: Signature, waits: boolean, check: boolean): string {
  const slots = parameters.filter(({ kind }) => kind !== 'place');
  const call = parameters.map((parameter, i) => argumentText(parameter, i, slots)).join(', ');
  const isBare = !/\bplace\./.test(call);
  const row = `static void runRow(void* const* slots, const covarium::GridSize& grid, uint32_t begin, uint32_t end, uint32_t y, uint32_t z) {
${slots.map((slot, i) => `  ${localText(slot, i, parameters)}\n`).join('')}
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
  for (uint32_t x = begin; x < end; ++x) {
${isBare ? '' : '    const covarium::ThreadPlace place = covarium::placeInRow(grid, x, y, z);\n'}    user_kernel::${name}(${call});
  }
  (void)slots, (void)grid, (void)y, (void)z;
}`;
  const thread = `static void runThread(void* const* slots, const covarium::GridSize& grid, const covarium::ThreadPlace& place) {
  covarium::reachOwnMemory();
  const uint32_t x = place.group[0] * grid.groupThreads[0] + place.inGroup[0];
  const uint32_t y = place.group[1] * grid.groupThreads[1] + place.inGroup[1];
  const uint32_t z = place.group[2] * grid.groupThreads[2] + place.inGroup[2];
${check ? extentsText(slots) : ''}${slots.map((slot, i) => `  ${localText(slot, i, parameters)}\n`).join('')}  user_kernel::${name}(${call});
  (void)slots, (void)grid, (void)x, (void)y, (void)z;
}`;
  return `namespace {
using Arguments = covarium::Arguments<decltype(&user_kernel::${name})>;
${waits ? thread : row}
${slots.map((slot, i) => membersText(slot, i, parameters)).join('')}
const covarium::KernelSlot slotList[] = {${slots.map((slot, i) => slotText(slot, i, parameters)).join('')}{0, 0, 0, nullptr}};
}
extern "C" __attribute__((visibility("default"))) const covarium::KernelLibrary* covariumKernel(const covarium::KernelHost* host) {
  covarium::kernelHost = host;
  static const covarium::KernelLibrary library = {covarium::kernelAbi, ${slots.length}, slotList, covarium::staticThreadgroupBytes, ${waits ? 'nullptr, runThread' : 'runRow, nullptr'}};
  return &library;
}
`;
}

function typeText(slot: Parameter, parameters: readonly Parameter[]): string {
  return `Arguments::At<${parameters.indexOf(slot)}>`;
}

// A constant is copied into a local variable, so that the compiler knows that no buffer aliases it.
function localText(slot: Parameter, i: number, parameters: readonly Parameter[]): string {
  const reference = slot.kind === 'constant' && !slot.isPointer ? 'const auto' : 'auto&&';
  return `${reference} slot${i} = covarium::argument<${typeText(slot, parameters)}>(slots, ${i});`;
}

/** The expression that a kernel is called with for a parameter: its slot, or its position. */
export function argumentText(parameter: Parameter, i: number, slots: readonly Parameter[]): string {
  if (parameter.kind !== 'place') return `slot${slots.indexOf(parameter)}`;
  return `covarium::place<Arguments::At<${i}>>(${places[parameter.attribute]!})`;
}

function slotText(slot: Parameter, i: number, parameters: readonly Parameter[]): string {
  const type = `covarium::Pointee<${typeText(slot, parameters)}>`;
  return `{sizeof(${type}), alignof(${type}), sizeof members${i} / sizeof *members${i} - 1, members${i}}, `;
}

function membersText(slot: Parameter, i: number, parameters: readonly Parameter[]): string {
  const each = (slot.layout?.members ?? []).map(
    ({ name }) => `{"${name}", offsetof(covarium::Pointee<${typeText(slot, parameters)}>, ${name})}, `,
  );
  return `const covarium::KernelMember members${i}[] = {${each.join('')}{nullptr, 0}};\n`;
}

/** The text without comments and without the bodies of other kernels: the code that the kernel may run. */
function codeOfKernel(text: string, { otherBodies }: Signature): string {
  const bodies = otherBodies.map(([begin, end]) => ({ begin, end, by: ' ' }));
  return replaced(codeOf(text), bodies);
}

/** The expansions of the macros of a text. */
function macrosOf(text: string): string {
  const definitions = text.matchAll(/^[ \t]*#[ \t]*define[ \t]+\w+((?:\\\r?\n|[^\n])*)/gm);
  return [...definitions].map(([, body]) => withoutAttributes(body!)).join('\n');
}

/**
 * In MSL, variables in threadgroup memory are declared in the kernel's body. Here they become thread-local variables of
 * the processor's thread, which runs one group at a time; their sizes are summed when the library is loaded. Line
 * numbers do not change.
 */
function groupVariables(text: string, { body: [first, last] }: Signature, check: boolean): string {
  const found = threadgroupVariables(text).filter(({ begin, end }) => begin > first && end <= last);
  let before = 0;
  const declarations = found.map(({ begin, end, alignment, type, variables }): Replacement => {
    const which = before;
    before += variables.length;
    const each = variables.map(({ name, dimensions }, i) => {
      const counted = `(void)&covarium::StaticMemory<sizeof(${name}), ${which + i}>::counted;`;
      const isChecked = check && dimensions !== '';
      const whole = isChecked
        ? `covarium::CheckedArray<${type} ${dimensions}> ${name}`
        : `${type} ${name}${dimensions}`;
      const known = check ? `covarium::declareOwn(${which + i}, "${name}", (void*)&${name}, sizeof ${name});` : '';
      return `${alignment} static thread_local ${whole}; ${counted} ${known}`.replace(/\s+/g, ' ');
    });
    const lines = text.slice(begin, end).replace(/[^\n]/g, '');
    return { begin, end, by: `${each.join(' ')}${lines}` };
  });
  return replaced(text, declarations);
}

/**
 * The text without Metal's attributes, whose words have another meaning in C++, and without a const that repeats
 * constant.
 */
export function withoutAttributes(text: string): string {
  const code = codeOf(text);
  const spans = [...code.matchAll(/\[\[[^[\]]*\]\]|\bconst\b(?<=\bconstant\s+const)/g)];
  return replaced(
    text,
    spans.map(({ index, 0: whole }) => ({
      begin: index,
      end: index + whole.length,
      by: whole.replace(/[^\n]/g, ' '),
    })),
  );
}

/** Registers the extent of each buffer for checked pointers. */
function extentsText(slots: readonly Parameter[]): string {
  const each = slots.map(({ name }, i) => `{"${name}", static_cast<char*>(slots[${i}]), grid.slotBytes[${i}]}, `);
  return `  static thread_local covarium::Extent extentList[${slots.length + 1}];
  const covarium::Extent now[] = {${each.join('')}{nullptr, nullptr, 0}};
  memcpy(extentList, now, sizeof now);
  covarium::extents = extentList;
  covarium::extentCount = ${slots.length};
`;
}

/** Replaces every pointer to the device's memory by one that checks its accesses (checked.h). */
function withCheckedPointers(text: string): string {
  const pointer =
    /((?:\b(?:const|volatile)\s+){0,2})\b(?:device|constant|threadgroup)\s+((?:\b(?:const|volatile)\s+){0,2})((?:unsigned\s+|struct\s+)?[\w:]+(?:\s*<[^<>;(){}]*>)?)((?:\s+(?:const|volatile)\b){0,2})\s*\*(?:\s*(?:restrict|__restrict)\b)?/g;
  const code = codeOf(text);
  const found = [...code.matchAll(pointer)];
  const pointers = found.map((match): Replacement => {
    const [whole, before, between, type, behind] = match as unknown as [string, string, string, string, string];
    const isConstant = /\bconstant\b/.test(whole) || /\bconst\b/.test(before + between + behind);
    const lines = whole.replace(/[^\n]/g, '');
    // Deduced from its initialiser.
    const element = type === 'auto' ? '' : `<${isConstant ? 'const ' : ''}${type}>`;
    const begin = match.index;
    return { begin, end: begin + whole.length, by: `covarium::Checked${element} ${lines}` };
  });
  const stars = new Set(found.flatMap(({ index, 0: whole }) => starsBehind(code, index + whole.length)));
  const further = [...stars].map((at): Replacement => ({ begin: at, end: at + 1, by: ' ' }));
  const all = [...pointers, ...further].sort((a, b) => a.begin - b.begin);
  return replaced(text, all).replace(/\breinterpret_cast(?=\s*<\s*covarium::Checked)/g, 'static_cast');
}

/** Characters of a declaration that are looked at for further pointers. */
const longestDeclaration = 300;

/** The places of the stars of further pointers in one declaration: `device float *a = in, *b = out;`. */
function starsBehind(code: string, from: number): number[] {
  const stars: number[] = [];
  let depth = 0;
  for (let at = from; at < Math.min(code.length, from + longestDeclaration) && depth >= 0; at++) {
    const letter = code[at]!;
    if ('([{'.includes(letter)) depth++;
    if (')]}'.includes(letter)) depth--;
    if (depth === 0 && letter === ';') break;
    if (depth === 0 && letter === '*' && /,\s*$/.test(code.slice(Math.max(from, at - 20), at))) stars.push(at);
  }
  return stars;
}
