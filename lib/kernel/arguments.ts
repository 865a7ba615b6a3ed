import { Matrix } from '../array/matrix.ts';
import { anyValuesIn, type Operand, requireApart } from '../array/operand.ts';
import { Vector } from '../array/vector.ts';
import { Volume } from '../array/volume.ts';
import type { LaunchOperand } from '../backend.ts';
import type { OpenBackend } from '../backend-handle.ts';
import { quoted, wholeNumber, wrongArgument } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { type Dtype, dtypeOf, type Values } from '../dtype.ts';
import { encode } from './encode.ts';
import type { Layout } from './layout.ts';
import type { Parameter } from './parameter.ts';
import { headerOf, memoryOf, type SamplerOptions, samplerOf, Texture } from './texture.ts';

/** A number, or an array or a plain object of numbers, for a parameter struct. */
export type KernelNumber =
  | number
  | bigint
  | boolean
  | readonly KernelNumber[]
  | { readonly [field: string]: KernelNumber };

/** The size of the memory that the threads of a group share through a `threadgroup` argument. */
export type ThreadgroupMemory = { readonly threadgroupBytes: number } | { readonly threadgroupLength: number };

/** The value of one argument of a kernel. */
export type KernelArgument = Operand | Volume | Values | Texture | SamplerOptions | KernelNumber | ThreadgroupMemory;

/** All arguments, by name or in the kernel's order. */
export type KernelArguments = readonly KernelArgument[] | { readonly [name: string]: KernelArgument };

/** The typed arrays that hold elements of a Metal type. Pass other types as bytes, in a Uint8Array. */
const dtypesOf: { readonly [scalar: string]: Dtype } = {
  float: 'float32',
  int: 'int32',
  uint: 'uint32',
  uchar: 'uint8',
  char: 'uint8',
  bool: 'uint8',
};

/**
 * The operands of a launch, in the order of `parameters` (without built-in positions). Throws typed errors that name
 * the argument.
 */
export function operandsOf(
  device: OpenBackend,
  kernel: string,
  parameters: readonly Parameter[],
  given: KernelArguments,
): LaunchOperand[] {
  const values = inOrder(kernel, parameters, given);
  const operands = parameters.map((parameter, i) => operandOf(device, parameter, values[i]!));
  parameters.forEach((parameter, i) => {
    if (!isWritten(parameter)) return;
    const own = valuesOf(operands[i]!)!;
    operands.forEach((each, j) => {
      const other = valuesOf(each);
      if (i !== j && other !== undefined && (j > i || !isWritten(parameters[j]!)))
        requireApart(`Argument (${parameter.name})`, own, `argument (${parameters[j]!.name})`, other);
    });
  });
  return operands;
}

function isWritten({ kind }: Parameter): boolean {
  return kind === 'written' || kind === 'writtenTexture';
}

/** The memory of an operand; undefined if it has none of its own. */
export function valuesOf(operand: LaunchOperand): Values | undefined {
  if (ArrayBuffer.isView(operand)) return operand;
  return typeof operand === 'object' && 'header' in operand ? operand.values : undefined;
}

function inOrder(kernel: string, parameters: readonly Parameter[], given: KernelArguments): KernelArgument[] {
  const names = parameters.map(({ name }) => name).join(', ');
  if (typeof given !== 'object' || given === null || ArrayBuffer.isView(given))
    throw wrongArgument('`arguments`', given, `an object or an array with those of kernel (${kernel}): (${names})`);
  if (Array.isArray(given)) {
    if (given.length === parameters.length) return given;
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `\`arguments\` has (${given.length}) entries, but kernel (${kernel}) takes (${parameters.length}): (${names}).`,
    );
  }
  const named = given as { readonly [name: string]: KernelArgument };
  for (const name of Object.keys(named))
    if (!parameters.some((parameter) => parameter.name === name))
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Kernel (${kernel}) has no argument (${name}); it takes (${names}).`,
      );
  return parameters.map(({ name }) => {
    if (Object.hasOwn(named, name)) return named[name]!;
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `Argument (${name}) of kernel (${kernel}) is missing: it takes (${names}), but got (${Object.keys(named).join(', ')}).`,
    );
  });
}

function operandOf(device: OpenBackend, parameter: Parameter, value: KernelArgument): LaunchOperand {
  if (parameter.kind === 'threadgroup') return threadgroupBytes(parameter, value);
  if (parameter.kind === 'sampler') return samplerOf(parameter, value);
  if (parameter.kind === 'texture' || parameter.kind === 'writtenTexture') {
    if (!(value instanceof Texture))
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Argument (${parameter.name}) is a texture: it takes new Texture(memory, { format, width, height }), not (${quoted(value)}).`,
      );
    const values = anyValuesIn(`Argument (${parameter.name})`, memoryOf(value), device);
    return { header: headerOf(parameter, value, values.byteLength), values };
  }
  if (value instanceof Texture)
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `Argument (${parameter.name}) is not a texture: it takes the memory itself, not a Texture.`,
    );
  if (value instanceof Matrix || value instanceof Vector || value instanceof Volume || ArrayBuffer.isView(value)) {
    const values = anyValuesIn(`Argument (${parameter.name})`, value as Operand | Volume | Values, device);
    requireElements(parameter, values);
    return values;
  }
  const { name, type, layout, kind } = parameter;
  if (kind === 'written')
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `Argument (${name}) is written: it takes a Matrix, a Vector, a Volume or a typed array, not (${quoted(value)}).`,
    );
  if (layout === undefined)
    throw new CovariumError(
      'ERR_UNSUPPORTED',
      `Layout of type (${type}) of argument (${name}) cannot be read from the text: pass it in \`layouts\`, or pass bytes.`,
    );
  if (!parameter.isPointer || !Array.isArray(value)) return encode(value, layout, name);
  if (value.length === 0) throw new CovariumError('ERR_SHAPE', `Argument (${name}) is an array of (0) elements.`);
  const all = {
    type: `${type}[${value.length}]`,
    sizeBytes: layout.sizeBytes * value.length,
    alignBytes: layout.alignBytes,
  };
  return encode(value, { ...all, element: layout, length: value.length }, name);
}

function threadgroupBytes({ name, type, layout }: Parameter, value: KernelArgument): number {
  const given =
    typeof value === 'object' && value !== null
      ? (value as Partial<{ threadgroupBytes: number; threadgroupLength: number }>)
      : {};
  if (given.threadgroupBytes !== undefined)
    return wholeNumber(`Threadgroup memory (${name}) in bytes`, given.threadgroupBytes, 1, 2 ** 31);
  if (given.threadgroupLength === undefined)
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `Argument (${name}) is threadgroup memory: it takes { threadgroupBytes } or { threadgroupLength }, not (${quoted(value)}).`,
    );
  if (layout === undefined)
    throw new CovariumError(
      'ERR_UNSUPPORTED',
      `Type (${type}) of threadgroup memory (${name}) has no known size: pass threadgroupBytes.`,
    );
  const most = Math.floor(2 ** 31 / layout.sizeBytes);
  return wholeNumber(`Threadgroup memory (${name}) in elements`, given.threadgroupLength, 1, most) * layout.sizeBytes;
}

/** Throws unless a typed array holds whole elements of the argument's type. */
function requireElements({ name, type, layout, isPointer }: Parameter, values: Values): void {
  const dtype = dtypeOf(values);
  if (values.length === 0) throw new CovariumError('ERR_SHAPE', `Argument (${name}) is a buffer of (0) elements.`);
  if (layout === undefined) return;
  const wanted = wantedDtype(layout);
  if (dtype !== wanted && dtype !== 'uint8' && wanted !== undefined)
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `Argument (${name}) has elements of type (${type}), which takes (${wanted}), not (${dtype}).`,
    );
  const isBytes = dtype === 'uint8' && wanted !== 'uint8';
  if (isBytes && layout.scalar !== undefined && dtypesOf[layout.scalar] !== undefined)
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `Argument (${name}) has elements of type (${type}), which takes (${wanted}), not (uint8).`,
    );
  const fits = isPointer
    ? values.byteLength % layout.sizeBytes === 0
    : values.byteLength === layout.sizeBytes || hasMoreAtItsEnd(layout, values.byteLength);
  if (!fits)
    throw new CovariumError(
      'ERR_SHAPE',
      `Argument (${name}) takes ${isPointer ? 'elements' : 'one'} of type (${type}), of (${layout.sizeBytes}) bytes, not (${values.byteLength}) bytes.`,
    );
}

/** True for a struct that ends in an array, given more of its elements than its type says. */
function hasMoreAtItsEnd({ members, sizeBytes }: Layout, bytes: number): boolean {
  const element = members?.at(-1)?.layout.element;
  return element !== undefined && bytes > sizeBytes && (bytes - sizeBytes) % element.alignBytes === 0;
}

/** The type of array for a layout's numbers; undefined if any type is allowed. */
function wantedDtype(layout: Layout): Dtype | undefined {
  if (layout.members !== undefined) return undefined;
  if (layout.element !== undefined) return wantedDtype(layout.element);
  return dtypesOf[layout.scalar!] ?? 'uint8';
}
