import type { FunctionConstant } from '../constants.ts';
import type { Declaration, Range, Source } from '../declarations.ts';
import { reachable } from '../reachable.ts';
import { type Signature, stageOf } from '../signature.ts';
import { Edits, errorAt, written } from '../tokens.ts';
import { wrapOperands } from './arithmetic.ts';
import { exchangingFunctions, markExchanges } from './call-sites.ts';
import { groupLoops } from './group-loops.ts';
import { pollInLoops } from './loops.ts';
import { constructorSpaces, repeatedFunctions } from './overloads.ts';
import { shareVariables, type Target } from './threadgroup-variables.ts';

/** Words that C++ does not have, or that mean nothing where all memory is one. */
const dropped: ReadonlySet<string> = new Set([
  'device',
  'thread',
  'threadgroup',
  'kernel',
  'coherent',
  'threadgroup_imageblock',
  'ray_data',
  'object_data',
]);

const noMemory = 'is not MSL: declare an array of the thread (float t[16]), or pass a buffer (device T*)';
const noExceptions = 'is not MSL: write what is wrong into a buffer';

/** What MSL or the cpu device does not have, with what to write instead. */
const refused: { readonly [word: string]: string } = {
  double: 'is not a type of MSL: write float, or write the kernel in TypeScript with f64 (device.compute)',
  new: noMemory,
  delete: noMemory,
  goto: 'is not MSL: write a loop with break, continue or return',
  throw: noExceptions,
  try: noExceptions,
  catch: noExceptions,
  typeid: 'is not MSL: make the type a parameter of a template',
  dynamic_cast: 'is not MSL: write static_cast',
  virtual: 'is not MSL: make the type a parameter of a template, or call functions by their names in a switch',
  asm: 'is not MSL: write it in MSL',
  __asm: 'is not MSL: write it in MSL',
  __asm__: 'is not MSL: write it in MSL',
  visible_function_table: 'is not of this device: call a function by its name, in a switch',
  intersection_function_table: 'is not of this device: call a function by its name, in a switch',
};

/** Words that make threads wait for each other or share memory: the groups of such a kernel run as fibers. */
const together = /^(?:threadgroup|simdgroup|simd_|quad_)/;

/** A text in C++. */
interface Rewritten {
  readonly text: string;
  /** Of each kernel, the function that runs a group by loops; undefined where threads run one by one. */
  readonly groups: readonly (string | undefined)[];
}

/** Types of what only a GPU has. */
const objects = /^(?:(?:texture|depth)2d_ms(?:_array)?|(?:instance|primitive)_acceleration_structure)$/;

/** The text of some kernels, and of all that they use, as C++ over the words of library/words.h. */
export function rewritten(
  kernels: readonly Signature[],
  constants: readonly FunctionConstant[],
  target: Target,
): Rewritten {
  const { source } = kernels[0]!;
  const kept = reachable(
    source,
    kernels.flatMap(({ roots }) => roots),
  );
  const functions = source.declarations.filter((each) => isWritten(source, each, kept, kernels));
  const repeated = repeatedFunctions(source, functions);
  const exchanging = target === 'cuda' ? new Set<string>() : exchangingFunctions(source, functions);
  const edited = (mayMark: boolean): Edits => {
    const edits = new Edits();
    for (const [begin, end] of repeated) edits.drop(begin, end);
    for (const type of functions.filter(({ kind }) => kind === 'type'))
      for (const at of constructorSpaces(source, type)) edits.drop(at, at + 1);
    for (const declaration of functions) {
      if (edits.isDropped(declaration.begin)) continue;
      rewriteBodies(source, declaration, kernels, edits, target, mayMark ? exchanging : undefined);
      rewriteWords(source, declaration, edits, constants, target, kernels[0]!.hasDouble === true);
    }
    for (const { declaration, literal, nameAt } of constants)
      if (kept.has(declaration)) edits.after(nameAt, `= ${literal}`);
    return edits;
  };
  const ranges = [...functions.map(({ begin, end }): Range => [begin, end]), ...source.frames];
  const text = written(
    source.tokens,
    ranges.sort((a, b) => a[0] - b[0]),
    edited(target !== 'cuda'),
  );
  // In a loop over the threads of a group nothing exchanges by itself.
  const plain = target === 'cpu' && kernels.some(waits) ? edited(false) : undefined;
  const groups = kernels.map((each, i) =>
    plain !== undefined && waits(each) ? groupLoops(each, i, plain) : undefined,
  );
  return { text, groups };
}

/** The headers of a rewritten text: what few texts have only where it is asked for, because it takes time. */
export function headersOf(text: string): string {
  const internal = /\b(?:__(?:metal_|METAL_|is_valid_)|_(?:con|dis)junction\b|uniform *<|make_uniform\b)/.test(text)
    ? '#include <library/internal.h>\n'
    : '';
  const pack = /\b(?:un)?pack_[a-z]/.test(text) ? '#include <library/pack.h>\n' : '';
  // As Metal's without its validation: what it says is not asked.
  const assert =
    /\bassert *\(/.test(text) && !/\b(?:void|bool|int)\s+assert *\(/.test(text)
      ? '#define assert(...) ((void)0)\n'
      : '';
  const texture = /\b(?:(?:texture|depth)(?:1d|2d|3d|cube|_buffer)\w* *<|sampler\b)/.test(text)
    ? '#include <library/texture.h>\n'
    : '';
  const logging = /\bos_log\w*/.test(text) ? '#include <library/logging.h>\n' : '';
  return `#include <library/words.h>\n${logging}${texture}${internal}${pack}${assert}`;
}

/** True if the threads of a kernel wait for each other; a word in an attribute is not a wait. */
export function waits({ source, roots }: Signature): boolean {
  const ranges = [...reachable(source, roots)].map(({ begin, end }) => [begin, end] as const);
  for (const [begin, end] of ranges)
    for (let at = begin; at < end; at++) {
      if (source.isAttribute(at)) at = source.close[at]!;
      else if (together.test(source.text(at)) && source.tokens[at]!.kind === 'word') return true;
    }
  return false;
}

function isWritten(
  source: Source,
  declaration: Declaration,
  kept: ReadonlySet<Declaration>,
  kernels: readonly Signature[],
): boolean {
  if (!kept.has(declaration) || declaration.kind === 'instantiation') return false;
  const stage = stageOf(source, declaration);
  if (stage !== 'kernel') return stage === '';
  // A kernel may call another, by its name.
  return declaration.body !== undefined || kernels.every((each) => each.declaration !== declaration);
}

/** Rewrites what happens in functions: those of the text, and those in its types. */
function rewriteBodies(
  source: Source,
  declaration: Declaration,
  kernels: readonly Signature[],
  edits: Edits,
  target: Target,
  exchanging: ReadonlySet<string> | undefined,
): void {
  const { kind, body, nameAt, templateParameters, scope } = declaration;
  if (body === undefined) return;
  const bodies: Range[] = [];
  if (kind === 'type') {
    for (let at = body[0] + 1; at < body[1]; at++)
      if (source.text(at) === '{') {
        bodies.push([at, source.close[at]!]);
        at = source.close[at]!;
      } else if (source.text(at) === 'template' && source.text(at + 1) === '<') {
        at = source.angleEnd(at + 1, body[1], true) ?? at;
      } else if (source.text(at) === '(' || source.text(at) === '[') {
        at = source.close[at]!;
      } else {
        const end = valuesEnd(source, at);
        if (end === undefined) continue;
        wrapOperands(source, [at + 1, end], edits);
        at = end - 1;
      }
  } else bodies.push(body);
  for (const each of bodies) {
    if (exchanging !== undefined) markExchanges(source, each, exchanging, edits);
    wrapOperands(source, each, edits);
    if (target !== 'cuda') pollInLoops(source, each, edits);
  }
  if (kind === 'type') return;
  const isKernel =
    kernels.some((each) => each.declaration === declaration) || stageOf(source, declaration) === 'kernel';
  const own = `covarium_unit::${scope}${source.text(nameAt)}`;
  const whole = templateParameters.length === 0 ? own : `${own}<${templateParameters.join(', ')}>`;
  shareVariables(source, body, isKernel ? whole : own, edits, target);
}

const behindParameters = /^(?:\)|thread|threadgroup|device|constant|const|noexcept)$/;

/** Where the values of members end that begin behind a token: a constructor's list, or what is behind =. */
function valuesEnd(source: Source, at: number): number | undefined {
  const isList = source.text(at) === ':' && behindParameters.test(source.text(at - 1));
  if (!isList && (source.text(at) !== '=' || source.text(at - 1) === 'operator')) return undefined;
  for (let end = at + 1; ; end = Math.max(end, source.close[end]!) + 1) {
    const text = source.text(end);
    if (text === ';' || text === '' || (isList && text === '{' && /^[)}]$/.test(source.text(end - 1)))) return end;
  }
}

function rewriteWords(
  source: Source,
  { begin, end, kind }: Declaration,
  edits: Edits,
  constants: readonly FunctionConstant[],
  target: Target,
  hasDouble: boolean,
): void {
  const isOnGpu = target === 'cuda';
  for (let at = begin; at < end; at++) {
    if (edits.isDropped(at)) continue;
    const token = source.tokens[at]!;
    if (source.isAttribute(at)) {
      edits.drop(at, source.close[at]! + 1);
      at = source.close[at]!;
    } else if (token.text === '_Pragma' && source.text(at + 1) === '(') {
      edits.drop(at, source.close[at + 1]! + 1);
      at = source.close[at + 1]!;
    } else if (token.kind === 'number') {
      const [, digits, suffix] = /^(\.?\d[\d.]*(?:[eE][-+]?\d+)?)(h|H|bf|BF)$/.exec(token.text) ?? [];
      // Where no flag of the compiler makes floats of numbers without a suffix.
      if (isOnGpu && isDouble(token.text)) edits.replace(at, `${token.text}f`);
      if (digits !== undefined)
        edits.replace(
          at,
          `${/h/i.test(suffix!) ? 'half' : 'bfloat'}(${/[.eE]/.test(digits) ? digits : `${digits}.0`}f)`,
        );
    } else if (token.text === '{' && isOneNumber(source, at)) edits.before(source.close[at]!, ', covarium::Rest()');
    else if (token.kind !== 'word') continue;
    else if (isSwizzle(source, at)) {
      if (isRare(token.text) && source.text(at + 1) !== '(') edits.replace(at, swizzle(token.text));
      if (isRead(source, at)) edits.after(at, '.plain()');
    } else if (token.text === 'volatile' && !isOfScalar(source, at)) edits.replace(at, '');
    else if (token.text === 'coherent' && source.text(at + 1) === '(') edits.drop(at, source.close[at + 1]! + 1);
    else if (dropped.has(token.text)) edits.replace(at, '');
    else if (isAccess(source, at)) edits.replace(at, token.text === 'class' ? 'struct' : 'public');
    else if (token.text === 'constant') {
      // A GPU reads the text's own constants only where the compiler knows them.
      const isKnown = isOnGpu && kind === 'variable' && !source.hasWord(begin, end, 'constexpr');
      edits.replace(at, isKnown ? 'constexpr' : isConst(source, at, begin, end) ? '' : 'const');
    } else if (token.text === 'is_function_constant_defined') {
      const asked = constants.find(({ name }) => name === source.text(at + 2));
      edits.drop(at, source.close[at + 1]! + 1);
      edits.replace(at, String(asked?.value !== undefined));
    } else if (objects.test(token.text) && /^(?:[<*&]|[A-Za-z_]\w*)$/.test(source.text(at + 1)))
      throw errorAt(
        token,
        `Type (${token.text}) is not of this device: pass its numbers in a buffer (device T*) instead`,
      );
    else if (isOnGpu && /^os_log(?:_default)?$/.test(token.text))
      throw errorAt(token, `Word (${token.text}) is not of this device: write what it logs into a buffer`);
    else if (Object.hasOwn(refused, token.text) && !isAllowed(source, at, hasDouble))
      throw errorAt(token, `Word (${token.text}) ${refused[token.text]}`);
  }
}

/** True for a word that is refused elsewhere: a function that is deleted, or the type that f64 of TypeScript is. */
function isAllowed(source: Source, at: number, hasDouble: boolean): boolean {
  return source.text(at) === 'double' ? hasDouble : source.text(at) === 'delete' && source.text(at - 1) === '=';
}

/** True for a word that hides members: the layouts of a kernel's arguments are asked of the compiler. */
function isAccess(source: Source, at: number): boolean {
  const { text } = source.tokens[at]!;
  if (text === 'private' || text === 'protected') return source.text(at + 1) === ':';
  return text === 'class' && source.text(at - 1) !== 'enum' && /^(?:[{:]|final)$/.test(source.text(at + 2));
}

/** True for a number with a point or an exponent, and without a suffix. */
function isDouble(text: string): boolean {
  return /^(?=[^.eE]*[.eE])(?:\d[\d']*)?\.?[\d']*(?:[eE][-+]?\d+)?$|^0[xX][\da-fA-F.]+[pP][-+]?\d+$/.test(text);
}

/** True if a `constant` stands among words of which one is `const`, or `constexpr`. */
function isConst(source: Source, at: number, begin: number, end: number): boolean {
  const isWord = (index: number) => source.tokens[index]!.kind === 'word' || source.text(index) === '::';
  for (let before = at - 1; before >= begin && isWord(before); before--)
    if (source.text(before) === 'const') return true;
  for (let behind = at + 1; behind < end && (isWord(behind) || source.text(behind) === '<'); behind++) {
    if (source.text(behind) === '<') behind = source.angleEnd(behind, end) ?? end;
    else if (source.text(behind) === 'const') return true;
  }
  return false;
}

/** Swizzles that are members of the vectors (msl/cpu/library/swizzle.h), beside those of the first three letters. */
const members =
  /^(?:xyzw|wzyx|zyxw|yzwx|wxyz|rgba|abgr|bgra|gbar|argb|[xyz]w|w[xyzw]|www|yzw|xyw|xzw|[rgb]a|a[rgba]|aaa|gba|rga|rba)$/;

/** The most names and points of an expression that are looked at, so that time is in proportion to the text. */
const longestChain = 40;

/** True for several components of a vector, behind a point. */
function isSwizzle(source: Source, at: number): boolean {
  const { text } = source.tokens[at]!;
  if (!/^(?:[xyzw]{2,4}|[rgba]{2,4})$/.test(text) || !/^(?:\.|->)$/.test(source.text(at - 1))) return false;
  return !source.isMember(text);
}

/** True for components that no member of some vector has the name of. */
function isRare(text: string): boolean {
  // Vectors of two have all pairs, those of three some of the choices of three.
  return text.length > 2 && !members.test(text) && !/^(?:xyz|xzy|yxz|yzx|zxy|zyx|rgb|rbg|grb|gbr|brg|bgr)$/.test(text);
}

/**
 * True for components that are read, and not written: the type that is deduced from them is a vector's, not that of a
 * part of one.
 */
function isRead(source: Source, at: number): boolean {
  let next = at + 1;
  while (next < at + longestChain && source.text(next) === '.' && source.tokens[next + 1]?.kind === 'word') next += 2;
  const isWhole = /^[,);}:?]$/.test(source.text(next)) || next > at + 1;
  const assigned = source.text(next) === ')' ? next + 1 : next;
  const isWritten = /^(?:[^=!<>]?=|<<=|>>=|\+\+|--)$/.test(source.text(assigned));
  return isWhole && !isWritten && !/^(?:\+\+|--)$/.test(before(source, at));
}

/** The mark in front of an expression of names, points and brackets that ends at `at`. */
function before(source: Source, at: number): string {
  let from = at - 1;
  while (from > at - longestChain && (source.tokens[from]!.kind === 'word' || /^(?:\.|->|::)$/.test(source.text(from))))
    from--;
  return source.text(from);
}

const vectors = /^(?:bool|u?(?:char|short|int|long)|half|bfloat|float)[234]$/;

/** True for the braces of a vector around one value: float4 v = {1}, float4{1}. */
function isOneNumber(source: Source, open: number): boolean {
  const name = source.text(open - 1) === '=' ? open - 2 : open - 1;
  const isDeclared = source.tokens[name]?.kind === 'word' && vectors.test(source.text(name - 1));
  if (!isDeclared && !(name === open - 1 && vectors.test(source.text(name)))) return false;
  const close = source.close[open]!;
  for (let at = open + 1; at < close; at++)
    if (source.text(at) === ',') return false;
    else if (source.close[at]! >= 0) at = source.close[at]!;
  return close > open + 1;
}

const scalars =
  /^(?:bool|u?(?:char|short|int|long)|half|bfloat|float|unsigned|signed|size_t|u?int(?:8|16|32|64)_t|atomic\w*)$/;

/** True if `volatile` is said of a number or an atomic: vectors and structs have no operators for it. */
function isOfScalar(source: Source, at: number): boolean {
  let first = at + 1;
  while (/^(?:device|constant|threadgroup|thread|const|coherent|metal|::)$/.test(source.text(first))) first++;
  return scalars.test(source.text(first)) || scalars.test(source.text(at - 1));
}

function swizzle(letters: string): string {
  const places = [...letters].map((letter) => Math.max('xyzw'.indexOf(letter), 'rgba'.indexOf(letter)));
  return `template swizzle<${places.join(', ')}>()`;
}
