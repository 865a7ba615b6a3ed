import { backendOf, type OpenBackend } from '../backend-handle.ts';
import { checkOptions, describe, quoted, requireBoolean, wrongArgument } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { compileKernel } from '../kernel/compile.ts';
import { Source } from '../kernel/declarations.ts';
import { kernelParts } from '../kernel/kernel.ts';
import { preprocess } from '../kernel/preprocess.ts';
import { signatureOf } from '../kernel/signature.ts';
import { ComputeKernel } from './compute-kernel.ts';
import type { ComputeFunction, ComputeOptions, Uses } from './compute-options.ts';
import type { Descriptor } from './descriptor.ts';
import { type Parsed, parsed } from './parse.ts';
import { javaScriptText } from './print-javascript.ts';
import { lengthsOf, metalText } from './print-metal.ts';
import { programOf } from './program.ts';
import { javaScriptKernel } from './run-javascript.ts';
import { isName } from './source-text.ts';
import type { Program } from './tree.ts';

/** Compiles a kernel written in TypeScript; see `Device.compute`. */
export async function compileCompute<const D extends Descriptor>(
  device: OpenBackend,
  descriptor: D,
  text: ComputeFunction<D>,
  options: ComputeOptions,
): Promise<ComputeKernel<D>> {
  checkOptions(options, ['name', 'uses', 'check']);
  const name = nameFor(options.name, text, 'unnamed');
  return compileParsed(device, descriptor, parsed(name, text), { ...options, name });
}

/** The name of a kernel in messages: the option, the function's own, or `other`. Throws `ERR_INVALID_ARGUMENT`. */
export function nameFor(asked: unknown, text: unknown, other: string): string {
  const own: unknown = typeof text === 'function' ? text.name : undefined;
  const name = asked ?? (typeof own === 'string' && isName(own) ? own : other);
  if (typeof name === 'string' && isName(name) && name.length <= 100) return name;
  throw wrongArgument('`name`', name, 'an identifier of up to 100 characters');
}

/** {@link compileCompute} of a text that is parsed, and may call `functions` that are. */
export async function compileParsed<D extends Descriptor>(
  device: OpenBackend,
  descriptor: D,
  text: Parsed,
  options: ComputeOptions & { readonly name: string; readonly functions?: ReadonlyMap<string, Parsed> },
): Promise<ComputeKernel<D>> {
  const { name, uses = {}, check = false, functions = new Map<string, Parsed>() } = options;
  requireBoolean('check', check);
  const backend = backendOf(device);
  requireDescriptor(device, descriptor);
  requireUses(uses);
  if (check && backend.kind === 'metal')
    throw new CovariumError(
      'ERR_UNSUPPORTED',
      'The device metal checks no kernels (metal): open cpu or reference for check mode.',
    );
  const program = programOf(name, descriptor, text, uses, functions);
  refuseDouble(device, program);
  const texts = { source: metalText(program, false), javaScript: javaScriptText(program, check) };
  const lengths = lengthNames(program);
  const notes = program.debugLines.map(
    (line) => `Line ${line} (console.log or debugger) is obeyed by the reference device alone.`,
  );
  if (backend.kind === 'reference') {
    const parameters = signatureOf(
      new Source(preprocess(texts.source, `${name}.metal`, {}).tokens),
      program.name,
    ).parameters.filter(({ kind }) => kind !== 'place');
    const compiled = javaScriptKernel(program, texts.javaScript);
    return new ComputeKernel(device, { name, parameters, compiled, notes: [] }, texts, descriptor, lengths);
  }
  const source = check ? metalText(program, true) : texts.source;
  const kernel = await compileKernel(device, source, { name: program.name, check, path: `${name}.metal` }, true);
  const parts = { name, ...kernelParts(kernel), notes: [...kernel.notes, ...notes] };
  return new ComputeKernel(device, parts, texts, descriptor, lengths);
}

function lengthNames(program: Program): string[] {
  const asked = new Set(lengthsOf(program));
  return program.parameters.flatMap(({ given, inside }) =>
    inside.kind === 'numbers' && asked.has(inside) ? [given] : [],
  );
}

function requireDescriptor(device: OpenBackend, descriptor: Descriptor): void {
  if (typeof descriptor !== 'object' || descriptor === null)
    throw wrongArgument('`descriptor`', descriptor, 'an object of types by name');
  for (const [name, type] of Object.entries(descriptor)) {
    if (!/^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(name))
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Name of an argument is not an identifier (${describe(name)}): write letters, digits and _ alone.`,
      );
    const known: readonly unknown[] = ['f32', 'f64', 'i32', 'u32', 'u8'];
    const isScalar = typeof type === 'function' && known.includes(type.scalar);
    if (isScalar && type.scalar === 'u8')
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Argument (${name}) is a byte (u8): bytes are elements of arrays alone.`,
      );
    if (!isScalar && !(typeof type === 'object' && type !== null && 'element' in type && known.includes(type.element)))
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Argument (${name}) has no type (${quoted(type)}): pass f32, f64, i32 or u32, or input(...) or output(...) of one.`,
      );
    const { scalar, element = scalar } = type as { readonly scalar?: string; readonly element?: string };
    if (element === 'f64') requireDouble(device, `Argument (${name})`);
  }
}

function requireDouble(device: OpenBackend, what: string): void {
  if (!device.dtypes.includes('float64'))
    throw new CovariumError('ERR_UNSUPPORTED_DTYPE', `${what} is of f64, which device (${device.kind}) does not have.`);
}

// A type that the text names, in f64(x) or shared(f64, 8), is printed.
function refuseDouble(device: OpenBackend, program: Program): void {
  if (!device.dtypes.includes('float64') && /\bdouble\b/.test(metalText(program, false)))
    requireDouble(device, `A number of kernel (${program.path})`);
}

function requireUses(uses: Uses): void {
  if (typeof uses !== 'object' || uses === null)
    throw wrongArgument('`uses`', uses, 'an object of functions and numbers by name');
  for (const [name, value] of Object.entries(uses))
    if (typeof value !== 'function' && typeof value !== 'number')
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `\`uses.${describe(name)}\` is (${quoted(value)}): pass a function or a number.`,
      );
}
