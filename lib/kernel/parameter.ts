import type { Layout } from './layout.ts';
import { errorAt, type Token, textOf } from './tokens.ts';

/** One argument of a kernel's function, in the order of the text. */
export interface Parameter {
  readonly kind:
    | 'read'
    | 'written'
    | 'constant'
    | 'threadgroup'
    | 'texture'
    | 'writtenTexture'
    | 'sampler'
    | 'place'
    | 'absent';
  readonly name: string;
  /** The type that is pointed or referred to, or the type of the built-in position. */
  readonly type: string;
  /** Undefined if the text declares it in a way that is not understood. */
  readonly layout: Layout | undefined;
  /** The index in Metal's table of its kind: buffers, threadgroup memories, textures, samplers; -1 for a position. */
  readonly index: number;
  /** The attribute of a built-in position, such as `thread_position_in_grid`. */
  readonly attribute: string;
  readonly isPointer: boolean;
  /** Of a texture: Metal's name of the numbers that it reads as, and whether the kernel changes texels as atomics. */
  readonly texture?: { readonly element: string; readonly hasAtomics: boolean };
  /** Its place in the text. */
  readonly token: Token;
}

/** The most buffers of a kernel in Metal. */
const mostBuffers = 31;

/** The most textures and samplers of a kernel in Metal. */
const mostTextures = 128;
const mostSamplers = 16;

/** The table that an argument is in, by the word of its attribute, with the most entries. */
export function tableOf({ kind }: Pick<Parameter, 'kind'>): { readonly attribute: string; readonly most: number } {
  if (kind === 'texture' || kind === 'writtenTexture') return { attribute: 'texture', most: mostTextures };
  if (kind === 'sampler') return { attribute: 'sampler', most: mostSamplers };
  return { attribute: kind === 'threadgroup' ? 'threadgroup' : 'buffer', most: mostBuffers };
}

/** True for a word that begins the type of a texture or a sampler. */
export function isObject({ text }: Token): boolean {
  return /^(?:(?:texture|depth)(?:1d|2d|3d|cube)(?:_array)?|texture_buffer|sampler)$/.test(text);
}

/** The kind of a texture or a sampler; undefined for other types. What a kernel writes is copied back for this word. */
export function objectKind(
  type: readonly Token[],
  kernel: string,
  name: Token,
): 'texture' | 'writtenTexture' | 'sampler' | undefined {
  const [found] = type;
  if (found === undefined || !isObject(found)) return undefined;
  if (found.text === 'sampler') return 'sampler';
  const comma = type.findIndex(({ text }) => text === ',');
  if (comma < 0) return 'texture';
  const [, word] = /^access ?:: ?(sample|read|write|read_write) ?(?:,|>)/.exec(textOf(type.slice(comma + 1))) ?? [];
  if (word === undefined)
    throw errorAt(
      name,
      `Argument (${name.text}) of kernel (${kernel}) has an access that is not understood: write it as access::read, access::write, access::read_write or access::sample`,
    );
  return word === 'write' || word === 'read_write' ? 'writtenTexture' : 'texture';
}

/** Arguments without an index take the next free one of their table, as in Metal. */
export function numbered(parameters: readonly Parameter[]): Parameter[] {
  const isNumbered = ({ kind }: Parameter) => kind !== 'place' && kind !== 'absent';
  const tables = new Map<string, { readonly taken: Set<number>; free: number }>();
  for (const each of parameters.filter(isNumbered)) {
    const { attribute } = tableOf(each);
    const table = tables.get(attribute) ?? { taken: new Set(), free: 0 };
    tables.set(attribute, table);
    table.taken.add(each.index);
  }
  return parameters.map((each) => {
    if (!isNumbered(each) || each.index >= 0) return each;
    const table = tables.get(tableOf(each).attribute)!;
    while (table.taken.has(table.free)) table.free++;
    return { ...each, index: table.free++ };
  });
}
