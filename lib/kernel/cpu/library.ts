import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { headersFolder } from '../../addon/file.ts';
import { CovariumError } from '../../covarium-error.ts';
import type { FunctionConstant } from '../constants.ts';
import type { Source } from '../declarations.ts';
import type { Signature } from '../signature.ts';
import { type CachedLibrary, cached, cacheKey } from './cache.ts';
import { findCompiler, flagsOf, link, runProgram } from './compiler.ts';
import { translationUnit } from './translation-unit.ts';

let headers: string | undefined;

/** The headers of a library, as text for its key: other headers make another library. */
function headersOf(folder: string): string {
  headers ??= ['.', 'library']
    .flatMap((room) =>
      readdirSync(join(folder, room))
        .filter((name) => name.endsWith('.h'))
        .sort()
        .map((name) => `${name}\n${readFileSync(join(folder, room, name), 'utf8')}`),
    )
    .join('\n');
  return headers;
}

/**
 * A shared library with some kernels of a text, for the cpu device. Throws `ERR_NO_COMPILER`, `ERR_UNSUPPORTED`, and
 * `ERR_KERNEL_COMPILE` with the compiler's output.
 */
export async function libraryOf(
  kernels: readonly Signature[],
  constants: readonly FunctionConstant[],
  check: boolean,
): Promise<CachedLibrary> {
  const unit = translationUnit(kernels, constants, check);
  const compiler = await findCompiler();
  const flags = flagsOf(compiler, check);
  const folder = join(headersFolder(), 'cpu');
  // A library for this processor must not be loaded by another that shares the folder.
  const processor = `${process.arch} ${cpus()[0]?.model ?? ''}`;
  const key = cacheKey(unit, headersOf(folder), flags.join(' '), compiler.path, compiler.version, processor);
  return cached(key, async (path) => {
    const object = `${path}.object.draft`;
    const compile = async (text: string) => {
      const ended = await runProgram(compiler.path, [...flags, '-c', '-I', folder, '-o', object, '-'], text);
      return ended?.code === 0 ? link(compiler, object, path).finally(() => rm(object, { force: true })) : ended;
    };
    let ended = await compile(unit);
    if (ended?.code !== 0 && ended?.timedOut === false) {
      // Loops over a group's threads suppose more of a text than can be seen without a compiler.
      const plain = translationUnit(kernels, constants, check, false);
      if (plain !== unit) ended = await compile(plain);
    }
    if (ended?.code === 0 && existsSync(path)) return;
    if (ended?.timedOut === true)
      throw new CovariumError(
        'ERR_KERNEL_COMPILE',
        `Compiler (${compiler.path}) did not finish in time; it was stopped.`,
      );
    const output = ended?.stderr.trim() ?? '';
    throw (
      undefinedFunction(output, kernels[0]!.source) ??
      new CovariumError(
        'ERR_KERNEL_COMPILE',
        output || `Compiler (${compiler.path}) ended (${ended?.code}) without a library.`,
      )
    );
  });
}

/** An error at the first call of a function that is not defined: a linker names no line, a compiler the declaration. */
function undefinedFunction(output: string, source: Source): CovariumError | undefined {
  const [, name] =
    /function '(?:\(anonymous namespace\)::)?(?:\w+::)*(\w+)[^']*' has internal linkage but is not defined/.exec(
      output,
    ) ??
    /'[^']*?(?:\w+::)*(\w+)\([^']*' used but never defined/.exec(output) ??
    /undefined reference to [`'"](?:\(anonymous namespace\)::|covarium::)?(?:\w+::)*(\w+)/.exec(output) ??
    /Undefined symbols[^\n]*\n\s*"(?:\(anonymous namespace\)::)?(?:\w+::)*(\w+)/.exec(output) ??
    [];
  if (name === undefined) return undefined;
  const declared = source.named(name);
  const isCall = (i: number) => !declared.some(({ begin, end }) => i >= begin && i < end);
  const token = source.tokens.find(({ text }, i) => text === name && isCall(i));
  if (token === undefined) return undefined;
  const { path, line, column } = token;
  return new CovariumError(
    'ERR_KERNEL_COMPILE',
    `${path}:${line}:${column}: error: function '${name}' is declared and called, but not defined`,
  );
}
