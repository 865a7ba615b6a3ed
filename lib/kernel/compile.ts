import type { CompiledKernel, KernelParameter } from '../backend.ts';
import { backendOf, type OpenBackend } from '../backend-handle.ts';
import { checkOptions, requireBoolean, wrongArgument } from '../check.ts';
import { CovariumError, fromNative, loading } from '../covarium-error.ts';
import { type ConstantValues, constantHolds, constantsOf, type FunctionConstant } from './constants.ts';
import type { CachedLibrary } from './cpu/cache.ts';
import { Source } from './declarations.ts';
import { compileError } from './diagnostics.ts';
import { type GivenLayouts, withLayouts } from './given-layouts.ts';
import { Kernel } from './kernel.ts';
import { type Parameter, tableOf } from './parameter.ts';
import { preprocess } from './preprocess.ts';
import { kernelNames, type Signature, signatureOf } from './signature.ts';
import { requireNoPointers } from './struct-pointers.ts';
import { requireClosedBraces } from './tokens.ts';

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
   * `Kernel.notes`). Slow. On `cuda` the CPU beside the GPU then runs it, as `notes` says. Throws `ERR_UNSUPPORTED` on
   * `metal`.
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

/** Compiles a kernel for a device; see `Device.kernel`. With `hasDouble` its text may have `double`, unlike MSL. */
export async function compileKernel(
  device: OpenBackend,
  source: string,
  options: KernelOptions,
  hasDouble = false,
): Promise<Kernel> {
  checkOptions(options, ['name', 'constants', 'includes', 'path', 'check', 'layouts']);
  const { name } = options;
  if (name !== undefined && (typeof name !== 'string' || !/^[A-Za-z_][\w.:-]*$/.test(name)))
    throw wrongArgument('`name`', name, 'the name of a kernel of the text');
  const text = textOf(device, source, options);
  return (await compiledKernels(device, { ...text, hasDouble }, [name]))[0]!;
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
  readonly hasDouble?: boolean | undefined;
  /** The user's texts, by name. */
  readonly texts: ReadonlyMap<string, string>;
}

function textOf(device: OpenBackend, source: string, options: LibraryOptions): KernelText {
  const { constants = {}, includes = {}, path = 'kernel.metal', check = false, layouts = {} } = options;
  const backend = backendOf(device);
  for (const [argument, given] of Object.entries({ source, path }))
    if (typeof given !== 'string') throw wrongArgument(argument, given, 'a string');
  requireBoolean('check', check);
  for (const [option, given] of Object.entries({ constants, includes, layouts }))
    if (typeof given !== 'object' || given === null) throw wrongArgument(option, given, 'an object by name');
  if (backend.kind === 'reference')
    throw new CovariumError(
      'ERR_UNSUPPORTED',
      'The reference device does not run kernels (reference): open metal or cpu.',
    );
  if (check && backend.kind === 'metal')
    throw new CovariumError('ERR_UNSUPPORTED', 'The device metal checks no kernels (metal): open cpu for check mode.');
  const { tokens, flat } = preprocess(source, path, includes);
  const texts = new Map([...Object.entries(includes), [path, source]]);
  const read = new Source(tokens);
  requireClosedBraces(tokens);
  return { source: read, flat, constants, layouts, check, texts };
}

async function compiledKernels(
  device: OpenBackend,
  text: KernelText,
  names: readonly (string | undefined)[],
): Promise<Kernel[]> {
  const { source, constants, layouts, check, texts, hasDouble } = text;
  const holds = (constant: string) => constantHolds(source, constants, constant);
  const signatures = names.map((name) => ({ ...withLayouts(signatureOf(source, name, holds), layouts), hasDouble }));
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
        const { kernel, notes } = compiled[i]!;
        requireLayouts(signature.name, parameters, kernel);
        if (check) notes.push(...(await checkSpaces(signature)));
        return new Kernel(device, signature.name, parameters, kernel, notes);
      }),
    );
  } catch (thrown) {
    const error = fromNative(thrown);
    if (error.code !== 'ERR_KERNEL_COMPILE' || error.line !== undefined) throw error;
    throw compileError(error.message, signatures.map(({ name }) => name).join(', '), texts);
  }
}

/** A kernel, and what is to be said of it. */
interface Compiled {
  readonly kernel: CompiledKernel;
  readonly notes: string[];
}

async function compiledFor(
  device: OpenBackend,
  { flat, check }: KernelText,
  signatures: readonly Signature[],
  values: readonly FunctionConstant[],
): Promise<Compiled[]> {
  const given = values.flatMap(({ index, type, value }) => (value === undefined ? [] : [{ index, type, value }]));
  const from = async (library: string, isForGpu: boolean, { name, parameters }: Signature) =>
    backendOf(device).compile({
      ...{ name, text: flat, library, isForGpu, constants: given, check },
      parameters: parameters.flatMap((parameter): KernelParameter[] => declared(parameter)),
    });
  const { kind } = backendOf(device);
  if (kind === 'metal')
    return Promise.all(signatures.map(async (each) => ({ kernel: await from('', false, each), notes: [] })));
  const refusals: CovariumError[] = [];
  const compiled = new Map<Signature, Compiled>();
  if (kind === 'cuda' && !check) {
    const { ptxOf } = await loading(import('./cuda/library.ts'));
    for (const each of signatures)
      try {
        const library = await ptxOf(backendOf(device), each, values);
        const kernel = await loaded(library, () => from(library.path, true, each));
        compiled.set(each, { kernel, notes: [] });
      } catch (thrown) {
        const refusal = fromNative(thrown);
        if (!['ERR_KERNEL_COMPILE', 'ERR_NO_COMPILER', 'ERR_UNSUPPORTED'].includes(refusal.code)) throw refusal;
        refusals.push(refusal);
      }
  }
  const rest = signatures.filter((each) => !compiled.has(each));
  if (rest.length > 0) {
    const { libraryOf } = await loading(import('./cpu/library.ts'));
    try {
      const library = await libraryOf(rest, values, check);
      const kernels = await loaded(library, () => Promise.all(rest.map((each) => from(library.path, false, each))));
      rest.forEach((each, i) => {
        const reason = check ? 'Check mode is of the CPU alone.' : refusals[i] && firstLine(refusals[i]);
        const notes = kind === 'cuda' ? [`Runs on the CPU beside the GPU. ${reason}`] : [];
        compiled.set(each, { kernel: kernels[i]!, notes });
      });
    } catch (thrown) {
      // The GPU's compiler knows what is wrong where the CPU has none.
      const error = fromNative(thrown);
      const refusal = refusals.find(({ code }) => code === 'ERR_KERNEL_COMPILE');
      throw error.code === 'ERR_NO_COMPILER' && refusal !== undefined ? refusal : error;
    }
  }
  return signatures.map((each) => compiled.get(each)!);
}

async function loaded<T>(library: CachedLibrary, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } finally {
    await library.done();
  }
}

function firstLine({ message }: CovariumError): string {
  return message.split('\n')[0]!;
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

function declared({ kind, name, index, layout }: Parameter): KernelParameter[] {
  if (kind === 'place' || kind === 'absent') return [];
  const members = (layout?.members ?? []).map(({ name: member, offsetBytes }) => ({ name: member, offsetBytes }));
  return [{ kind, name, index, sizeBytes: layout?.sizeBytes ?? 0, members }];
}

function requireIndices({ name, parameters }: Signature): void {
  const given = parameters.filter(({ kind }) => kind !== 'place' && kind !== 'absent');
  given.forEach((parameter, i) => {
    const { name: argument, index } = parameter;
    const { attribute, most } = tableOf(parameter);
    if (index >= most)
      throw new CovariumError(
        'ERR_OUT_OF_RANGE',
        `Argument (${argument}) of kernel (${name}) has index (${index}), beyond (${most - 1}).`,
      );
    const other = given.findIndex((each) => each.index === index && tableOf(each).attribute === attribute);
    if (other !== i)
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Arguments (${given[other]!.name}) and (${argument}) of kernel (${name}) have the same index (${index}).`,
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
