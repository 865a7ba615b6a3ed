import { CovariumError } from '../covarium-error.ts';
import type { Declaration, Range, Source } from './declarations.ts';
import { Layouts, typeText } from './layout.ts';
import { isObject, numbered, objectKind, type Parameter, tableOf } from './parameter.ts';
import { reachable } from './reachable.ts';
import { errorAt, type Token, textOf } from './tokens.ts';

/** A kernel of a text. */
export interface Signature {
  /** What a host calls it: its host_name, or its function's name. */
  readonly name: string;
  readonly source: Source;
  readonly declaration: Declaration;
  /** Its function, with the arguments of a template. */
  readonly expression: string;
  /** What it consists of: its function, and the instantiation of a template. */
  readonly roots: readonly Range[];
  readonly parameters: readonly Parameter[];
  /** True if the text may have `double`, as that of a kernel in TypeScript; MSL may not. */
  readonly hasDouble?: boolean | undefined;
}

/** The most kernels of one text, arguments of a kernel, and characters of one argument. */
const mostKernels = 10_000;
const mostArguments = 100;
const longestArgument = 1000;

/** Functions of the other stages, which no kernel calls. */
const otherStages: ReadonlySet<string> = new Set(['vertex', 'fragment', 'mesh', 'object', 'intersection']);

/** The stage that a function's words or attributes name; empty for a plain function. */
export function stageOf(source: Source, { begin, nameAt, attributes, kind }: Declaration): string {
  if (kind !== 'function' && kind !== 'instantiation') return '';
  for (let at = begin; at < nameAt; at++)
    if (source.text(at) === 'kernel' || otherStages.has(source.text(at))) return source.text(at);
  for (const [first] of attributes)
    if (source.text(first) === 'kernel' || otherStages.has(source.text(first))) return source.text(first);
  return '';
}

/** A template's argument: one that ends in a mark which closes two lists, f<A<B>>, has the first of them. */
function argumentTokens(source: Source, [begin, end]: Range): Token[] {
  const tokens = source.tokens.slice(begin, end);
  const close = source.tokens[end];
  return close?.text === '>>' ? [...tokens, { ...close, text: '>' }] : tokens;
}

/** A kernel's function before its arguments are read. */
interface Found {
  readonly name: string;
  readonly declaration: Declaration;
  readonly instantiation: Declaration | undefined;
  /** The arguments of a template; empty if it is not one. */
  readonly templateArguments: readonly Range[];
}

function hostName(source: Source, { attributes }: Declaration): string | undefined {
  for (const [begin, end] of attributes)
    for (let at = begin; at < end; at++)
      if (source.text(at) === 'host_name') {
        // Literals side by side are one: "add_" "float".
        const literals = source.tokens.slice(at + 2, Math.min(end, source.close[at + 1]!));
        const parts = literals.map(({ text }) => /^"([^"\\]*)"$/.exec(text)?.[1]);
        return parts.includes(undefined) ? undefined : parts.join('');
      }
  return undefined;
}

/**
 * The arguments of a template whose instantiation does not name them: what stands in its list of parameters where the
 * template has its own. Throws `ERR_UNSUPPORTED` if the two lists differ in anything else.
 */
function deducedArguments(source: Source, template: Declaration, instantiation: Declaration): Range[] {
  const parameters = new Set(template.templateParameters);
  const found = new Map<string, Range>();
  const [from = 0, to = 0] = template.parameters ?? [];
  let [other = 0] = instantiation.parameters ?? [];
  const tokensAt = (index: number, count: number) => textOf(source.tokens.slice(index, index + count));
  const refuse = () =>
    errorAt(
      source.tokens[instantiation.nameAt]!,
      `Instantiation of (${source.text(instantiation.nameAt)}) does not say its arguments: write them as (${source.text(instantiation.nameAt)}<...>)`,
    );
  for (let at = from; at < to; at++) {
    const { text, kind } = source.tokens[at]!;
    while (source.isAttribute(other)) other = source.close[other]! + 1;
    if (source.isAttribute(at)) {
      at = source.close[at]!;
      continue;
    }
    const known = found.get(text);
    const begin = other;
    if (known !== undefined) {
      other += known[1] - known[0];
      if (tokensAt(begin, other - begin) !== tokensAt(known[0], other - begin)) throw refuse();
    } else if (parameters.has(text)) {
      const { kind: next, text: behind } = source.tokens[at + 1]!;
      const isEnd = () => source.text(other) === behind || (next === 'word' && source.tokens[other]!.kind === 'word');
      for (other++; other < instantiation.end && !isEnd(); other++)
        if (source.text(other) === '<') other = source.angleEnd(other, instantiation.end) ?? other;
      found.set(text, [begin, other]);
    } else {
      // The names of parameters may differ.
      if (source.text(other) !== text && (kind !== 'word' || source.tokens[other]?.kind !== 'word')) throw refuse();
      other++;
    }
  }
  return template.templateParameters.map((name) => {
    const range = found.get(name);
    if (range === undefined) throw refuse();
    return range;
  });
}

/** All kernels of a text: functions, and instantiations of templates. */
function kernelsIn(source: Source): Found[] {
  const all = source.declarations.flatMap((declaration): Found[] => {
    const { kind, nameAt, templateParameters, body } = declaration;
    const own = source.text(nameAt);
    if (kind === 'function') {
      if (body === undefined || templateParameters.length > 0 || stageOf(source, declaration) !== 'kernel') return [];
      const name = hostName(source, declaration) ?? own;
      return [{ name, declaration, instantiation: undefined, templateArguments: [] }];
    }
    if (kind !== 'instantiation') return [];
    const template = source
      .named(own)
      .find((each) => each.kind === 'function' && each.templateParameters.length > 0 && each.body !== undefined);
    if (template === undefined) return [];
    if (stageOf(source, declaration) !== 'kernel' && stageOf(source, template) !== 'kernel') return [];
    const end = source.text(nameAt + 1) === '<' ? source.angleEnd(nameAt + 1) : undefined;
    const templateArguments =
      end === undefined ? deducedArguments(source, template, declaration) : source.split(nameAt + 2, end);
    const name = hostName(source, declaration) ?? own;
    return [{ name, declaration: template, instantiation: declaration, templateArguments }];
  });
  if (all.length > mostKernels)
    throw new CovariumError('ERR_TOO_LARGE', `Text has (${all.length}) kernels; the limit is (${mostKernels}).`);
  return all;
}

/** The names of all kernels of a text. */
export function kernelNames(source: Source): string[] {
  return kernelsIn(source).map(({ name }) => name);
}

/** The layouts of the types of one text. */
const layoutsOf: WeakMap<Source, Layouts> = new WeakMap();

function layoutsIn(source: Source): Layouts {
  let known = layoutsOf.get(source);
  if (known === undefined) {
    known = new Layouts(source);
    layoutsOf.set(source, known);
  }
  return known;
}

/**
 * The kernel `name` of a text, or the only one. `holds` says the value of a function constant that an argument depends
 * on. Throws `ERR_INVALID_ARGUMENT` with the existing names, `ERR_UNSUPPORTED`.
 */
export function signatureOf(
  source: Source,
  name: string | undefined,
  holds: (constant: string) => boolean = () => true,
): Signature {
  const all = kernelsIn(source);
  const chosen = name === undefined && all.length === 1 ? all[0] : all.find((each) => each.name === name);
  if (chosen === undefined) {
    const names = all.map((each) => each.name).join(', ');
    const why =
      all.length === 0
        ? '`source` does not contain a kernel (a function that begins with kernel void).'
        : name === undefined
          ? `Text has several kernels (${names}): pass \`name\`.`
          : `\`name\` is (${name}), but the text has kernels (${names}).`;
    throw new CovariumError('ERR_INVALID_ARGUMENT', why);
  }
  const { declaration, instantiation, templateArguments } = chosen;
  const nameToken = source.tokens[declaration.nameAt]!;
  if (!source.tokens.slice(declaration.begin, declaration.nameAt).some(({ text }) => text === 'void'))
    throw errorAt(
      nameToken,
      `Kernel (${chosen.name}) returns a value: write kernel void, and results to a buffer`,
      'ERR_KERNEL_COMPILE',
    );
  const given = new Map(
    declaration.templateParameters.flatMap((each, i) =>
      templateArguments[i] === undefined ? [] : [[each, argumentTokens(source, templateArguments[i]!)] as const],
    ),
  );
  const own = source.text(declaration.nameAt);
  const written = templateArguments.map((range) => textOf(argumentTokens(source, range))).join(', ');
  const [open, close] = declaration.parameters!;
  const list = source.split(open + 1, close);
  if (list.length > mostArguments)
    throw errorAt(
      source.tokens[open]!,
      `Kernel (${chosen.name}) has (${list.length}) arguments; the limit is (${mostArguments})`,
      'ERR_TOO_LARGE',
    );
  const roots = [declaration, ...(instantiation === undefined ? [] : [instantiation])].map(
    ({ begin, end }): Range => [begin, end],
  );
  const parameters = numbered(list.map((range) => parameterOf(source, range, chosen.name, given, holds)));
  return {
    name: chosen.name,
    source,
    declaration,
    expression: `${declaration.scope}${own}${templateArguments.length === 0 ? '' : `<${written} >`}`,
    roots,
    parameters: withAtomics(source, roots, parameters),
  };
}

const addressSpaces: ReadonlySet<string> = new Set(['device', 'constant', 'threadgroup', 'threadgroup_imageblock']);
const spaceWords: ReadonlySet<string> = new Set([
  'device',
  'constant',
  'threadgroup',
  'thread',
  'const',
  'volatile',
  'restrict',
  '__restrict',
  '__restrict__',
  'coherent',
  'typename',
  'metal',
]);
const otherObjects =
  /^(?:(?:texture|depth)2d_ms(?:_array)?|array_ref|\w+acceleration_structure|\w*function_table|imageblock|command_buffer|patch_control_point)$/;

function parameterOf(
  source: Source,
  [begin, end]: Range,
  kernel: string,
  given: ReadonlyMap<string, readonly Token[]>,
  holds: (constant: string) => boolean,
): Parameter {
  const attributes: Range[] = [];
  const words: Token[] = [];
  for (let at = begin; at < end; at++) {
    if (source.isAttribute(at)) {
      attributes.push(...source.split(at + 2, source.close[at + 1]!));
      at = source.close[at]!;
    } else if (source.text(at) === '__attribute__' || (source.text(at) === 'coherent' && source.text(at + 1) === '('))
      at = source.close[at + 1]!;
    else words.push(source.tokens[at]!);
  }
  const place = source.tokens[begin]!;
  const shown = textOf(words);
  if (shown.length > longestArgument)
    throw errorAt(
      place,
      `An argument of kernel (${kernel}) has (${shown.length}) characters; the limit is (${longestArgument})`,
      'ERR_TOO_LARGE',
    );
  // A reference to an array: T (&name)[n].
  const bracket = words.findIndex(({ text }, i) => text === '[' && i > 0);
  const dimensions = bracket < 0 ? [] : words.slice(bracket);
  const head = (bracket < 0 ? words : words.slice(0, bracket)).filter(({ text }) => text !== '(' && text !== ')');
  const name = head.pop();
  while (['const', 'restrict', '__restrict', '__restrict__'].includes(head.at(-1)?.text ?? '')) head.pop();
  const mark = head.at(-1)?.text === '*' || head.at(-1)?.text === '&' ? head.pop()!.text : '';
  if (name?.kind !== 'word' || head.length === 0)
    throw errorAt(place, `Argument (${shown}) of kernel (${kernel}) is not understood`);
  const refused = head.find(({ text }) => otherObjects.test(text));
  if (refused !== undefined)
    throw errorAt(
      name,
      `Argument (${name.text}) of kernel (${kernel}) is a (${refused.text}); pass a buffer (device T*) instead`,
    );
  const several =
    mark !== '' || bracket >= 0 || head.some(({ text }) => text === 'array') ? head.find(isObject) : undefined;
  if (several !== undefined)
    throw errorAt(
      name,
      `Argument (${name.text}) of kernel (${kernel}) is more than one (${several.text}); pass each as an argument of its own`,
    );
  const substituted = head.flatMap((each) => given.get(each.text) ?? [each]);
  const plain = substituted.filter(
    ({ text }, i) => !spaceWords.has(text) && !(text === '::' && substituted[i - 1]?.text === 'metal'),
  );
  // An array that is not a reference is a pointer to its first element.
  const isArray = mark === '' && dimensions.length > 0;
  const inner = isArray ? dimensions.slice(dimensions.findIndex(({ text }) => text === ']') + 1) : dimensions;
  const type = typeText(plain) + typeText(inner);
  const attributeAt = (word: string) => attributes.find(([first]) => source.text(first) === word);
  const isMemory = head.some(({ text }) => text === 'threadgroup');
  const object = objectKind(plain, kernel, name);
  const { attribute: table } = tableOf({ kind: object ?? (isMemory ? 'threadgroup' : 'read') });
  const numberedBy = attributeAt(table);
  const condition = attributeAt('function_constant');
  const other = attributes.find(
    ([first]) => ![table, 'function_constant', 'user', 'clang'].includes(source.text(first)),
  );
  const isPointer = isArray || (mark === '*' && dimensions.length === 0);
  const layout = layoutsIn(source).of(type);
  const whole = { name: name.text, type, layout, isPointer, token: name };
  if (mark === '' && !isArray && object === undefined) {
    if (other !== undefined) {
      const attribute = source.text(other[0]);
      // As Metal does, so that what `cpu` takes is taken there.
      if (
        layout?.scalar !== undefined &&
        !/^u(?:int|short)$/.test(layout.scalar) &&
        /thread|group|grid/.test(attribute)
      )
        throw errorAt(
          name,
          `Argument (${name.text}) of kernel (${kernel}) is a position (${attribute}), which is a uint or a ushort, not of type (${type})`,
          'ERR_KERNEL_COMPILE',
        );
      return { ...whole, kind: 'place', index: -1, attribute };
    }
    throw errorAt(name, `Argument (${shown}) of kernel (${kernel}) is neither a buffer nor a built-in position`);
  }
  if (object === undefined && !substituted.some(({ text }) => addressSpaces.has(text)))
    throw errorAt(
      name,
      `Argument (${name.text}) of kernel (${kernel}) has no address space: write (device ${shown}), or constant or threadgroup`,
      'ERR_KERNEL_COMPILE',
    );
  if (condition !== undefined && !holds(source.text(condition[0] + 2)))
    return { ...whole, kind: 'absent', index: -1, attribute: '' };
  let index = -1;
  if (numberedBy !== undefined) {
    const value = source.valueOf(numberedBy[0] + 2, numberedBy[1] - 1);
    if (value === undefined || value < 0n)
      throw errorAt(
        name,
        `Index (${textOf(source.tokens.slice(numberedBy[0] + 2, numberedBy[1] - 1))}) of argument (${name.text}) is not a number`,
      );
    index = Number(value);
  }
  const named = { ...whole, index, attribute: '' };
  if (object !== undefined && other !== undefined)
    throw errorAt(
      name,
      `Argument (${name.text}) of kernel (${kernel}) has an attribute (${source.text(other[0])}) that a (${plain[0]!.text}) does not take`,
    );
  if (object === 'sampler') return { ...named, kind: object };
  if (object !== undefined) {
    const end = plain.findIndex(({ text }) => text === ',' || text === '>');
    const element = layoutsIn(source).of(typeText(plain.slice(2, end)))?.scalar ?? '';
    return { ...named, kind: object, texture: { element, hasAtomics: false } };
  }
  if (isMemory) return { ...named, kind: 'threadgroup' };
  if (head.some(({ text }) => text === 'constant')) return { ...named, kind: 'constant' };
  return { ...named, kind: head.some(({ text }) => text === 'const') ? 'read' : 'written' };
}

/** The parameters of a kernel, with what is known of its body: whether texels change as atomics. */
function withAtomics(source: Source, roots: readonly Range[], parameters: readonly Parameter[]): Parameter[] {
  const isChanged = ({ kind, type }: Parameter) => kind === 'writtenTexture' && /read_write/.test(type);
  if (!parameters.some(isChanged)) return [...parameters];
  const hasAtomics = [...reachable(source, roots)].some(({ begin, end }) => {
    for (let at = begin; at < end; at++)
      if (source.text(at) === '.' && /^atomic_/.test(source.text(at + 1))) return true;
    return false;
  });
  return parameters.map((each) =>
    isChanged(each) && /^u?int$/.test(each.texture!.element)
      ? { ...each, texture: { ...each.texture!, hasAtomics } }
      : each,
  );
}
