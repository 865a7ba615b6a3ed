import { Matrix } from '../array/matrix.ts';
import type { Operand } from '../array/operand.ts';
import { Vector } from '../array/vector.ts';
import { Volume } from '../array/volume.ts';
import { checkOptions, inspectFields, oneOf, quoted, wholeNumber, wrongArgument } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { type Dtype, knownDtypeOf, type Values } from '../dtype.ts';
import type { Parameter } from './parameter.ts';

/**
 * What a texel consists of, by Metal's names: its components, the bits of each, and how they are read. `unorm` is 0 to
 * 1 in whole steps, `snorm` -1 to 1.
 */
export type TextureFormat =
  | `${'r' | 'rg' | 'rgba'}${8 | 16}${'unorm' | 'snorm' | 'uint' | 'sint'}`
  | `${'r' | 'rg' | 'rgba'}16float`
  | `${'r' | 'rg' | 'rgba'}32${'uint' | 'sint' | 'float'}`
  | 'bgra8unorm'
  | 'depth32float';

/** The sizes of a texture, in texels, and its format. */
export interface TextureOptions {
  /** What a texel consists of. */
  readonly format: TextureFormat;
  /** Texels of a row. */
  readonly width: number;
  /** Rows; 1 by default, as one-dimensional textures have. */
  readonly height?: number | undefined;
  /** Slices of a three-dimensional texture; 1 by default. */
  readonly depth?: number | undefined;
  /** Elements of an array of textures, or the six faces of each cube (+x, -x, +y, -y, +z, -z); 1 by default. */
  readonly layers?: number | undefined;
}

/** What a sampler finds beyond the edges, by Metal's names. */
export type SamplerAddress =
  | 'clamp_to_edge'
  | 'mirror_clamp_to_edge'
  | 'repeat'
  | 'mirrored_repeat'
  | 'clamp_to_zero'
  | 'clamp_to_border';

/** How `sample_compare` compares its value with a texel. */
export type SamplerComparison =
  | 'never'
  | 'less'
  | 'equal'
  | 'less_equal'
  | 'greater'
  | 'not_equal'
  | 'greater_equal'
  | 'always';

/** The colour beyond the edges of `clamp_to_border`. */
export type SamplerBorder = 'transparent_black' | 'opaque_black' | 'opaque_white';

/** How a kernel's `sampler` argument reads between texels, by Metal's names. */
export interface SamplerOptions {
  /** `nearest` by default. */
  readonly filter?: 'nearest' | 'linear' | undefined;
  /** What lies beyond the edges, along all axes or along each; `clamp_to_edge` by default. */
  readonly address?: SamplerAddress | readonly SamplerAddress[] | undefined;
  /** `normalized` (0 to 1, the default), or `pixel`. */
  readonly coord?: 'normalized' | 'pixel' | undefined;
  /** How `sample_compare` compares its value with a texel; `never` by default. */
  readonly compare?: SamplerComparison | undefined;
  /** The colour of `clamp_to_border`; `transparent_black` by default. */
  readonly border?: SamplerBorder | undefined;
}

// In the order of Metal's numbers.
const addresses: readonly SamplerAddress[] = [
  ...(['clamp_to_edge', 'mirror_clamp_to_edge', 'repeat', 'mirrored_repeat'] as const),
  ...(['clamp_to_zero', 'clamp_to_border'] as const),
];
const comparisons: readonly SamplerComparison[] = [
  ...(['never', 'less', 'equal', 'less_equal', 'greater', 'not_equal', 'greater_equal', 'always'] as const),
];
const borders: readonly SamplerBorder[] = ['transparent_black', 'opaque_black', 'opaque_white'];

const familyNumbers = { unorm: 0, snorm: 2, uint: 3, sint: 4, float: 5 };
type Family = keyof typeof familyNumbers;

// msl/cpu/library/texel.h has the same order.
const components = [
  ...['unorm8', 'snorm8', 'uint8', 'sint8', 'unorm16', 'snorm16', 'uint16', 'sint16', 'float16'],
  ...['uint32', 'sint32', 'float32'],
];

interface Format {
  readonly family: Family;
  readonly bits: number;
  readonly count: number;
  readonly isDepth: boolean;
  readonly isBgra: boolean;
  /** Metal's number. */
  readonly pixelFormat: number;
}

const pixelFormats: { readonly [head: string]: number } = {
  ...{ r8: 10, rg8: 30, rgba8: 70, r16: 20, rg16: 60, rgba16: 110, r32: 50, rg32: 100, rgba32: 120 },
};

function formatsByName(): Map<string, Format> {
  const all = new Map<string, Format>();
  for (const [head, number] of Object.entries(pixelFormats)) {
    const [, channels, digits] = /^([rgba]+)(\d+)$/.exec(head)!;
    const bits = Number(digits);
    for (const [family, more] of Object.entries(familyNumbers) as [Family, number][])
      if (components.includes(`${family}${bits}`))
        all.set(`${head}${family}`, {
          ...{ family, bits, count: channels!.length, isDepth: false, isBgra: false, pixelFormat: number + more },
        });
  }
  all.set('bgra8unorm', { ...all.get('rgba8unorm')!, isBgra: true, pixelFormat: 80 });
  all.set('depth32float', { ...all.get('r32float')!, isDepth: true, pixelFormat: 252 });
  return all;
}

const formats = formatsByName();

/** The type of array that holds the numbers of a format; undefined for those of 16 bits, which come as bytes. */
function dtypeOfFormat({ family, bits }: Format): Dtype | undefined {
  if (bits === 8) return 'uint8';
  if (bits === 16) return undefined;
  return family === 'float' ? 'float32' : family === 'uint' ? 'uint32' : 'int32';
}

/** The most texels along an axis in Metal, and the most slices. */
const mostTexels = 16_384;
const mostSlices = 2048;

/** The same memory as a Uint8Array. */
function sameMemory({ buffer, byteOffset, byteLength }: Uint8ClampedArray): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}

/** The type of a texture's memory; undefined for what holds none. */
function dtypeIn(memory: unknown): Dtype | undefined {
  if (memory instanceof Matrix || memory instanceof Vector || memory instanceof Volume) return memory.dtype;
  return ArrayBuffer.isView(memory) ? knownDtypeOf(memory) : undefined;
}

let factsInside: (texture: Texture) => TextureFacts;

/** What a texture consists of. */
interface TextureFacts {
  readonly memory: Operand | Volume | Values;
  readonly format: Format;
}

/**
 * Memory that a kernel sees as a texture: an argument for `texture2d<float>` and other texture types. Texels lie row by
 * row and slice by slice, without gaps. A kernel that writes to the texture writes to the caller's memory.
 *
 * @example
 * ```ts
 * const photograph = new Texture(pixels, { format: 'rgba8unorm', width: 640, height: 480 });
 * const small = new Texture(new Uint8Array(4 * 320 * 240), { format: 'rgba8unorm', width: 320, height: 240 });
 * await halve.run({ grid: [320, 240], arguments: { from: photograph, to: small, s: { filter: 'linear' } } });
 * ```
 */
export class Texture {
  /** The name of its format. */
  readonly format: TextureFormat;
  /** Texels of a row. */
  readonly width: number;
  /** Rows. */
  readonly height: number;
  /** Slices of a three-dimensional texture. */
  readonly depth: number;
  /** Elements of an array, or faces of cubes. */
  readonly layers: number;
  readonly #facts: TextureFacts;

  static {
    inspectFields(Texture.prototype, 'Texture');
    factsInside = (texture) => texture.#facts;
  }

  /**
   * A view of `memory`, of any shape, as layers or depth x height x width texels. Throws `ERR_INVALID_ARGUMENT` if the
   * format needs another type of memory: formats of 8 and 16 bits take bytes, and all formats may. Throws
   * `ERR_OUT_OF_RANGE` for sizes beyond Metal's: 16,384 along a side, 2,048 slices. A launch throws `ERR_SHAPE` if the
   * memory does not hold as many bytes as the texels take.
   */
  constructor(memory: Operand | Volume | Values | Uint8ClampedArray, options: TextureOptions) {
    checkOptions(options, ['format', 'width', 'height', 'depth', 'layers']);
    const { width, height = 1, depth = 1, layers = 1 } = options;
    this.format = oneOf('`format`', options.format, [...formats.keys()] as TextureFormat[]);
    this.width = wholeNumber('`width`', width, 1, mostTexels);
    this.height = wholeNumber('`height`', height, 1, mostTexels);
    this.depth = wholeNumber('`depth`', depth, 1, mostSlices);
    this.layers = wholeNumber('`layers`', layers, 1, mostSlices);
    if (depth > 1 && layers > 1)
      throw new CovariumError('ERR_SHAPE', `Texture has \`depth\` (${depth}) and \`layers\` (${layers}): pass one.`);
    const format = formats.get(this.format)!;
    const held = memory instanceof Uint8ClampedArray ? sameMemory(memory) : memory;
    const dtype = dtypeIn(held);
    const wanted = dtypeOfFormat(format);
    if (dtype !== 'uint8' && dtype !== wanted)
      throw wrongArgument(
        '`memory`',
        memory,
        `${wanted === undefined ? 'bytes' : `numbers of type (${wanted}), or bytes`} for format (${this.format}), in a Matrix, a Vector, a Volume or a typed array`,
      );
    this.#facts = { memory: held, format };
    Object.freeze(this);
  }
}

/** The memory of a texture, as the caller gave it. */
export function memoryOf(texture: Texture): Operand | Volume | Values {
  return factsInside(texture).memory;
}

interface Shape {
  /** Metal's number of the texture's type. */
  readonly textureType: number;
  readonly dimensions: 1 | 2 | 3;
  readonly isArray: boolean;
  readonly isCube: boolean;
}

const shapes: { readonly [name: string]: Shape } = {
  '1d': { textureType: 0, dimensions: 1, isArray: false, isCube: false },
  '1d_array': { textureType: 1, dimensions: 1, isArray: true, isCube: false },
  '2d': { textureType: 2, dimensions: 2, isArray: false, isCube: false },
  '2d_array': { textureType: 3, dimensions: 2, isArray: true, isCube: false },
  cube: { textureType: 5, dimensions: 2, isArray: false, isCube: true },
  cube_array: { textureType: 6, dimensions: 2, isArray: true, isCube: true },
  '3d': { textureType: 7, dimensions: 3, isArray: false, isCube: false },
  _buffer: { textureType: 9, dimensions: 1, isArray: false, isCube: false },
};

const elementFamilies: { readonly [element: string]: readonly Family[] } = {
  ...{ float: ['unorm', 'snorm', 'float'], half: ['unorm', 'snorm', 'float'] },
  ...{ int: ['sint'], short: ['sint'], uint: ['uint'], ushort: ['uint'] },
};

/**
 * What a launch says of a texture, for an argument of a type such as `texture2d<float, access::read>`:
 * objc/kernel.h has the same fields. Throws `ERR_INVALID_ARGUMENT` or `ERR_SHAPE` if it does not fit the
 * type, or its memory, of so many bytes, does not fit its sizes; `ERR_OUT_OF_RANGE`.
 */
export function headerOf({ name, type, texture: asked }: Parameter, texture: Texture, bytes: number): ArrayBuffer {
  const { format } = factsInside(texture);
  const { width, height, depth, layers } = texture;
  const called = `Argument (${name})`;
  const [, object = '', word = ''] = /^(texture|depth)(\w+)</.exec(type) ?? [];
  const { element = '', hasAtomics = false } = asked ?? {};
  const shape = shapes[word];
  if (shape === undefined) throw new CovariumError('ERR_UNSUPPORTED', `${called} has a type (${type}) not understood.`);
  const families = elementFamilies[element] ?? [];
  if (!families.includes(format.family) || format.isDepth !== (object === 'depth'))
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `${called} is a (${type}), which does not read format (${texture.format}): take ${
        object === 'depth' ? '(depth32float)' : `one of kind (${families.join(', ')})`
      }.`,
    );
  if (hasAtomics && (format.bits !== 32 || format.count !== 1))
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `${called} changes by atomics, which format (${texture.format}) does not have: take (r32${format.family}).`,
    );
  if (shape.dimensions === 3 && (width > mostSlices || height > mostSlices))
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `${called} is a (${type}) of (${width} x ${height}) texels, beyond (${mostSlices} x ${mostSlices}).`,
    );
  const fits =
    (shape.dimensions > 1 || height === 1) &&
    (shape.dimensions === 3 || depth === 1) &&
    (shape.isArray || layers === (shape.isCube ? 6 : 1)) &&
    (!shape.isCube || (layers % 6 === 0 && width === height));
  if (!fits)
    throw new CovariumError(
      'ERR_SHAPE',
      `${called} is a (${type}), which does not take (${width} x ${height}) texels, \`depth\` (${depth}) and \`layers\` (${layers}).`,
    );
  const needed = (width * height * depth * layers * format.count * format.bits) / 8;
  if (bytes !== needed)
    throw new CovariumError(
      'ERR_SHAPE',
      `${called} takes (${needed}) bytes for (${width} x ${height} x ${depth * layers}) texels of format (${texture.format}), not (${bytes}).`,
    );
  const component = components.indexOf(`${format.family}${format.bits}`);
  const fields = [width, height, depth * layers, component, format.count, Number(format.isBgra)];
  return words([0, 0, ...fields, format.pixelFormat, shape.textureType, Number(hasAtomics), 0]);
}

/** What a launch says of a sampler: msl/cpu/library/sampler.h has the same fields. Throws `ERR_INVALID_ARGUMENT`. */
export function samplerOf({ name }: Parameter, given: unknown): ArrayBuffer {
  if (typeof given !== 'object' || given === null || Array.isArray(given) || ArrayBuffer.isView(given))
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `Argument (${name}) is a sampler: it takes { filter, address, coord, compare, border }, not (${quoted(given)}).`,
    );
  checkOptions(given, ['filter', 'address', 'coord', 'compare', 'border'], name);
  const { filter = 'nearest', address = 'clamp_to_edge', coord = 'normalized' } = given as SamplerOptions;
  const { compare = 'never', border = 'transparent_black' } = given as SamplerOptions;
  const numberOf = <T extends string>(option: string, value: T, all: readonly T[]) =>
    all.indexOf(oneOf(`\`${option}\` of argument (${name})`, value, all));
  const each = Array.isArray(address) ? (address as readonly SamplerAddress[]) : [address as SamplerAddress];
  if (each.length < 1 || each.length > 3)
    throw wrongArgument(`\`address\` of argument (${name})`, address, 'a word, or one for each of up to three axes');
  const along = [0, 1, 2].map((axis) => numberOf('address', each[axis] ?? each.at(-1)!, addresses));
  const isPixel = numberOf('coord', coord, ['normalized', 'pixel']);
  const clamps = along.every((number) => number === 0 || number === 4);
  if (isPixel === 1 && !clamps)
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `Argument (${name}) has pixel coordinates, which take \`address\` (clamp_to_edge) or (clamp_to_zero) only.`,
    );
  const linear = numberOf('filter', filter, ['nearest', 'linear']);
  const kinds = [linear, linear, 0, numberOf('compare', compare, comparisons), numberOf('border', border, borders)];
  const written = words([isPixel, ...along, ...kinds, 0, 0, 0]);
  new DataView(written).setFloat32(44, 3.4028234663852886e38, true);
  return written;
}

function words(numbers: readonly number[]): ArrayBuffer {
  return Uint32Array.from(numbers).buffer as ArrayBuffer;
}
