import type { CompiledKernel, KernelParameter } from '../backend.ts';
import { backendOf, type OpenBackend } from '../backend-handle.ts';
import { checkOptions, describe, requireBoolean } from '../check.ts';
import { CovariumError, fromNative, loading } from '../covarium-error.ts';
import { type ConstantValues, constantsOf, type FunctionConstant } from './constants.ts';
import { Source } from './declarations.ts';
import { compileError } from './diagnostics.ts';
import { type GivenLayouts, withLayouts } from './given-layouts.ts';
import { Kernel } from './kernel.ts';
import { kernelNames, mostBuffers, type Parameter, type Signature, signatureOf } from './signature.ts';
import { errorAt } from './tokens.ts';
import { preprocess } from './preprocess.ts';

/** Options of `Device.kernel`. */
export interface KernelOptions {
  /** Name of the function; by default the only one, and required if the text has several kernels. */
  readonly name?: string | undefined;
  /** Values of function constants, by name; none by default. */
  readonly constants?: ConstantValues | undefined;
  /** Texts for `#include`, by name; none by default. */
  readonly includes?: { readonly [name: string]: string } | undefined;
  /**
   * True to instrument the kernel where the CPU runs it; false by default. An access beyond a buffer, or a barrier that
   * not all threads of a group reach, then fails the commit with `ERR_KERNEL_CHECK`, with thread and line; a pointer
   * whose address space Metal would refuse fails with `ERR_KERNEL_COMPILE` (if clang++ is installed; see
   * `Kernel.notes`). Slow. Throws `ERR_UNSUPPORTED` on other devices.
   */
  readonly check?: boolean | undefined;
  /**
   * Fields of structs that cannot be read from the text, by argument, in order: `{ p: { rows: 'int', weights:
   * 'float[9]' } }`. They are compared with the compiler's layout. None by default.
   */
  readonly layouts?: GivenLayouts | undefined;
  /** The name of the text in messages; `kernel.metal` by default. */
  readonly path?: string | undefined;
}

/** Options of `Device.library`: those of `Device.kernel` that hold for all kernels of a text. */
export type LibraryOptions = Omit<KernelOptions, 'name'>;

/** Compiles a kernel for a device; see `Device.kernel`. */
export async function compileKernel(device: OpenBackend, source: string, options: KernelOptions): Promise<Kernel> {
  checkOptions(options, ['name', 'constants', 'includes', 'path', 'check', 'layouts']);
  const { name } = options;
  if (name !== undefined && (typeof name !== 'string' || !/^[A-Za-z_][\w.:-]*$/.test(name)))
    throw new CovariumError('ERR_INVALID_ARGUMENT', `Name of a kernel is not an identifier (${describe(name)}).`);
  const text = textOf(device, source, options);
  return (await compiledKernels(device, text, [name]))[0]!;
}

/** Compiles all kernels of a text; see `Device.library`. */
export async function compileLibrary(
  device: OpenBackend,
  source: string,
  options: LibraryOptions,
): Promise<ReadonlyMap<string, Kernel>> {
  checkOptions(options, ['constants', 'includes', 'path', 'check', 'layouts']);
  const text = textOf(device, source, options);
  const names = kernelNames(text.source);
  if (names.length === 0) signatureOf(text.source, undefined); // says that there is none
  const kernels = await compiledKernels(device, text, names);
  return new Map(kernels.map((kernel) => [kernel.name, kernel]));
}

/** A text that is read, and the options that it is compiled with. */
interface KernelText {
  readonly source: Source;
  /** For Metal's compiler. */
  readonly flat: string;
  readonly constants: ConstantValues;
  readonly layouts: GivenLayouts;
  readonly check: boolean;
  /** The user's texts, by name. */
  readonly texts: ReadonlyMap<string, string>;
}

function textOf(device: OpenBackend, source: string, options: LibraryOptions): KernelText {
  const { constants = {}, includes = {}, path = 'kernel.metal', check = false, layouts = {} } = options;
  const backend = backendOf(device);
  if (backend.kind === 'reference')
    throw new CovariumError(
      'ERR_UNSUPPORTED',
      'The reference device does not run kernels (reference): open metal or cpu.',
    );
  if (typeof path !== 'string')
    throw new CovariumError('ERR_INVALID_ARGUMENT', `Path of a kernel's text is not a string (${describe(path)}).`);
  requireBoolean('Check mode', check);
  for (const [option, given] of Object.entries({ constants, includes, layouts }))
    if (typeof given !== 'object' || given === null)
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Option (${option}) is not an object of names (${describe(given)}).`,
      );
  if (check && backend.kind === 'metal')
    throw new CovariumError('ERR_UNSUPPORTED', `Check mode needs the cpu device, not (${backend.kind}).`);
  const { tokens, flat } = preprocess(source, path, includes);
  const texts = new Map([...Object.entries(includes), [path, source]]);
  return { source: new Source(tokens), flat, constants, layouts, check, texts };
}

async function compiledKernels(
  device: OpenBackend,
  text: KernelText,
  names: readonly (string | undefined)[],
): Promise<Kernel[]> {
  const { source, constants, layouts, check, texts } = text;
  const holds = (constant: string) => !Object.hasOwn(constants, constant) || Boolean(constants[constant]);
  const signatures = names.map((name) => withLayouts(signatureOf(source, name, holds), layouts));
  for (const signature of signatures) {
    requireIndices(signature);
    requireNoPointers(signature);
  }
  const values = constantsOf(
    source,
    signatures.flatMap(({ roots }) => roots),
    constants,
  );
  try {
    const compiled = await compiledFor(device, text, signatures, values);
    return await Promise.all(
      signatures.map(async (signature, i) => {
        const parameters = signature.parameters.filter(({ kind }) => kind !== 'place' && kind !== 'absent');
        requireLayouts(signature.name, parameters, compiled[i]!);
        const notes = check ? await checkSpaces(signature) : [];
        return new Kernel(device, signature.name, parameters, compiled[i]!, notes);
      }),
    );
  } catch (thrown) {
    const error = fromNative(thrown);
    if (error.code !== 'ERR_KERNEL_COMPILE' || error.line !== undefined) throw error;
    throw compileError(error.message, signatures.map(({ name }) => name).join(', '), texts);
  }
}

async function compiledFor(
  device: OpenBackend,
  { flat, check }: KernelText,
  signatures: readonly Signature[],
  values: readonly FunctionConstant[],
): Promise<CompiledKernel[]> {
  const backend = backendOf(device);
  const given = values.flatMap(({ index, type, value }) => (value === undefined ? [] : [{ index, type, value }]));
  const sourceOf = ({ name, parameters }: Signature, library: string) => ({
    name,
    text: flat,
    library,
    constants: given,
    parameters: parameters.flatMap((parameter): KernelParameter[] => declared(parameter)),
    check,
  });
  if (backend.kind === 'metal') return Promise.all(signatures.map((each) => backend.compile(sourceOf(each, ''))));
  const { libraryOf } = await loading(import('./cpu/library.ts'));
  const library = await libraryOf(signatures, values, check);
  try {
    return await Promise.all(signatures.map((each) => backendOf(device).compile(sourceOf(each, library.path))));
  } finally {
    await library.done();
  }
}

/** Throws what clang says about address spaces; returns a note if clang is not installed. */
async function checkSpaces(signature: Signature): Promise<string[]> {
  const { spaceErrors } = await loading(import('./cpu/address-spaces.ts'));
  const errors = await spaceErrors(signature);
  if (errors === undefined)
    return ['Address spaces are not checked: that needs clang++ (Debian or Ubuntu: apt-get install clang).'];
  if (errors !== '') throw new CovariumError('ERR_KERNEL_COMPILE', errors);
  return [];
}

/** Throws for a struct that holds pointers: the bytes of an argument have none that the device could follow. */
function requireNoPointers({ name, source, parameters }: Signature): void {
  for (const { kind, type, name: argument, token } of parameters) {
    if (kind === 'place' || kind === 'absent' || kind === 'threadgroup') continue;
    const member = pointerIn(source, type, new Set());
    if (member !== undefined)
      throw errorAt(
        token,
        `Argument (${argument}) of kernel (${name}) is a struct with a pointer (${member}); pass the memory as an argument of its own`,
      );
  }
}

/** The name of a member that is a pointer, a reference or a texture, in a struct or in its structs. */
function pointerIn(source: Source, type: string, seen: Set<string>): string | undefined {
  for (const word of type.match(/\w+/g) ?? []) {
    if (seen.has(word)) continue;
    seen.add(word);
    for (const { kind, body } of source.named(word)) {
      if (kind !== 'type' || body === undefined) continue;
      let first = body[0] + 1;
      for (let at = first; at < body[1]; at++) {
        if (source.text(at) === '{') {
          // A function's body ends its declaration.
          if (source.text(at - 1) === ')' || source.text(at - 1) === 'const') first = source.close[at]! + 1;
          at = source.close[at]!;
        } else if (source.text(at) === '(' || source.text(at) === '[') at = source.close[at]!;
        else if (source.text(at) === ';') {
          const words = source.tokens.slice(first, at).map(({ text }) => text);
          first = at + 1;
          if (words.includes('(') || words[0] === 'using' || words[0] === 'typedef' || words.includes('static')) continue;
          if (words.includes('*') || words.includes('&') || words.some((each) => /^(?:texture|depth)\d/.test(each)))
            return words.findLast((each) => /^[A-Za-z_]\w*$/.test(each));
          const inner = pointerIn(source, words.join(' '), seen);
          if (inner !== undefined) return inner;
        }
      }
    }
  }
  return undefined;
}

function declared({ kind, name, index, layout }: Parameter): KernelParameter[] {
  if (kind === 'place' || kind === 'absent') return [];
  const members = (layout?.members ?? []).map(({ name: member, offsetBytes }) => ({ name: member, offsetBytes }));
  return [{ kind, name, index, sizeBytes: layout?.sizeBytes ?? 0, members }];
}

function requireIndices({ name, parameters }: Signature): void {
  const buffers = parameters.filter(({ kind }) => kind !== 'place' && kind !== 'absent' && kind !== 'threadgroup');
  const memory = parameters.filter(({ kind }) => kind === 'threadgroup');
  for (const table of [buffers, memory])
    table.forEach(({ name: argument, index }, i) => {
      if (index >= mostBuffers)
        throw new CovariumError(
          'ERR_OUT_OF_RANGE',
          `Argument (${argument}) of kernel (${name}) has index (${index}), beyond (${mostBuffers - 1}).`,
        );
      const other = table.findIndex((each) => each.index === index);
      if (other !== i)
        throw new CovariumError(
          'ERR_INVALID_ARGUMENT',
          `Arguments (${table[other]!.name}) and (${argument}) of kernel (${name}) have the same index (${index}).`,
        );
    });
}

/**
 * Throws if the compiler's layout of a struct differs from the one read from the text: its fields would get each
 * other's bytes.
 */
function requireLayouts(kernel: string, parameters: readonly Parameter[], compiled: CompiledKernel): void {
  parameters.forEach(({ name, type, layout }, i) => {
    const { sizeBytes, members } = compiled.parameters[i]!;
    if (layout === undefined || sizeBytes === 0) return;
    const shown = (bytes: number, fields: readonly { name: string; offsetBytes: number }[]) =>
      `${bytes} bytes${fields.length > 0 ? `: ${fields.map((field) => `${field.name} at ${field.offsetBytes}`).join(', ')}` : ''}`;
    const expected = members.length === 0 ? [] : (layout.members ?? []);
    const ours = shown(layout.sizeBytes, expected);
    const theirs = shown(sizeBytes, members);
    if (ours !== theirs)
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Argument (${name}) of kernel (${kernel}) has layout (${theirs}) in the compiler, but (${ours}) as read from the text: pass a layout for type (${type}).`,
      );
  });
}
