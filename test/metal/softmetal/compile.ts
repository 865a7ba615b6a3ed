// What the stand-in's newLibraryWithSource: asks of Node: a text of Metal Shading Language on standard input becomes a
// library, by the very step of the cpu device (lib/kernel). Answers by lines of fields with tabs between; ends with
// code 1 and the compiler's own words where the text has a mistake.
//
//   compile.ts kernels, arguments and function constants; the first kernel is compiled, and the text with it compile.ts
//   NAME [CONSTANT=VALUE ...] the path of a library with this kernel
import { readFileSync } from 'node:fs';
import { CovariumError } from '../../../lib/covarium-error.ts';
import { constantsOf, type FunctionConstant, withConstants } from '../../../lib/kernel/constants.ts';
import { libraryOf } from '../../../lib/kernel/cpu/library.ts';
import { signatureOf } from '../../../lib/kernel/signature.ts';
import { codeOf, flatten } from '../../../lib/kernel/source.ts';

const [name, ...given] = process.argv.slice(2);
const source = readFileSync(0, 'utf8');
const say = (...fields: readonly (string | number | boolean)[]) => process.stdout.write(`${fields.join('\t')}\n`);

/** Values of all constants of a text: those that are given, 1 for the rest. */
function valuesOf(text: string): FunctionConstant[] {
  const named = new Map(given.map((pair) => pair.split('=') as [string, string]));
  const declared = [...codeOf(text).matchAll(/(\w+)\s*\[\[\s*function_constant\b/g)].map(([, word]) => word!);
  const missing =
    name === undefined ? declared.filter((each) => !named.has(each)).map((each) => [each, 1] as const) : [];
  return constantsOf(
    text,
    Object.fromEntries([...[...named].map(([key, value]) => [key, Number(value)] as const), ...missing]),
  );
}

async function compiled(text: string, kernel: string, constants: readonly FunctionConstant[]): Promise<void> {
  const filled = withConstants(text, constants);
  const { path } = await libraryOf(filled, signatureOf(filled, kernel), false);
  say('library', kernel, path);
}

async function describe(text: string): Promise<void> {
  const names = [...codeOf(text).matchAll(/\bkernel\s+void\s+(\w+)\s*\(/g)].map(([, word]) => word!);
  const constants = valuesOf(text);
  for (const kernel of names) {
    say('kernel', kernel);
    for (const { kind, name: argument, index } of signatureOf(text, kernel).parameters)
      say('argument', kind, argument, index);
  }
  for (const { name: constant, type, index } of constants) {
    const isAsked = new RegExp(`\\bis_function_constant_defined\\s*\\(\\s*${constant}\\b`).test(text);
    say('constant', constant, type, index, !isAsked);
  }
  if (names.length > 0) await compiled(text, names[0]!, constants);
}

try {
  // Where the text does not say otherwise, Metal calls it so.
  const text = flatten(source, 'program_source', {});
  // Without its header the language has no namespace.
  const use = /^[^\n]*\busing\s+namespace\s+metal\b/m.exec(source);
  if (use !== null && !/^\s*#\s*include\s*<metal_\w+>/m.test(source.slice(0, use.index)))
    throw new CovariumError('ERR_KERNEL_COMPILE', 'program_source:1:1: error: expected namespace name');
  await (name === undefined ? describe(text) : compiled(text, name, valuesOf(text)));
} catch (error) {
  if (!(error instanceof CovariumError)) throw error;
  const [, missing] = /^Text includes \((.*?)\)/.exec(error.message) ?? [];
  const words = error.code === 'ERR_KERNEL_COMPILE' ? error.message : `program_source:1:1: error: ${error.message}`;
  process.stdout.write(
    missing === undefined ? words : `program_source:${error.line}:10: fatal error: '${missing}' file not found\n`,
  );
  process.exitCode = 1;
}
