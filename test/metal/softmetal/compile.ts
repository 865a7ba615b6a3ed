// Node's part of the stand-in's newLibraryWithSource: it compiles a text of Metal Shading Language from standard
// input to a library, as the cpu device does (lib/kernel). Prints lines of tab-separated fields; if the text has a
// mistake, ends with code 1 and the compiler's message.
//
//   compile.ts                             kernels, arguments and function constants; the first kernel is compiled,
//                                          and the text with it
//   compile.ts NAME [CONSTANT=VALUE ...]   the path of a library with this kernel
import { readFileSync } from 'node:fs';
import { CovariumError } from '../../../lib/covarium-error.ts';
import { constantsOf, type FunctionConstant } from '../../../lib/kernel/constants.ts';
import { libraryOf } from '../../../lib/kernel/cpu/library.ts';
import { Source } from '../../../lib/kernel/declarations.ts';
import { preprocess } from '../../../lib/kernel/preprocess.ts';
import { kernelNames, type Signature, signatureOf } from '../../../lib/kernel/signature.ts';

const [name, ...given] = process.argv.slice(2);
const source = readFileSync(0, 'utf8');
const say = (...fields: readonly (string | number | boolean)[]) => process.stdout.write(`${fields.join('\t')}\n`);

/** The kernels of a text, with its constants: those that are given, 1 for the rest. */
function kernelsOf(text: Source, wanted: readonly string[]): { kernels: Signature[]; constants: FunctionConstant[] } {
  const named = new Map(given.map((pair) => pair.split('=') as [string, string]));
  const declared = text.declarations
    .filter(({ attributes }) => attributes.some(([begin]) => text.text(begin) === 'function_constant'))
    .map(({ nameAt }) => text.text(nameAt));
  const missing =
    name === undefined ? declared.filter((each) => !named.has(each)).map((each) => [each, 1] as const) : [];
  const numberOf = (value: string) => (value.endsWith('n') ? BigInt(value.slice(0, -1)) : Number(value));
  const values = Object.fromEntries([...[...named].map(([key, value]) => [key, numberOf(value)] as const), ...missing]);
  const kernels = wanted.map((each) => signatureOf(text, each, (constant) => Boolean(values[constant] ?? 1)));
  const roots = kernels.flatMap((each) => each.roots);
  return { kernels, constants: constantsOf(text, roots, values) };
}

async function compiled(text: Source, kernel: string): Promise<void> {
  const { kernels, constants } = kernelsOf(text, [kernel]);
  const { path } = await libraryOf(kernels, constants, false);
  say('library', kernel, path);
}

async function describe(text: Source): Promise<void> {
  const names = kernelNames(text);
  const { kernels, constants } = kernelsOf(text, names);
  for (const kernel of kernels) {
    say('kernel', kernel.name);
    for (const { kind, name: argument, index } of kernel.parameters)
      if (kind !== 'absent') say('argument', kind, argument, index);
  }
  for (const { name: constant, type, index } of constants) {
    const isAsked = text.tokens.some(
      (token, at) => token.text === 'is_function_constant_defined' && text.text(at + 2) === constant,
    );
    say('constant', constant, type, index, !isAsked);
  }
  if (names.length > 0) await compiled(text, names[0]!);
}

try {
  // Metal's name for a text without a #line directive.
  const text = new Source(preprocess(source, 'program_source', {}).tokens);
  // Without metal_stdlib, the namespace metal does not exist.
  const use = /^[^\n]*\busing\s+namespace\s+metal\b/m.exec(source);
  if (use !== null && !/^\s*#\s*include\s*<metal_\w+>/m.test(source.slice(0, use.index)))
    throw new CovariumError('ERR_KERNEL_COMPILE', 'program_source:1:1: error: expected namespace name');
  await (name === undefined ? describe(text) : compiled(text, name));
} catch (error) {
  if (!(error instanceof CovariumError)) throw error;
  const [, missing] = /^Text includes \((.*?)\)/.exec(error.message) ?? [];
  const words = error.code === 'ERR_KERNEL_COMPILE' ? error.message : `program_source:1:1: error: ${error.message}`;
  process.stdout.write(
    missing === undefined ? words : `program_source:${error.line}:10: fatal error: '${missing}' file not found\n`,
  );
  process.exitCode = 1;
}
