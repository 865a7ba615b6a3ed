import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { headersFolder } from '../../addon/file.ts';
import { CovariumError } from '../../covarium-error.ts';
import type { Signature } from '../signature.ts';
import { type CachedLibrary, cached, digestOf } from './cache.ts';
import { findCompiler, flagsOf, runProgram } from './compiler.ts';
import { placeAttributes, translationUnit } from './translation-unit.ts';

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
 * A shared library with one kernel, for the cpu device. Throws `ERR_NO_COMPILER`, `ERR_UNSUPPORTED`, and
 * `ERR_KERNEL_COMPILE` with the compiler's output.
 */
export async function libraryOf(text: string, signature: Signature, check: boolean): Promise<CachedLibrary> {
  for (const { kind, attribute, name } of signature.parameters)
    if (kind === 'place' && !placeAttributes.includes(attribute))
      throw new CovariumError(
        'ERR_UNSUPPORTED',
        `Argument (${name}) has an attribute (${attribute}) that the cpu device does not support; pass one of (${placeAttributes.join(', ')}).`,
      );
  const compiler = await findCompiler();
  const flags = flagsOf(compiler, check);
  const unit = translationUnit(text, signature, check);
  const folder = join(headersFolder(), 'cpu');
  // A library for this processor must not be loaded by another that shares the folder.
  const processor = `${process.arch} ${cpus()[0]?.model ?? ''}`;
  const key = digestOf(unit, headersOf(folder), flags.join(' '), compiler.path, compiler.version, processor);
  return cached(key, async (path) => {
    const ended = await runProgram(compiler.path, [...flags, '-I', folder, '-o', path, '-'], unit);
    if (ended?.code === 0 && existsSync(path)) return;
    if (ended?.timedOut === true)
      throw new CovariumError(
        'ERR_KERNEL_COMPILE',
        `Compiler (${compiler.path}) did not finish in time; it was stopped.`,
      );
    throw new CovariumError(
      'ERR_KERNEL_COMPILE',
      ended?.stderr.trim() || `Compiler (${compiler.path}) ended (${ended?.code}) without a library.`,
    );
  });
}
