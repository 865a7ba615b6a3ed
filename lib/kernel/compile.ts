import type { CompiledKernel, KernelParameter } from '../backend.ts';
import { backendOf, type OpenBackend } from '../backend-handle.ts';
import { checkOptions, describe, requireBoolean } from '../check.ts';
import { CovariumError, fromNative, loading } from '../covarium-error.ts';
import { type ConstantValues, constantsOf, type FunctionConstant, withConstants } from './constants.ts';
import type { CachedLibrary } from './cpu/cache.ts';
import { compileError } from './diagnostics.ts';
import { type GivenLayouts, withLayouts } from './given-layouts.ts';
import { Kernel } from './kernel.ts';
import { mostBuffers, type Parameter, type Signature, signatureOf } from './signature.ts';
import { flatten } from './source.ts';

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

/** Compiles a kernel for a device; see `Device.kernel`. */
export async function compileKernel(device: OpenBackend, source: string, options: KernelOptions): Promise<Kernel> {
  checkOptions(options, ['name', 'constants', 'includes', 'path', 'check', 'layouts']);
  const { name, constants = {}, includes = {}, path = 'kernel.metal', check = false, layouts = {} } = options;
  const backend = backendOf(device);
  if (backend.kind === 'reference')
    throw new CovariumError(
      'ERR_UNSUPPORTED',
      'The reference device does not run kernels (reference): open metal or cpu.',
    );
  if (name !== undefined && (typeof name !== 'string' || !/^[A-Za-z_]\w*$/.test(name)))
    throw new CovariumError('ERR_INVALID_ARGUMENT', `Name of a kernel is not an identifier (${describe(name)}).`);
  if (typeof path !== 'string')
    throw new CovariumError('ERR_INVALID_ARGUMENT', `Path of a kernel's text is not a string (${describe(path)}).`);
  requireBoolean('check', check);
  for (const [option, given] of Object.entries({ constants, includes, layouts }))
    if (typeof given !== 'object' || given === null)
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Option (${option}) is not an object of names (${describe(given)}).`,
      );
  if (check && backend.kind !== 'cpu')
    throw new CovariumError('ERR_UNSUPPORTED', `Check mode needs the cpu device, not (${backend.kind}).`);
  const text = flatten(source, path, includes);
  const signature = withLayouts(signatureOf(text, name), layouts);
  requireIndices(signature);
  const values = constantsOf(text, constants);
  const parameters = signature.parameters.filter(({ kind }) => kind !== 'place');
  try {
    const { compiled, notes } = await compiledFor(device, text, signature, values, layouts, check);
    requireLayouts(signature.name, parameters, compiled);
    if (check) notes.push(...(await checkSpaces(text)));
    return new Kernel(device, signature.name, parameters, compiled, notes);
  } catch (thrown) {
    const error = fromNative(thrown);
    if (error.code !== 'ERR_KERNEL_COMPILE') throw error;
    throw compileError(error.message, signature.name, new Map([...Object.entries(includes), [path, source]]));
  }
}

async function compiledFor(
  device: OpenBackend,
  text: string,
  signature: Signature,
  values: readonly FunctionConstant[],
  layouts: GivenLayouts,
  check: boolean,
): Promise<{ compiled: CompiledKernel; notes: string[] }> {
  const backend = backendOf(device);
  const source = {
    name: signature.name,
    constants: values.flatMap(({ index, type, value }) => (value === undefined ? [] : [{ index, type, value }])),
    parameters: signature.parameters.flatMap((parameter): KernelParameter[] => declared(parameter)),
    check,
  };
  if (backend.kind === 'metal')
    return { compiled: await backend.compile({ ...source, text, library: '', isForGpu: false }), notes: [] };
  const filled = withConstants(text, values);
  // The values differ in length from the names that they replace, so the places in the text have moved.
  const moved = withLayouts(signatureOf(filled, signature.name), layouts);
  const from = async (library: CachedLibrary, isForGpu: boolean) => {
    try {
      return await backendOf(device).compile({ ...source, text: filled, library: library.path, isForGpu });
    } finally {
      await library.done();
    }
  };
  const notes: string[] = [];
  let refusal: CovariumError | undefined;
  if (backend.kind === 'cuda') {
    const { ptxOf } = await loading(import('./cuda/library.ts'));
    try {
      return { compiled: await from(await ptxOf(backend, filled, moved), true), notes };
    } catch (thrown) {
      refusal = fromNative(thrown);
      if (!['ERR_KERNEL_COMPILE', 'ERR_NO_COMPILER', 'ERR_UNSUPPORTED'].includes(refusal.code)) throw refusal;
      notes.push(`Runs on the CPU beside the GPU. ${refusal.message.split('\n')[0]}`);
    }
  }
  const { libraryOf } = await loading(import('./cpu/library.ts'));
  try {
    return { compiled: await from(await libraryOf(filled, moved, check), false), notes };
  } catch (thrown) {
    // The GPU's compiler knows what is wrong where the CPU has none.
    const error = fromNative(thrown);
    throw error.code === 'ERR_NO_COMPILER' && refusal?.code === 'ERR_KERNEL_COMPILE' ? refusal : error;
  }
}

/** Throws what clang says about address spaces; returns a note if clang is not installed. */
async function checkSpaces(text: string): Promise<string[]> {
  const { spaceErrors } = await loading(import('./cpu/address-spaces.ts'));
  const errors = await spaceErrors(text);
  if (errors === undefined)
    return ['Address spaces are not checked: that needs clang++ (Debian or Ubuntu: apt-get install clang).'];
  if (errors !== '') throw new CovariumError('ERR_KERNEL_COMPILE', errors);
  return [];
}

function declared({ kind, name, index, layout }: Parameter): KernelParameter[] {
  if (kind === 'place') return [];
  const members = (layout?.members ?? []).map(({ name: member, offsetBytes }) => ({ name: member, offsetBytes }));
  return [{ kind, name, index, sizeBytes: layout?.sizeBytes ?? 0, members }];
}

function requireIndices({ name, parameters }: Signature): void {
  const buffers = parameters.filter(({ kind }) => kind !== 'place' && kind !== 'threadgroup');
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
