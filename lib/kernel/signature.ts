import { CovariumError } from '../covarium-error.ts';
import { type Layout, Layouts } from './layout.ts';
import { closing, codeOf, numberOf, splitList } from './source.ts';

/** One argument of a kernel's function, in the order of the text. */
export interface Parameter {
  readonly kind: 'read' | 'written' | 'constant' | 'threadgroup' | 'place';
  readonly name: string;
  /** The type that is pointed or referred to, or the type of the built-in position. */
  readonly type: string;
  /** Undefined if the text declares it in a way that is not understood. */
  readonly layout: Layout | undefined;
  /** The index in Metal's table of buffers, or among the threadgroup memories; -1 for a built-in position. */
  readonly index: number;
  /** The attribute of a built-in position, such as `thread_position_in_grid`. */
  readonly attribute: string;
  readonly isPointer: boolean;
}

/** The declaration of one kernel in the text. */
export interface Signature {
  readonly name: string;
  readonly parameters: readonly Parameter[];
  /** The place of its body in the text, from `{` to `}`. */
  readonly body: readonly [begin: number, end: number];
  /** The places of the other kernels' bodies. */
  readonly otherBodies: readonly (readonly [begin: number, end: number])[];
}

/** The most buffers of a kernel in Metal. */
export const mostBuffers = 31;

/** The most kernels of one text, arguments of a kernel, and characters of one argument. */
const mostKernels = 1000;
const mostArguments = 100;
const longestArgument = 300;

interface Found {
  readonly name: string;
  readonly list: string;
  readonly body: readonly [number, number];
}

/** All kernels of a text. */
function kernelsOf(code: string): Found[] {
  // Bounds on attributes, so that what follows a word is not gone through again from each of many words.
  const head =
    /(?:\bkernel\b|\[\[\s*kernel\s*\]\])(?:\s*\[\[[^\]]{0,100}\]\]){0,4}\s+void\s+(?:\[\[[^\]]{0,100}\]\]\s*){0,4}(\w+)\s*\(/g;
  const heads = [...code.matchAll(head)];
  if (heads.length > mostKernels)
    throw new CovariumError('ERR_TOO_LARGE', `Text has (${heads.length}) kernels; the limit is (${mostKernels}).`);
  return heads.flatMap((match) => {
    const open = match.index + match[0].length - 1;
    const end = closing(code, open);
    const brace = code.indexOf('{', end);
    if (brace < 0 || code.slice(end + 1, brace).includes(';')) return []; // a declaration
    return [{ name: match[1]!, list: code.slice(open + 1, end), body: [brace, closing(code, brace)] as const }];
  });
}

/**
 * The kernel `name` of a text, or the only one. Throws `ERR_INVALID_ARGUMENT` with the existing names,
 * `ERR_UNSUPPORTED`.
 */
export function signatureOf(text: string, name: string | undefined): Signature {
  const all = kernelsOf(codeOf(text));
  const names = all.map((each) => each.name).join(', ');
  const chosen = name === undefined && all.length === 1 ? all[0] : all.find((each) => each.name === name);
  if (chosen === undefined) {
    const why =
      all.length === 0
        ? 'Text does not contain a kernel (a function that begins with kernel void).'
        : name === undefined
          ? `Text has several kernels (${names}): pass \`name\`.`
          : `Kernel (${name}) is not in the text; there are (${names}).`;
    throw new CovariumError('ERR_INVALID_ARGUMENT', why);
  }
  const layouts = new Layouts(text);
  const list = splitList(chosen.list);
  if (list.length > mostArguments)
    throw new CovariumError(
      'ERR_TOO_LARGE',
      `Kernel (${chosen.name}) has (${list.length}) arguments; the limit is (${mostArguments}).`,
    );
  return {
    name: chosen.name,
    parameters: numbered(list.map((each) => parameterOf(each, chosen.name, text, layouts))),
    body: chosen.body,
    otherBodies: all.filter((each) => each !== chosen).map((each) => each.body),
  };
}

function parameterOf(source: string, kernel: string, text: string, layouts: Layouts): Parameter {
  const argument = source.replace(/\s+/g, ' ');
  if (argument.length > longestArgument)
    throw new CovariumError(
      'ERR_TOO_LARGE',
      `An argument of kernel (${kernel}) has (${argument.length}) characters; the limit is (${longestArgument}).`,
    );
  const [, attribute = '', index] = /\[\[\s*(\w+)\s*(?:\(\s*([^)]*?)\s*\))?\s*\]\]/.exec(argument) ?? [];
  const words = argument.replace(/\[\[.*?\]\]/g, '').trim();
  const [, declared, mark = '', name] =
    /^(.*?)\s*([*&]?)\s*(?:\b(?:const|restrict|__restrict)\s+){0,3}\b(\w+)$/.exec(words) ?? [];
  if (declared === undefined || declared === '' || name === undefined)
    throw new CovariumError('ERR_UNSUPPORTED', `Argument (${words}) of kernel (${kernel}) is not understood.`);
  if (
    /\b(?:texture\w*|depth\w*|sampler|array_ref|instance_acceleration_structure|visible_function_table)\b/.test(
      declared,
    )
  )
    throw new CovariumError(
      'ERR_UNSUPPORTED',
      `Argument (${name}) of kernel (${kernel}) is neither a buffer nor a constant (${declared}).`,
    );
  const type = declared
    .replace(/\b(?:device|constant|threadgroup|const|volatile|restrict)\b/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  const whole = { name, type, layout: layouts.of(type), attribute, isPointer: mark === '*' };
  if (mark === '') {
    if (attribute !== '' && attribute !== 'buffer') return { ...whole, kind: 'place', index: -1 };
    throw new CovariumError(
      'ERR_UNSUPPORTED',
      `Argument (${words}) of kernel (${kernel}) is neither a buffer nor a built-in position.`,
    );
  }
  const at = index === undefined ? -1 : numberOf(index, text);
  if (at === undefined)
    throw new CovariumError('ERR_UNSUPPORTED', `Index (${index}) of argument (${name}) is not a number.`);
  if (/\bthreadgroup\b/.test(declared)) return { ...whole, kind: 'threadgroup', index: at };
  if (/\bconstant\b/.test(declared)) return { ...whole, kind: 'constant', index: at };
  return { ...whole, kind: /\bconst\b/.test(declared) ? 'read' : 'written', index: at };
}

/** Arguments without an index take the next free one, as in Metal. */
function numbered(parameters: readonly Parameter[]): Parameter[] {
  const isMemory = ({ kind }: Parameter) => kind === 'threadgroup';
  const taken = (memory: boolean) =>
    new Set(parameters.filter((each) => isMemory(each) === memory).map(({ index }) => index));
  const tables = [taken(false), taken(true)] as const;
  const free = [0, 0];
  return parameters.map((each) => {
    if (each.kind === 'place' || each.index >= 0) return each;
    const table = Number(isMemory(each));
    while (tables[table]!.has(free[table]!)) free[table]!++;
    return { ...each, index: free[table]!++ };
  });
}
